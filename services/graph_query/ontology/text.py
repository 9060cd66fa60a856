"""Ontologies as the JSON text that stores keep."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from services.graph_query.ontology.domain import (
    AttributeKind,
    AttributeType,
    Endpoints,
    EntityType,
    Ontology,
    RelationType,
)


def to_text(ontology: Ontology) -> str:
    """The same text for the same ontology."""
    return json.dumps(asdict(ontology), sort_keys=True, default=_plain)


def from_text(text: str) -> Ontology:
    """The ontology that a stored text stands for."""
    told = json.loads(text)
    return Ontology(
        entity_types=tuple(_entity_type(one) for one in told["entity_types"]),
        relation_types=tuple(_relation_type(one) for one in told["relation_types"]),
        strict=told["strict"],
        instructions=told["instructions"],
    )


def _entity_type(told: dict[str, Any]) -> EntityType:
    return EntityType(told["name"], told["description"], _attributes(told))


def _relation_type(told: dict[str, Any]) -> RelationType:
    ends = tuple(Endpoints(*one) for one in told["endpoints"])
    # Texts of before there were events have no such mark.
    event = told.get("event", False)
    return RelationType(told["name"], told["description"], _attributes(told), ends, event)


def _attributes(told: dict[str, Any]) -> tuple[AttributeType, ...]:
    return tuple(
        AttributeType(one["name"], AttributeKind(one["kind"]), one["description"])
        for one in told["attributes"]
    )


def _plain(value: object) -> object:
    if isinstance(value, AttributeKind):
        return value.value
    raise TypeError
