"""What is answered about entity memory: the documented shapes, and the messages as JSON."""

from __future__ import annotations

from braid.agent.v1 import entity_memory_pb2 as pb
from gateway.rest.mapping.json_encoding import Json, enum_names, time
from gateway.rest.mapping.openapi import ResponseSchema

_ENTITY_TYPES = enum_names(pb.MemoryEntityType, "MEMORY_ENTITY_TYPE_")
_MATCHES = enum_names(pb.MemoryMatch, "MEMORY_MATCH_")
_OUTCOMES = enum_names(pb.MemorySaveOutcome, "MEMORY_SAVE_OUTCOME_")


class Place(ResponseSchema):
    """Where something was said; null where that is not known."""

    conversation_id: str | None
    message_id: str | None


class Entity(ResponseSchema):
    """An entity of the user."""

    id: str
    name: str
    type: str
    aliases: list[str]
    description: str
    confidence: float
    mention_count: int
    first_seen: Place
    last_seen: Place
    created_at: str
    last_mentioned_at: str
    deleted_at: str | None


class EntityHit(Entity):
    """A found entity; without a query `score` is 0 and `match` null."""

    score: float
    match: str | None


class EntityPage(ResponseSchema):
    """Entities."""

    entities: list[EntityHit]
    next_cursor: str | None
    without_embedding: bool


class End(ResponseSchema):
    """One end of a relationship; the user has no id and no type."""

    id: str | None
    name: str
    type: str | None


class Relationship(ResponseSchema):
    """A relationship, read from source to target."""

    id: str
    source: End
    type: str
    target: End
    context: str
    confidence: float
    mention_count: int
    first_seen: Place
    last_seen: Place
    created_at: str
    last_mentioned_at: str
    deleted_at: str | None


class RelationshipPage(ResponseSchema):
    """Relationships."""

    relationships: list[Relationship]
    next_cursor: str | None


class Quota(ResponseSchema):
    """How much may still be saved; null without a conversation."""

    conversation_entities: int | None
    conversation_relationships: int | None
    day_entities: int


class SavedEntity(ResponseSchema):
    """What saving did; the entity is null when nothing was saved."""

    outcome: str
    message: str
    entity: Entity | None
    quota: Quota


class SavedRelationship(ResponseSchema):
    """What saving did; the relationship is null when nothing was saved."""

    outcome: str
    message: str
    relationship: Relationship | None
    quota: Quota


class SavedTurn(ResponseSchema):
    """What was saved of a turn."""

    relationships: list[Relationship]
    retracted: int
    over_limit: int
    already_saved: bool
    quota: Quota


class Answer(ResponseSchema):
    """A relationship that answers."""

    answer: str
    score: float
    relationship: Relationship


class Answers(ResponseSchema):
    """Relationships that answer a question, best first."""

    answers: list[Answer]
    total: int
    next_cursor: str | None
    without_embedding: bool


class Related(ResponseSchema):
    """A neighbor, and the last relationship on the way to it."""

    entity: Entity
    hops: int
    relationship: Relationship


class RelatedPage(ResponseSchema):
    """Neighbors, nearest first."""

    related: list[Related]
    next_cursor: str | None


class DeletedEntity(ResponseSchema):
    """How many relationships were deleted with it."""

    relationships: int


class RestoredEntity(ResponseSchema):
    """The entity, and how many relationships came back with it."""

    entity: Entity
    relationships: int


class Quotas(ResponseSchema):
    """What may still be saved, and what may be in all."""

    quota: Quota
    limits: Quota


class ExportPage(ResponseSchema):
    """Everything that is kept of the user, in pages."""

    entities: list[Entity]
    relationships: list[Relationship]
    next_cursor: str | None


class Receipt(ResponseSchema):
    """What was erased for good."""

    entities: int
    relationships: int
    writes: int
    erased_at: str


class Deleted(ResponseSchema):
    """What was deleted."""

    deleted: int


def entity(one: pb.MemoryEntity) -> Json:
    """An entity."""
    return {
        "id": one.id,
        "name": one.name,
        "type": _ENTITY_TYPES[one.type],
        "aliases": list(one.aliases),
        "description": one.description,
        **_evidence(one),
    }


def relationship(one: pb.MemoryRelationship) -> Json:
    """A relationship."""
    return {
        "id": one.id,
        "source": _end(one.source),
        "type": pb.MemoryRelationshipType.Name(one.type).removeprefix("MEMORY_RELATIONSHIP_TYPE_"),
        "target": _end(one.target),
        "context": one.context,
        **_evidence(one),
    }


def hit(one: pb.MemoryEntityHit) -> Json:
    """A found entity."""
    return {**entity(one.entity), "score": one.score, "match": _MATCHES[one.match]}


def answer(one: pb.MemoryAnswer) -> Json:
    """A relationship that answers."""
    return {
        "answer": one.answer,
        "score": one.score,
        "relationship": relationship(one.relationship),
    }


def related(one: pb.RelatedMemoryEntity) -> Json:
    """A neighbor."""
    return {
        "entity": entity(one.entity),
        "hops": one.hops,
        "relationship": relationship(one.relationship),
    }


def quota(one: pb.MemoryQuota) -> Json:
    """What may be saved."""

    def count(name: str) -> int | None:
        return getattr(one, name) if one.HasField(name) else None

    return {
        "conversation_entities": count("conversation_entity_count"),
        "conversation_relationships": count("conversation_relationship_count"),
        "day_entities": one.day_entity_count,
    }


def outcome(value: pb.MemorySaveOutcome.ValueType) -> str:
    """What saving did."""
    return _OUTCOMES[value] or "unspecified"


def _evidence(one: pb.MemoryEntity | pb.MemoryRelationship) -> Json:
    return {
        "confidence": one.confidence,
        "mention_count": one.mention_count,
        "first_seen": _place(one.first_seen),
        "last_seen": _place(one.last_seen),
        "created_at": time(one, "create_time"),
        "last_mentioned_at": time(one, "last_mention_time"),
        "deleted_at": time(one, "delete_time"),
    }


def _place(one: pb.MemoryProvenance) -> Json:
    return {
        "conversation_id": one.conversation_id or None,
        "message_id": one.message_id or None,
    }


def _end(one: pb.MemoryEnd) -> Json:
    return {"id": one.id or None, "name": one.name, "type": _ENTITY_TYPES[one.type]}
