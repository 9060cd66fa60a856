"""The query-aware expansion: finds a question's neighborhood in the graph and ranks the passages reached in it.

Four steps: entities that the question names (looked up while the search runs), the mentions around them and the best
hits, the exact relevance of each passage there, and the propagation. The neighborhood is bounded, so that the cost
does not grow with the corpus. Raises the errors of the tiers' calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from braid.common.v1 import expansion_pb2
from braid.graph.v1 import entities_pb2, structure_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.agent_orchestrator.expansion.propagation import (
    MAX_MENTIONS,
    STATED,
    Entity,
    Mention,
    Neighborhood,
    Passage,
    Propagation,
)
from services.models.embedding.relevance import unbend

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp

    from braid.common.v1 import retrieval_pb2
    from services.agent_orchestrator.clients.budget import Budget
    from services.agent_orchestrator.clients.tiers import GraphTier, VectorTier

SEEDS = 20
# More passages do not improve any question; most have 150 to 350.
MAX_PASSAGES = 500
# Passages about one entity that are scored; the ten most relevant of them take part.
MAX_ABOUT = 40
MAX_LINKED = 20
_HOP_SEEDS = 20
_MENTIONS = "MENTIONS"
# The relation of a fact that a passage states about an entity, by their indices.
Relations: TypeAlias = dict[tuple[int, int], str]


@dataclass(frozen=True, slots=True)
class Question:
    """The question, and how passages are scored against it."""

    text: str
    vector: retrieval_pb2.QueryEmbedding | None
    text_weight: float
    cache: retrieval_pb2.CacheMode.ValueType
    as_of: Timestamp | None


@dataclass(frozen=True, slots=True)
class Seed:
    """A passage of the unexpanded list with its score."""

    chunk_id: str
    score: float


@dataclass(frozen=True, slots=True)
class ReachedPassage:
    """A passage in its position: the mode's value, its own score, and the path that led to it."""

    chunk_id: str
    value: float
    score: float
    trace: expansion_pb2.ExpansionTrace | None


@dataclass(frozen=True, slots=True)
class ExpansionResult:
    """The passages that an expansion reached, best first, and how much of the graph it used.

    `incident` counts the relations of the seeds, `followed` those that were followed.
    """

    passages: Sequence[ReachedPassage] = ()
    incident: int = 0
    followed: int = 0


@dataclass(slots=True)
class _Scores:
    """Scores by chunk, of chunks valid at the requested time."""

    score: dict[str, float] = field(default_factory=dict)
    similarity: dict[str, float] = field(default_factory=dict)

    def add(self, scores: Iterable[vector_pb2.ChunkScore]) -> None:
        for one in scores:
            if one.in_force:
                self.score[one.chunk_id] = one.score
                if one.scores.HasField("vector"):
                    self.similarity[one.chunk_id] = max(one.scores.vector, 0.0)


class QueryAware:
    """Expands with both tiers."""

    def __init__(self, vector: VectorTier, graph: GraphTier) -> None:
        self._vector = vector
        self._graph = graph

    async def link(self, text: str, seconds: float) -> Sequence[str]:
        """Returns the ids of the entities that a question names."""
        request = entities_pb2.LinkEntitiesRequest(text=text, limit=MAX_LINKED)
        answer = await self._graph.link_entities(request, seconds)
        return [one.entity.id for one in answer.entities]

    async def expand(
        self,
        question: Question,
        seeds: Sequence[Seed],
        asked: Sequence[str],
        options: expansion_pb2.ExpansionOptions,
        budget: Budget,
    ) -> ExpansionResult:
        """Returns the passages reached from the seeds and the question's entities, best first, including the seeds."""
        max_mentions = options.max_degree if options.HasField("max_degree") else MAX_MENTIONS
        begun = [seed.chunk_id for seed in seeds[:SEEDS]]
        scores = _Scores()
        hops = options.max_hops if options.HasField("max_hops") else 1
        timed = options.HasField("traversal_time")
        followed_at = options.traversal_time if timed else question.as_of
        while True:
            found = await self._graph.mention_subgraph(
                structure_pb2.GetMentionSubgraphRequest(
                    chunk_ids=begun,
                    entity_ids=asked,
                    max_mentions=max_mentions,
                    max_about=MAX_ABOUT,
                    max_episodes=MAX_PASSAGES,
                    without_details=True,
                    as_of=followed_at,
                ),
                budget.left(),
            )
            wanted = dict.fromkeys([*begun, *(one.chunk_id for one in found.episodes)])
            await self._score(
                question, [one for one in wanted if one not in scores.score], scores, budget
            )
            around, relations = _neighborhood(found, seeds, scores, frozenset(asked), options)
            walk = await asyncio.to_thread(Propagation, around, max_mentions)
            hops -= 1
            if hops <= 0:
                break
            begun = _next_begun(begun, around, walk)
        evidence = options.mode != expansion_pb2.EXPANSION_MODE_PAGERANK
        return await asyncio.to_thread(
            _reach, around, walk, scores.score, relations, evidence=evidence
        )

    async def _score(
        self, question: Question, chunk_ids: Sequence[str], into: _Scores, budget: Budget
    ) -> None:
        if not chunk_ids:
            return
        answer = await self._vector.score_chunks(
            score_request(question, chunk_ids, include_chunks=False), budget.left()
        )
        into.add(answer.scores)


