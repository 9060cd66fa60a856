"""Maps the contract's messages about memories to the domain's types and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct

from braid.agent.v1 import memories_pb2
from braid.graph.v1 import relations_pb2
from services.agent_orchestrator.typed_memory.changes import Change
from services.agent_orchestrator.typed_memory.domain import (
    DEFAULT_IMPORTANCE,
    DEFAULT_TYPE,
    Memory,
    NewMemory,
)
from services.agent_orchestrator.typed_memory.inference import Inferred
from services.agent_orchestrator.typed_memory.memories import Relation, RelationInput
from services.agent_orchestrator.typed_memory.search import Found, Hit
from services.agent_orchestrator.typed_memory.store import PastMemory
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.times import to_timestamp

_MAX_METADATA_BYTES = 64 * 1024


def new_memory(request: memories_pb2.CreateMemoryRequest) -> NewMemory:
    """Maps a memory to store. Raises InvalidFieldError for too much metadata."""
    if request.metadata.ByteSize() > _MAX_METADATA_BYTES:
        raise InvalidFieldError(FieldError("metadata", "must be at most 64 KiB"))
    return NewMemory(
        type=request.type.upper() or DEFAULT_TYPE,
        content=request.content,
        title=request.title,
        tags=tuple(request.tags),
        importance=request.importance if request.HasField("importance") else DEFAULT_IMPORTANCE,
        session_id=request.session_id,
        metadata=MessageToDict(request.metadata),
    )


def change(request: memories_pb2.UpdateMemoryRequest) -> Change:
    """Maps what is to change of a memory. Raises InvalidFieldError for too much metadata."""
    if request.metadata.ByteSize() > _MAX_METADATA_BYTES:
        raise InvalidFieldError(FieldError("metadata", "must be at most 64 KiB"))
    given: dict[str, Any] = {
        name: getattr(request, name)
        for name in ("title", "content", "importance")
        if request.HasField(name)
    }
    if request.HasField("type"):
        given["type"] = request.type.upper()
    if request.tags or request.clear_tags:
        given["tags"] = tuple(request.tags)
    if request.HasField("metadata"):
        given["metadata"] = MessageToDict(request.metadata)
    return lambda memory: replace(memory, **given)


def past(one: PastMemory) -> memories_pb2.PastMemory:
    """Maps what a memory said before."""
    return memories_pb2.PastMemory(
        type=one.type,
        title=one.title,
        content=one.content,
        create_time=to_timestamp(one.create_time),
        replace_time=to_timestamp(one.replace_time),
    )


def relation_inputs(
    given: Iterable[memories_pb2.MemoryRelationInput],
) -> list[RelationInput]:
    """Maps relations to store. Raises InvalidFieldError for a duplicate."""
    found = [relation_input(one) for one in given]
    seen = set()
    for place, one in enumerate(found):
        key = (one.target_id, one.relation_type)
        if key in seen:
            raise InvalidFieldError(FieldError(f"relations[{place}]", "occurs twice"))
        seen.add(key)
    return found


def relation_input(given: memories_pb2.MemoryRelationInput) -> RelationInput:
    """Maps a relation to store, without its source."""
    return RelationInput(
        target_id=given.target_id.lower(),
        relation_type=given.relation_type,
        strength=given.strength if given.HasField("strength") else None,
        valid_time=given.valid_time if given.HasField("valid_time") else None,
        invalid_time=given.invalid_time if given.HasField("invalid_time") else None,
    )


def memory(one: Memory) -> memories_pb2.Memory:
    """Maps a stored memory."""
    given = one.given
    metadata = Struct()
    metadata.update(dict(given.metadata))
    return memories_pb2.Memory(
        id=one.id,
        type=given.type,
        title=given.title,
        content=given.content,
        tags=given.tags,
        importance=given.importance,
        session_id=given.session_id,
        metadata=metadata,
        create_time=to_timestamp(one.create_time),
        access_count=one.access_count,
        last_access_time=to_timestamp(one.last_access_time) if one.last_access_time else None,
    )


def relation(one: Relation) -> memories_pb2.MemoryRelation:
    """Maps a stored relation."""
    return memories_pb2.MemoryRelation(
        source_id=one.source_id,
        target_id=one.target_id,
        relation_type=one.relation_type,
        strength=one.strength,
        valid_time=one.valid_time if one.HasField("valid_time") else None,
        invalid_time=one.invalid_time if one.HasField("invalid_time") else None,
        inferred=one.origin == relations_pb2.RELATION_ORIGIN_INFERRED,
        evidence=one.evidence,
        create_time=one.create_time,
    )


def found(answer: Found) -> memories_pb2.SearchMemoriesResponse:
    """Maps the results of a search."""
    return memories_pb2.SearchMemoriesResponse(
        hits=[_hit(hit) for hit in answer.hits],
        related=[_hit(hit) for hit in answer.related],
        nearest=[_hit(hit) for hit in answer.nearest],
        status=answer.status,
        reason=answer.reason,
        expansion=answer.expansion,
    )


def inferred(done: Inferred) -> memories_pb2.RunMemoryInferenceResponse:
    """Maps the results of an inference."""
    return memories_pb2.RunMemoryInferenceResponse(
        examined_count=done.examined,
        created_counts=done.created,
        created_count=sum(done.created.values()),
        removed_count=done.removed,
    )


def _hit(hit: Hit) -> memories_pb2.MemoryHit:
    return memories_pb2.MemoryHit(
        memory=memory(hit.memory),
        score=hit.score,
        composite_score=hit.composite,
        depth=hit.depth,
        path=hit.path,
        penalty=hit.penalty,
    )
