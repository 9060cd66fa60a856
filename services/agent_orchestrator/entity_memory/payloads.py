"""Maps what is to be saved to JSON, as it is queued and passed between processes, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.records import NamedEnd, NewEntity, NewRelationship


def relationship_payload(new: NewRelationship) -> dict[str, Any]:
    """Maps a relationship to JSON."""
    return {**new._asdict(), "source": new.source._asdict(), "target": new.target._asdict()}


def entity_of(payload: Mapping[str, Any]) -> NewEntity:
    """Maps JSON to an entity."""
    return NewEntity(
        payload["name"],
        EntityType(payload["type"]),
        tuple(payload["aliases"]),
        payload["description"],
        payload["confidence"],
    )


def relationship_of(payload: Mapping[str, Any]) -> NewRelationship:
    """Maps JSON to a relationship."""
    return NewRelationship(
        _named_end(payload["source"]),
        RelationshipType(payload["type"]),
        _named_end(payload["target"]),
        payload["context"],
        payload["confidence"],
        # Writes that were queued by an earlier version have none of these.
        payload.get("role", ""),
        payload.get("exclusive", False),
        payload.get("mistaken", False),
    )


def _named_end(payload: Mapping[str, Any]) -> NamedEnd:
    type_ = payload["type"]
    return NamedEnd(payload["id"], payload["name"], EntityType(type_) if type_ else None)