def score_request(
    question: Question, chunk_ids: Sequence[str], *, include_chunks: bool
) -> vector_pb2.ScoreChunksRequest:
    """Returns the request to score chunks against a question."""
    return vector_pb2.ScoreChunksRequest(
        query=question.text,
        chunk_ids=chunk_ids,
        query_embedding=question.vector,
        cache=question.cache,
        text_weight=question.text_weight,
        include_chunks=include_chunks,
        as_of=question.as_of,
    )


def _neighborhood(
    found: structure_pb2.GetMentionSubgraphResponse,
    seeds: Sequence[Seed],
    scores: _Scores,
    asked: frozenset[str],
    options: expansion_pb2.ExpansionOptions,
) -> tuple[Neighborhood, Relations]:
    """Builds the neighborhood: scored passages, and the seeds with their own scores, which may include fact support."""
    own = {seed.chunk_id: seed.score for seed in seeds}
    listed = dict.fromkeys([*own, *(one.chunk_id for one in found.episodes)])
    kept = [one for one in listed if one in own or one in scores.score]
    place = {chunk_id: number for number, chunk_id in enumerate(kept)}
    passages = [
        Passage(one, unbend(score), scores.similarity.get(one, score))
        for one in kept
        for score in (own.get(one, scores.score.get(one, 0.0)),)
    ]
    entities = [
        Entity(one.id, one.name, one.mention_count, one.titled, one.id in asked)
        for one in found.entities
    ]
    chunks = [place.get(one.chunk_id) for one in found.episodes]
    mentions, relations = _edges(found, chunks, options)
    begun = [place[seed.chunk_id] for seed in seeds[:SEEDS]]
    return Neighborhood(passages, entities, mentions, begun), relations


def _edges(
    found: structure_pb2.GetMentionSubgraphResponse,
    chunks: Sequence[int | None],
    options: expansion_pb2.ExpansionOptions,
) -> tuple[list[Mention], Relations]:
    """Returns mentions and stated facts of the followed types; if a pair has both, the mention is used."""
    wanted = {one.upper() for one in options.relation_types}
    edges: dict[tuple[int, int], int] = {
        (at, one.entity): int(one.kind)
        for one in found.mentions
        if (at := chunks[one.episode]) is not None and (not wanted or _MENTIONS in wanted)
    }
    relations: Relations = {}
    for one in found.statements:
        at = chunks[one.episode]
        if at is not None and (not wanted or one.relation_type.upper() in wanted):
            edges.setdefault((at, one.entity), STATED)
            relations.setdefault((at, one.entity), one.relation_type)
    return [Mention(at, entity, kind) for (at, entity), kind in edges.items()], relations


def _next_begun(begun: Sequence[str], around: Neighborhood, walk: Propagation) -> list[str]:
    best = [around.passages[one.passage].id for one in walk.ordered(evidence=False)]
    fresh = [one for one in best if one not in begun]
    return [*begun, *fresh[:_HOP_SEEDS]]


def _reach(
    around: Neighborhood,
    walk: Propagation,
    scores: Mapping[str, float],
    relations: Relations,
    *,
    evidence: bool,
) -> ExpansionResult:
    ordered = walk.ordered(evidence=evidence)
    incident, followed = walk.followed(around.seeds)
    reached = [
        ReachedPassage(
            passage.id,
            one.value,
            scores.get(passage.id, 0.0),
            _trace(around, walk, relations, one.passage),
        )
        for one in ordered
        for passage in (around.passages[one.passage],)
    ]
    return ExpansionResult(reached, incident, followed)


def _trace(
    around: Neighborhood, walk: Propagation, relations: Relations, passage: int
) -> expansion_pb2.ExpansionTrace | None:
    """Returns the strongest path to a passage; for a seed itself only its own id."""
    if passage in around.seeds:
        return expansion_pb2.ExpansionTrace(seed_id=around.passages[passage].id)
    way = walk.way(passage)
    if not way.hops:
        return None
    seed = around.passages[way.seed].id if way.seed is not None else ""
    entity = around.entities[way.entity].name if way.entity is not None else ""
    return expansion_pb2.ExpansionTrace(
        seed_id=seed,
        seed_entity=entity,
        depth=len(way.hops),
        steps=[
            expansion_pb2.ExpansionStep(
                relation_type=relations.get((before, hop.entity))
                or relations.get((hop.passage, hop.entity), _MENTIONS),
                entity=around.entities[hop.entity].name,
                target_id=around.passages[hop.passage].id,
                weight=hop.weight,
            )
            for before, hop in zip(
                (-1 if way.seed is None else way.seed, *(hop.passage for hop in way.hops)),
                way.hops,
                strict=False,
            )
        ],
    )
