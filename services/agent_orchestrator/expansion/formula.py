"""The search mode with the fixed formula, which the graph tier computes along explicit relations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from braid.common.v1 import expansion_pb2 as options_pb2
from braid.graph.v1 import expansion_pb2, relations_pb2
from services.agent_orchestrator.expansion.query_aware import (
    ExpansionResult,
    Question,
    ReachedPassage,
    Seed,
)
from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from services.agent_orchestrator.clients.budget import Budget
    from services.agent_orchestrator.clients.relations import GraphRelations

DEFAULT_DEGREE = 20
_MAX_ITEMS = 150
_TYPE = "CHUNK_RELATION_TYPE_"


class Formula:
    """Expands along explicit relations."""

    def __init__(self, relations: GraphRelations) -> None:
        self._relations = relations

    async def expand(
        self,
        question: Question,
        seeds: Sequence[Seed],
        options: options_pb2.ExpansionOptions,
        budget: Budget,
    ) -> ExpansionResult:
        """Returns the seeds and the passages related to them, by the formula's score."""
        scores = {seed.chunk_id: seed.score for seed in seeds}
        asked = expand_request(options, scores, _MAX_ITEMS)
        if question.as_of is not None and not options.HasField("traversal_time"):
            asked.as_of.CopyFrom(question.as_of)
        asked.cache = question.cache
        answer = await self._relations.expand(asked, budget.left())
        return ExpansionResult(
            [_reached(item) for item in answer.items],
            answer.stats.incident_relation_count,
            answer.stats.followed_relation_count,
        )


def check_types(options: options_pb2.ExpansionOptions) -> None:
    """InvalidFieldError for types that relations do not have, whatever will be found."""
    if options.mode == options_pb2.EXPANSION_MODE_FORMULA:
        relation_types(options.relation_types)


def expand_request(
    options: options_pb2.ExpansionOptions, scores: Mapping[str, float], limit: int
) -> expansion_pb2.ExpandRequest:
    """Builds the graph tier's request. Raises InvalidFieldError for an unknown relation type."""
    return expansion_pb2.ExpandRequest(
        seeds=[
            expansion_pb2.ExpansionSeed(chunk_id=id_, score=min(max(score, 0.0), 1.0))
            for id_, score in scores.items()
        ],
        max_hops=options.max_hops if options.HasField("max_hops") else None,
        relation_types=relation_types(options.relation_types),
        expansion_factor=options.factor if options.HasField("factor") else None,
        adaptive_factor=options.factor_mode == options_pb2.EXPANSION_FACTOR_ADAPTIVE,
        min_strength=options.min_strength if options.HasField("min_strength") else None,
        max_degree=options.max_degree if options.HasField("max_degree") else DEFAULT_DEGREE,
        as_of=options.traversal_time if options.HasField("traversal_time") else None,
        limit=limit,
    )


def relation_types(names: Iterable[str]) -> list[relations_pb2.ChunkRelationType.ValueType]:
    """Returns the explicit relations' types by name. Raises InvalidFieldError for an unknown name."""
    values = dict(relations_pb2.ChunkRelationType.items())
    found, wrong = [], []
    for place, name in enumerate(names):
        value = values.get(f"{_TYPE}{name.upper()}")
        if value:
            found.append(value)
        else:
            known = ", ".join(key.removeprefix(_TYPE) for key, one in values.items() if one)
            wrong.append(
                FieldError(f"expansion.relation_types[{place}]", f"must be one of {known}")
            )
    if wrong:
        raise InvalidFieldError(*wrong)
    return list(dict.fromkeys(found))


def _reached(item: expansion_pb2.ExpandedItem) -> ReachedPassage:
    trace = options_pb2.ExpansionTrace(seed_id=item.chunk_id)
    if item.path:
        trace = options_pb2.ExpansionTrace(
            seed_id=item.path[0].from_id,
            depth=item.depth,
            steps=[
                options_pb2.ExpansionStep(
                    relation_type=relations_pb2.ChunkRelationType.Name(
                        step.relation_type
                    ).removeprefix(_TYPE),
                    target_id=step.to_id,
                    weight=step.weight * step.strength,
                )
                for step in item.path
            ],
        )
    return ReachedPassage(item.chunk_id, item.score, item.score, trace)
