"""Maps the contract's messages about entity memory to the domain's types and back."""

from __future__ import annotations

from collections.abc import Iterable

from braid.agent.v1 import entity_memory_pb2 as pb
from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.matching import Match
from services.agent_orchestrator.entity_memory.memory import FoundEntity, Neighbor
from services.agent_orchestrator.entity_memory.questions import Scored
from services.agent_orchestrator.entity_memory.records import (
    DEFAULT_CONFIDENCE,
    End,
    Entity,
    Limits,
    NamedEnd,
    NewEntity,
    NewRelationship,
    Outcome,
    Provenance,
    Relationship,
    Usage,
)
from services.agent_orchestrator.entity_memory.roles import spelled_role
from services.agent_orchestrator.entity_memory.writes import DeadWrite
from services.runtime.times import to_timestamp

_MATCHES = {
    Match.NONE: pb.MEMORY_MATCH_UNSPECIFIED,
    Match.EXACT: pb.MEMORY_MATCH_EXACT,
    Match.ALIAS: pb.MEMORY_MATCH_ALIAS,
    Match.FUZZY: pb.MEMORY_MATCH_FUZZY,
    Match.EMBEDDING: pb.MEMORY_MATCH_EMBEDDING,
}
_ENTITY, _RELATIONSHIP = "MEMORY_ENTITY_TYPE_", "MEMORY_RELATIONSHIP_TYPE_"


def entity_type(value: pb.MemoryEntityType.ValueType) -> EntityType | None:
    """Maps a type; None for unspecified."""
    if not value:
        return None
    return EntityType(pb.MemoryEntityType.Name(value).removeprefix(_ENTITY).lower())


def entity_types(values: Iterable[pb.MemoryEntityType.ValueType]) -> list[EntityType]:
    """Maps types, without unspecified ones."""
    return [found for value in values if (found := entity_type(value)) is not None]


def relationship_type(value: pb.MemoryRelationshipType.ValueType) -> RelationshipType | None:
    """Maps a type; None for unspecified."""
    if not value:
        return None
    return RelationshipType(pb.MemoryRelationshipType.Name(value).removeprefix(_RELATIONSHIP))


def relationship_types(
    values: Iterable[pb.MemoryRelationshipType.ValueType],
) -> list[RelationshipType]:
    """Maps types, without unspecified ones."""
    return [found for value in values if (found := relationship_type(value)) is not None]


def provenance(given: pb.MemoryProvenance) -> Provenance:
    """Maps the origin of a statement."""
    return Provenance(given.conversation_id, given.message_id)


def new_entity(request: pb.SaveEntityRequest) -> NewEntity:
    """Maps an entity to save."""
    type_ = entity_type(request.type)
    assert type_ is not None  # noqa: S101 - ensured by the contract's validation
    return NewEntity(
        request.name,
        type_,
        tuple(request.aliases),
        request.description,
        request.confidence if request.HasField("confidence") else DEFAULT_CONFIDENCE,
    )


def new_relationship(request: pb.SaveRelationshipRequest) -> NewRelationship:
    """Maps a relationship to save."""
    type_ = relationship_type(request.type)
    assert type_ is not None  # noqa: S101 - ensured by the contract's validation
    return NewRelationship(
        _named_end(request.source),
        type_,
        _named_end(request.target),
        request.context,
        request.confidence if request.HasField("confidence") else DEFAULT_CONFIDENCE,
        spelled_role(request.role),
        request.exclusive,
    )


def outcome(value: Outcome) -> pb.MemorySaveOutcome.ValueType:
    """Maps the outcome of saving."""
    return pb.MemorySaveOutcome.Value(f"MEMORY_SAVE_OUTCOME_{value.name}")


def entity(one: Entity) -> pb.MemoryEntity:
    """Maps a stored entity."""
    return pb.MemoryEntity(
        id=one.id,
        name=one.name,
        type=_entity_value(one.type),
        aliases=one.aliases,
        description=one.description,
        confidence=one.confidence,
        mention_count=one.mention_count,
        first_seen=_provenance(one.first_seen),
        last_seen=_provenance(one.last_seen),
        create_time=to_timestamp(one.create_time),
        last_mention_time=to_timestamp(one.last_mention_time),
        delete_time=to_timestamp(one.delete_time) if one.delete_time else None,
    )


def relationship(one: Relationship) -> pb.MemoryRelationship:
    """Maps a stored relationship."""
    return pb.MemoryRelationship(
        id=one.id,
        source=_end(one.source),
        type=pb.MemoryRelationshipType.Value(f"{_RELATIONSHIP}{one.type}"),
        target=_end(one.target),
        context=one.context,
        confidence=one.confidence,
        mention_count=one.mention_count,
        first_seen=_provenance(one.first_seen),
        last_seen=_provenance(one.last_seen),
        create_time=to_timestamp(one.create_time),
        last_mention_time=to_timestamp(one.last_mention_time),
        delete_time=to_timestamp(one.delete_time) if one.delete_time else None,
        role=one.role,
        ended=one.ended,
    )


def hit(one: FoundEntity) -> pb.MemoryEntityHit:
    """Maps a found entity."""
    return pb.MemoryEntityHit(entity=entity(one.entity), score=one.score, match=_MATCHES[one.match])


def related(one: Neighbor) -> pb.RelatedMemoryEntity:
    """Maps a neighbor."""
    return pb.RelatedMemoryEntity(
        entity=entity(one.entity), hops=one.hops, relationship=relationship(one.relationship)
    )


def answer(one: Scored) -> pb.MemoryAnswer:
    """Maps a relationship that answers a question."""
    return pb.MemoryAnswer(
        relationship=relationship(one.relationship), answer=one.answer, score=one.score
    )


def dead_write(one: DeadWrite) -> pb.DeadMemoryWrite:
    """Maps a write that failed for good."""
    return pb.DeadMemoryWrite(
        number=one.number,
        kind=pb.MemoryWriteKind.Value(f"MEMORY_WRITE_KIND_{one.kind.upper()}"),
        provenance=pb.MemoryProvenance(
            conversation_id=one.seen.conversation_id, message_id=one.seen.message_id
        ),
        reason=one.reason,
        attempt_count=one.attempts,
        create_time=to_timestamp(one.create_time),
        fail_time=to_timestamp(one.fail_time),
    )


def quota(limits: Limits, used: Usage, *, conversation: bool) -> pb.MemoryQuota:
    """Returns the remaining quota."""
    left = pb.MemoryQuota(day_entity_count=max(0, limits.max_entities_per_day - used.day_entities))
    if conversation:
        left.conversation_entity_count = max(
            0, limits.max_entities_per_conversation - used.conversation_entities
        )
        left.conversation_relationship_count = max(
            0, limits.max_relationships_per_conversation - used.conversation_relationships
        )
    return left


def _named_end(given: pb.MemoryEndInput) -> NamedEnd:
    return NamedEnd(given.id.lower(), given.name, entity_type(given.type))


def _end(one: End) -> pb.MemoryEnd:
    return pb.MemoryEnd(
        id="" if one.is_user else one.id,
        name=one.name,
        type=_entity_value(one.type) if one.type else pb.MEMORY_ENTITY_TYPE_UNSPECIFIED,
    )


def _entity_value(type_: EntityType) -> pb.MemoryEntityType.ValueType:
    return pb.MemoryEntityType.Value(f"{_ENTITY}{type_.upper()}")


def _provenance(one: Provenance) -> pb.MemoryProvenance:
    return pb.MemoryProvenance(conversation_id=one.conversation_id, message_id=one.message_id)
