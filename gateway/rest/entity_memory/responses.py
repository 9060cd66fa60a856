"""Response schemas of entity memory, and the serialization of messages."""

from __future__ import annotations

from typing import Literal

from braid.agent.v1 import entity_memory_pb2 as pb
from gateway.rest.mapping.json_encoding import Json, enum_names, time
from gateway.rest.mapping.openapi import ResponseSchema

_ENTITY_TYPES = enum_names(pb.MemoryEntityType, "MEMORY_ENTITY_TYPE_")
_MATCHES = enum_names(pb.MemoryMatch, "MEMORY_MATCH_")
_OUTCOMES = enum_names(pb.MemorySaveOutcome, "MEMORY_SAVE_OUTCOME_")


class MemoryPlace(ResponseSchema):
    """Where something was said; null where that is not known."""

    conversation_id: str | None
    message_id: str | None


class MemoryEntity(ResponseSchema):
    """An entity of the user."""

    id: str
    name: str
    type: str
    aliases: list[str]
    description: str
    confidence: float
    mention_count: int
    first_seen: MemoryPlace
    last_seen: MemoryPlace
    created_at: str
    last_mentioned_at: str
    deleted_at: str | None


class MemoryEntityHit(MemoryEntity):
    """A found entity; without a query `score` is 0 and `match` null."""

    score: float
    match: str | None


class MemoryEntityPage(ResponseSchema):
    """Entities."""

    entities: list[MemoryEntityHit]
    next_cursor: str | None
    without_embedding: bool


class MemoryEnd(ResponseSchema):
    """One end of a relationship; the user has no id and no type."""

    id: str | None
    name: str
    type: str | None


class MemoryRelationship(ResponseSchema):
    """A relationship, read from source to target."""

    id: str
    source: MemoryEnd
    type: str
    target: MemoryEnd
    context: str
    confidence: float
    mention_count: int
    first_seen: MemoryPlace
    last_seen: MemoryPlace
    created_at: str
    last_mentioned_at: str
    deleted_at: str | None


class MemoryRelationshipPage(ResponseSchema):
    """Relationships."""

    relationships: list[MemoryRelationship]
    next_cursor: str | None


class MemoryQuota(ResponseSchema):
    """How much may still be saved; null without a conversation."""

    conversation_entities: int | None
    conversation_relationships: int | None
    day_entities: int


class MemorySavedEntity(ResponseSchema):
    """What saving did; the entity is null when nothing was saved."""

    outcome: str
    message: str
    entity: MemoryEntity | None
    quota: MemoryQuota


class MemorySavedRelationship(ResponseSchema):
    """What saving did; the relationship is null when nothing was saved."""

    outcome: str
    message: str
    relationship: MemoryRelationship | None
    quota: MemoryQuota


class MemorySavedTurn(ResponseSchema):
    """What was saved of a turn."""

    relationships: list[MemoryRelationship]
    retracted: int
    over_limit: int
    already_saved: bool
    quota: MemoryQuota


class MemoryAnswer(ResponseSchema):
    """A relationship that answers."""

    answer: str
    score: float
    relationship: MemoryRelationship


class MemoryAnswers(ResponseSchema):
    """Relationships that answer a question, best first."""

    answers: list[MemoryAnswer]
    total: int
    next_cursor: str | None
    without_embedding: bool


class MemoryRelated(ResponseSchema):
    """A neighbor, and the last relationship on the way to it."""

    entity: MemoryEntity
    hops: int
    relationship: MemoryRelationship


class MemoryRelatedPage(ResponseSchema):
    """Neighbors, nearest first."""

    related: list[MemoryRelated]
    next_cursor: str | None


class MemoryDeletedEntity(ResponseSchema):
    """How many relationships were deleted with it."""

    relationships: int


class MemoryRestoredEntity(ResponseSchema):
    """The entity, and how many relationships came back with it."""

    entity: MemoryEntity
    relationships: int


class MemoryQuotas(ResponseSchema):
    """What may still be saved, and what may be in all."""

    quota: MemoryQuota
    limits: MemoryQuota


class MemoryExportPage(ResponseSchema):
    """Everything that is kept of the user, in pages."""

    entities: list[MemoryEntity]
    relationships: list[MemoryRelationship]
    next_cursor: str | None


class MemoryReceipt(ResponseSchema):
    """What was erased for good."""

    entities: int
    relationships: int
    writes: int
    erased_at: str


class DeadMemoryWrite(ResponseSchema):
    """Something that was accepted to be saved and failed for good, and why."""

    number: int
    kind: Literal["turn", "entity", "relationship"]
    conversation_id: str | None
    message_id: str | None
    reason: str
    attempts: int
    created_at: str | None
    failed_at: str | None


class DeadMemoryWrites(ResponseSchema):
    """A page of what could not be saved."""

    writes: list[DeadMemoryWrite]
    next_cursor: str | None


class RetriedMemoryWrites(ResponseSchema):
    """How much is tried again."""

    writes: int


class MemoryDeleted(ResponseSchema):
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


def dead_write(one: pb.DeadMemoryWrite) -> Json:
    """Something that could not be saved."""
    return {
        "number": one.number,
        "kind": pb.MemoryWriteKind.Name(one.kind).removeprefix("MEMORY_WRITE_KIND_").lower(),
        **_place(one.provenance),
        "reason": one.reason,
        "attempts": one.attempt_count,
        "created_at": time(one, "create_time"),
        "failed_at": time(one, "fail_time"),
    }


def quota(one: pb.MemoryQuota) -> Json:
    """A quota."""

    in_conversation = one.HasField("conversation_entity_count")
    return {
        "conversation_entities": one.conversation_entity_count if in_conversation else None,
        "conversation_relationships": one.conversation_relationship_count
        if in_conversation
        else None,
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
