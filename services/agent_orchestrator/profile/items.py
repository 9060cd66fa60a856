"""What is known about a user, as items of a profile."""

from __future__ import annotations

from braid.agent.v1 import memories_pb2, profile_pb2
from services.agent_orchestrator.entity_memory.records import Relationship
from services.agent_orchestrator.entity_memory.sentences import YOU, sentence
from services.agent_orchestrator.typed_memory import mapping
from services.agent_orchestrator.typed_memory.domain import Memory
from services.runtime.times import to_timestamp


def of_relationship(one: Relationship) -> profile_pb2.ProfileItem:
    """Returns a relationship of the entity memory."""
    return profile_pb2.ProfileItem(
        id=one.id,
        source=profile_pb2.PROFILE_SOURCE_ENTITY_MEMORY,
        text=sentence(one, YOU),
        evidence=one.context,
        conversation_id=one.last_seen.conversation_id,
        message_id=one.last_seen.message_id,
        mention_count=one.mention_count,
        last_time=to_timestamp(one.last_mention_time),
    )


def of_memory(one: Memory) -> profile_pb2.ProfileItem:
    """Returns a typed memory."""
    return of_memory_message(mapping.memory(one))


def of_memory_message(one: memories_pb2.Memory) -> profile_pb2.ProfileItem:
    """Returns a typed memory that a search has found."""
    return profile_pb2.ProfileItem(
        id=one.id,
        source=profile_pb2.PROFILE_SOURCE_MEMORY,
        text=one.content,
        mention_count=1,
        last_time=one.create_time,
        memory_type=one.type,
    )
