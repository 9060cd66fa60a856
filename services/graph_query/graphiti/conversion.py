"""What Graphiti found, in the tier's own words: new facts, supported ones, ended ones, entities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode

from services.graph_query.domain import EntityName, GivenFact, Passage, Scalar
from services.graph_query.extracted import Contradicted, DescribedEntity, Reading, Supported
from services.graph_query.graphiti.known import KnownFact
from services.graph_query.intervals import is_reversed
from services.graph_query.names import clean_name, name_key
from services.graph_query.ontology.domain import Ontology
from services.graph_query.relations import clean_relation
from services.graph_query.reserved import key_refusal
from services.models.vectors import Matrix

_BASE_LABEL = "Entity"
_LONGEST_NAME = 1_000
_LONGEST_RELATION = 200
_LONGEST_TEXT = 8_192
_DEFAULT_RELATION = "RELATES_TO"


@dataclass(frozen=True, slots=True)
class Findings:
    """Graphiti's results, facts as they were before it, a vector for the name of each node, and ends that were read."""

    nodes: Sequence[EntityNode]
    edges: Sequence[EntityEdge]
    before: Mapping[str, KnownFact]
    vectors: Matrix
    stated_ends: frozenset[datetime] = frozenset()


def reading_of(passage: Passage, found: Findings, ontology: Ontology) -> Reading:
    """All that was read in the passage. What no caller could state either is left out."""
    names = {node.uuid: name for node in found.nodes if (name := _name(node)) is not None}
    new = [edge for edge in found.edges if edge.uuid not in found.before]
    facts = [_fact(passage, edge, names, found) for edge in new]
    known = {edge.uuid: edge for edge in found.edges if edge.uuid in found.before}
    return Reading(
        entities=tuple(_entities(found, names)),
        facts=tuple(fact for fact in facts if fact is not None and _fits(fact, ontology)),
        supported=tuple(
            Supported(uuid, _restated(passage, found.before[uuid]))
            for uuid in sorted(_supported(passage, found))
        ),
        contradicted=tuple(
            Contradicted(uuid, _aware(edge.invalid_at))
            for uuid, edge in sorted(known.items())
            if edge.invalid_at is not None and edge.invalid_at != found.before[uuid].invalid_at
        ),
    )


def _supported(passage: Passage, found: Findings) -> set[str]:
    """Facts that were there and that the passage states; the same one may have been found several times."""
    return {
        edge.uuid
        for edge in found.edges
        if edge.uuid in found.before and passage.uuid in edge.episodes
    }


def _entities(found: Findings, names: Mapping[str, EntityName]) -> list[DescribedEntity]:
    return [
        DescribedEntity(
            names[node.uuid],
            (node.summary or "")[:_LONGEST_TEXT],
            _attributes(node.attributes),
            [float(value) for value in vector],
        )
        for node, vector in zip(found.nodes, found.vectors, strict=True)
        if node.uuid in names
    ]


def _fact(
    passage: Passage, edge: EntityEdge, names: Mapping[str, EntityName], found: Findings
) -> GivenFact | None:
    ends = (names.get(edge.source_node_uuid), names.get(edge.target_node_uuid))
    valid_at = None if edge.valid_at is None else _aware(edge.valid_at)
    invalid_at = None if edge.invalid_at is None else _aware(edge.invalid_at)
    statement = clean_name(edge.fact)[:_LONGEST_TEXT]
    if ends[0] is None or ends[1] is None or not statement or is_reversed(valid_at, invalid_at):
        return None
    causes = _superseding(edge, found)
    return GivenFact(
        subject=ends[0],
        relation=clean_relation(edge.name)[:_LONGEST_RELATION] or _DEFAULT_RELATION,
        object=ends[1],
        fact=statement,
        valid_at=valid_at,
        invalid_at=None if causes else invalid_at,
        attributes=_attributes(edge.attributes),
        embedding=tuple(edge.fact_embedding or ()),
        episode_id=passage.uuid,
        ended_by=tuple((cause, invalid_at) for cause in causes if invalid_at is not None),
    )


def _superseding(edge: EntityEdge, found: Findings) -> list[str]:
    """Episodes of the known facts that begin where Graphiti lets a new one end; none when the text itself says when.

    Facts at one of its own entities come before all others; one that no episode states has ended it for good.
    """
    end = None if edge.invalid_at is None else _aware(edge.invalid_at)
    if end is None or end in found.stated_ends:
        return []
    later = [known for known in found.before.values() if known.valid_at == end]
    ends = {edge.source_node_uuid, edge.target_node_uuid}
    near = [known for known in later if ends & {known.source, known.target}] or later
    if not all(known.episodes for known in near):
        return []
    return sorted({episode for known in near for episode in known.episodes})


def _restated(passage: Passage, known: KnownFact) -> GivenFact:
    """A known fact as the passage's own, in case that what else claims it goes meanwhile."""
    return GivenFact(
        subject=EntityName(*known.source_name),
        relation=known.relation,
        object=EntityName(*known.target_name),
        fact=known.fact,
        valid_at=known.valid_at,
        invalid_at=known.invalid_at,
        attributes=known.attributes,
        episode_id=passage.uuid,
    )


def _fits(fact: GivenFact, ontology: Ontology) -> bool:
    return ontology.misfit(fact.relation, fact.subject.type, fact.object.type) is None


def _name(node: EntityNode) -> EntityName | None:
    name = clean_name(node.name)
    if not name_key(name) or len(name) > _LONGEST_NAME:
        return None
    return EntityName(name, next((one for one in sorted(node.labels) if one != _BASE_LABEL), ""))


def _attributes(told: Mapping[str, Any]) -> dict[str, Scalar]:
    return {
        key: value for key, value in told.items() if key_refusal(key) is None and _is_scalar(value)
    }


def _is_scalar(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | bool | int)


def _aware(value: datetime) -> datetime:
    """Naive times are UTC."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
