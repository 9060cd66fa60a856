"""Converts the ontology to Graphiti's types, and Graphiti's results to domain types."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple

from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode
from pydantic import BaseModel, Field, ValidationError, WrapValidator, create_model

from services.graph_query.core.domain import DescribedEntity, EntityName, GivenFact, Passage, Scalar
from services.graph_query.core.intervals import is_reversed
from services.graph_query.core.names import clean_name, clean_relation, key_refusal, name_key
from services.graph_query.episodes.extraction_result import (
    Contradicted,
    ExtractionResult,
    Supported,
)
from services.graph_query.llm_extraction.graph_reader import KnownFact
from services.graph_query.ontology.domain import AttributeKind, AttributeType, Ontology
from services.models.embedding.vectors import Matrix

_KINDS: dict[AttributeKind, type] = {
    AttributeKind.STRING: str,
    AttributeKind.INTEGER: int,
    AttributeKind.NUMBER: float,
    AttributeKind.BOOLEAN: bool,
}


_ANY = "Entity"


_NO_SCHEMA_NAME = re.compile(r"[^A-Za-z0-9_]")


class DeclaredTypes(NamedTuple):
    """The arguments of `add_episode`; None where nothing is declared."""

    entity_types: dict[str, type[BaseModel]] | None
    edge_types: dict[str, type[BaseModel]] | None
    edge_type_map: dict[tuple[str, str], list[str]] | None
    instructions: str | None


def declared_types(ontology: Ontology) -> DeclaredTypes:
    """Converts the ontology to Graphiti's arguments."""
    entities = {
        one.name: _class(one.name, one.description, one.attributes) for one in ontology.entity_types
    }
    edges = {
        one.name: _class(one.name, one.description, one.attributes)
        for one in ontology.relation_types
    }
    return DeclaredTypes(
        entities or None, edges or None, _map(ontology), ontology.instructions or None
    )


def _map(ontology: Ontology) -> dict[tuple[str, str], list[str]] | None:
    """Maps pairs of types to the relations that may join them; Graphiti treats each end as an `Entity` too."""
    found: dict[tuple[str, str], list[str]] = {}
    for relation in ontology.relation_types:
        for ends in relation.endpoints or (("", ""),):
            pair = (ends[0] or _ANY, ends[1] or _ANY)
            found.setdefault(pair, []).append(relation.name)
    return found or None


def _class(name: str, description: str, attributes: Iterable[AttributeType]) -> type[BaseModel]:
    fields: dict[str, Any] = {
        one.name: (
            Annotated[_KINDS[one.kind] | None, WrapValidator(_or_nothing)],
            Field(default=None, description=one.description or None),
        )
        for one in attributes
    }
    # Providers accept only letters, digits and underscores in a schema's name; relations' names may contain more.
    return create_model(_NO_SCHEMA_NAME.sub("_", name), __doc__=description or name, **fields)


def _or_nothing(value: Any, handler: Any) -> Any:
    """A value of the wrong type becomes None: one invalid attribute must not fail the whole episode."""
    try:
        return handler(value)
    except ValidationError:
        return None


_BASE_LABEL = "Entity"


_LONGEST_NAME = 1_000


_LONGEST_RELATION = 200


_LONGEST_TEXT = 8_192


_DEFAULT_RELATION = "RELATES_TO"


@dataclass(frozen=True, slots=True)
class Findings:
    """Graphiti's results, the state of facts before it ran, a vector for each node's name, and the stated ends."""

    nodes: Sequence[EntityNode]
    edges: Sequence[EntityEdge]
    before: Mapping[str, KnownFact]
    vectors: Matrix
    stated_ends: frozenset[datetime] = frozenset()


def reading_of(passage: Passage, found: Findings, ontology: Ontology) -> ExtractionResult:
    """Converts everything extracted from the passage, without what a caller could not state either."""
    names = {node.uuid: name for node in found.nodes if (name := _name(node)) is not None}
    new = [edge for edge in found.edges if edge.uuid not in found.before]
    facts = [_fact(passage, edge, names, found) for edge in new]
    known = {edge.uuid: edge for edge in found.edges if edge.uuid in found.before}
    return ExtractionResult(
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
    """Returns existing facts that the passage states; Graphiti may have found the same one several times."""
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
    """Returns episodes of known facts that begin where Graphiti ends a new one; none if the text states the end.

    Facts that share an entity with the new one take precedence. A fact that no episode states ends the new one for
    good.
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
    """Restates a known fact for the passage, in case its other claims are deleted concurrently."""
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


def _attributes(item: Mapping[str, Any]) -> dict[str, Scalar]:
    return {
        key: value for key, value in item.items() if key_refusal(key) is None and _is_scalar(value)
    }


def _is_scalar(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | bool | int)


def _aware(value: datetime) -> datetime:
    """Returns an aware UTC time; naive times are UTC."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
