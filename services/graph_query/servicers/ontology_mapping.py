"""Maps ontologies between messages and the domain."""

from __future__ import annotations

from collections.abc import Iterable

from braid.graph.v1 import ontology_pb2
from services.graph_query.ontology.domain import (
    AttributeKind,
    AttributeType,
    Endpoints,
    EntityType,
    Ontology,
    RelationType,
)

_KINDS = {
    AttributeKind.STRING: ontology_pb2.ATTRIBUTE_KIND_STRING,
    AttributeKind.INTEGER: ontology_pb2.ATTRIBUTE_KIND_INTEGER,
    AttributeKind.NUMBER: ontology_pb2.ATTRIBUTE_KIND_NUMBER,
    AttributeKind.BOOLEAN: ontology_pb2.ATTRIBUTE_KIND_BOOLEAN,
}


_FROM_KINDS = {value: kind for kind, value in _KINDS.items()}


def ontology(message: ontology_pb2.Ontology) -> Ontology:
    """Maps an ontology to store."""
    return Ontology(
        entity_types=tuple(
            EntityType(one.name, one.description, _attributes(one.attributes))
            for one in message.entity_types
        ),
        relation_types=tuple(
            RelationType(
                one.name,
                one.description,
                _attributes(one.attributes),
                tuple(Endpoints(ends.subject_type, ends.object_type) for ends in one.endpoints),
                one.event,
            )
            for one in message.relation_types
        ),
        strict=message.strict,
        instructions=message.instructions,
    )


def message_of(one: Ontology) -> ontology_pb2.Ontology:
    """Maps an ontology to its message."""
    return ontology_pb2.Ontology(
        entity_types=[
            ontology_pb2.EntityType(
                name=kind.name,
                description=kind.description,
                attributes=_messages(kind.attributes),
            )
            for kind in one.entity_types
        ],
        relation_types=[_relation(kind) for kind in one.relation_types],
        strict=one.strict,
        instructions=one.instructions,
    )


def _relation(kind: RelationType) -> ontology_pb2.RelationType:
    return ontology_pb2.RelationType(
        name=kind.name,
        description=kind.description,
        attributes=_messages(kind.attributes),
        endpoints=[
            ontology_pb2.RelationEndpoints(subject_type=ends.subject, object_type=ends.object)
            for ends in kind.endpoints
        ],
        event=kind.event,
    )


def _attributes(messages: Iterable[ontology_pb2.AttributeType]) -> tuple[AttributeType, ...]:
    return tuple(
        AttributeType(one.name, _FROM_KINDS[one.kind], one.description) for one in messages
    )


def _messages(attributes: Iterable[AttributeType]) -> list[ontology_pb2.AttributeType]:
    return [
        ontology_pb2.AttributeType(
            name=one.name, kind=_KINDS[one.kind], description=one.description
        )
        for one in attributes
    ]
