"""The contract's EntityMemoryService: each call concerns the memory of the calling user."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any, TypeAlias

from braid.agent.v1 import entity_memory_pb2 as pb
from braid.agent.v1 import entity_memory_pb2_grpc
from services.agent_orchestrator.entity_memory import mapping
from services.agent_orchestrator.entity_memory.matching import Match
from services.agent_orchestrator.entity_memory.memory import EntityMemory, FoundEntity
from services.agent_orchestrator.entity_memory.queue import MemoryWrites
from services.agent_orchestrator.entity_memory.records import Entity, Owner, Relationship, Usage
from services.agent_orchestrator.entity_memory.store import Position
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.paging import Scalar, decode_token, encode_token
from services.runtime.times import to_datetime, to_timestamp

Context: TypeAlias = Any

DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE = 20, 200
DEFAULT_EXPORT_SIZE, MAX_EXPORT_SIZE = 200, 1_000
_ENTITIES, _RELATIONSHIPS = "entities", "relationships"


class EntityMemoryServicer(entity_memory_pb2_grpc.EntityMemoryServiceServicer):
    """Serves the entity memory of the calling user."""

    def __init__(self, memory: EntityMemory, writes: MemoryWrites) -> None:
        self._memory = memory
        self._writes = writes

    async def SaveEntity(
        self, request: pb.SaveEntityRequest, _context: Context
    ) -> pb.SaveEntityResponse:
        """See the contract."""
        seen = mapping.provenance(request.provenance)
        saved = await self._memory.save_entity(_owner(), mapping.new_entity(request), seen)
        return pb.SaveEntityResponse(
            outcome=mapping.outcome(saved.outcome),
            entity=mapping.entity(saved.entity) if saved.entity else None,
            message=saved.outcome.value,
            quota=await self._quota(seen.conversation_id),
        )

    async def SaveRelationship(
        self, request: pb.SaveRelationshipRequest, _context: Context
    ) -> pb.SaveRelationshipResponse:
        """See the contract."""
        seen = mapping.provenance(request.provenance)
        new = mapping.new_relationship(request)
        saved = await self._memory.save_relationship(_owner(), new, seen)
        found = saved.relationship
        return pb.SaveRelationshipResponse(
            outcome=mapping.outcome(saved.outcome),
            relationship=mapping.relationship(found) if found else None,
            message=saved.outcome.value,
            quota=await self._quota(seen.conversation_id),
        )

    async def SaveTurn(self, request: pb.SaveTurnRequest, _context: Context) -> pb.SaveTurnResponse:
        """See the contract."""
        seen = mapping.provenance(request.provenance)
        saved = await self._writes.save_turn(_owner(), seen, list(request.turns))
        return pb.SaveTurnResponse(
            relationships=[mapping.relationship(one) for one in saved.relationships],
            retracted_count=saved.retracted,
            over_limit_count=saved.over_limit,
            already_saved=saved.already_saved,
            quota=await self._quota(seen.conversation_id),
        )

    async def QueryEntities(
        self, request: pb.QueryEntitiesRequest, _context: Context
    ) -> pb.QueryEntitiesResponse:
        """See the contract."""
        owner, types = _owner(), mapping.entity_types(request.types)
        size = _size(request.page_size)
        query: tuple[Scalar, ...] = ("entities", *owner, request.query, *sorted(types))
        if not request.query.strip():
            entities = await self._memory.entities(
                owner, types, _position(request.page_token, query), size + 1
            )
            found = [FoundEntity(one, 0.0, Match.NONE) for one in entities[:size]]
            token = _next(query, entities, size)
            return pb.QueryEntitiesResponse(
                hits=[mapping.hit(one) for one in found], next_page_token=token
            )
        offset = _offset(request.page_token, query)
        page = await self._memory.query(owner, request.query, types, offset, size)
        return pb.QueryEntitiesResponse(
            hits=[mapping.hit(one) for one in page.hits],
            next_page_token=_following(query, offset + size, page.total),
            without_embedding=page.without_embedding,
        )

    async def QueryRelationships(
        self, request: pb.QueryRelationshipsRequest, _context: Context
    ) -> pb.QueryRelationshipsResponse:
        """See the contract."""
        owner, types = _owner(), mapping.relationship_types(request.types)
        size, of = _size(request.page_size), request.entity_id.lower()
        as_of = to_datetime(request.as_of) if request.HasField("as_of") else None
        moment = as_of.isoformat() if as_of else ""
        query: tuple[Scalar, ...] = ("relationships", *owner, of, moment, *sorted(types))
        after = _position(request.page_token, query)
        found = await self._memory.relationships(owner, types, of, after, size + 1, as_of=as_of)
        return pb.QueryRelationshipsResponse(
            relationships=[mapping.relationship(one) for one in found[:size]],
            next_page_token=_next(query, found, size),
        )

    async def GetRelatedEntities(
        self, request: pb.GetRelatedEntitiesRequest, _context: Context
    ) -> pb.GetRelatedEntitiesResponse:
        """See the contract."""
        owner, types = _owner(), mapping.relationship_types(request.types)
        size, of, hops = _size(request.page_size), request.entity_id.lower(), request.max_hops or 1
        query: tuple[Scalar, ...] = ("related", *owner, of, hops, *sorted(types))
        offset = _offset(request.page_token, query)
        found = await self._memory.related(owner, of, types, hops)
        return pb.GetRelatedEntitiesResponse(
            related=[mapping.related(one) for one in found[offset : offset + size]],
            next_page_token=_following(query, offset + size, len(found)),
        )

    async def AnswerRelationshipQuery(
        self, request: pb.AnswerRelationshipQueryRequest, _context: Context
    ) -> pb.AnswerRelationshipQueryResponse:
        """See the contract."""
        owner, size = _owner(), _size(request.page_size)
        query: tuple[Scalar, ...] = (
            "answers",
            *owner,
            request.query,
            request.relationship_type,
            request.entity_type,
        )
        offset = _offset(request.page_token, query)
        found = await self._memory.answer(
            owner,
            request.query,
            mapping.relationship_type(request.relationship_type),
            mapping.entity_type(request.entity_type),
        )
        total = len(found.answers)
        return pb.AnswerRelationshipQueryResponse(
            answers=[mapping.answer(one) for one in found.answers[offset : offset + size]],
            next_page_token=_following(query, offset + size, total),
            total_count=total,
            without_embedding=found.without_embedding,
        )

    async def MergeEntities(
        self, request: pb.MergeEntitiesRequest, _context: Context
    ) -> pb.MergeEntitiesResponse:
        """See the contract."""
        kept, other = request.entity_id.lower(), request.other_entity_id.lower()
        if kept == other:
            raise InvalidFieldError(FieldError("other_entity_id", "must be another entity"))
        merged = await self._memory.merge(_owner(), kept, other)
        return pb.MergeEntitiesResponse(entity=mapping.entity(merged))

    async def RenameEntity(
        self, request: pb.RenameEntityRequest, _context: Context
    ) -> pb.RenameEntityResponse:
        """See the contract."""
        renamed = await self._memory.rename(_owner(), request.entity_id.lower(), request.name)
        return pb.RenameEntityResponse(entity=mapping.entity(renamed))

    async def DeleteEntity(
        self, request: pb.DeleteEntityRequest, _context: Context
    ) -> pb.DeleteEntityResponse:
        """See the contract."""
        gone = await self._memory.delete(_owner(), request.entity_id.lower())
        return pb.DeleteEntityResponse(relationship_count=gone)

    async def RestoreEntity(
        self, request: pb.RestoreEntityRequest, _context: Context
    ) -> pb.RestoreEntityResponse:
        """See the contract."""
        restored, back = await self._memory.restore(_owner(), request.entity_id.lower())
        return pb.RestoreEntityResponse(entity=mapping.entity(restored), relationship_count=back)

    async def DeleteRelationship(
        self, request: pb.DeleteRelationshipRequest, _context: Context
    ) -> pb.DeleteRelationshipResponse:
        """See the contract."""
        await self._memory.delete_relationship(_owner(), request.relationship_id.lower())
        return pb.DeleteRelationshipResponse(deleted_count=1)

    async def GetMemoryQuota(
        self, request: pb.GetMemoryQuotaRequest, _context: Context
    ) -> pb.GetMemoryQuotaResponse:
        """See the contract."""
        named = bool(request.conversation_id)
        limits = mapping.quota(self._memory.limits, Usage(0, 0, 0), conversation=named)
        return pb.GetMemoryQuotaResponse(
            quota=await self._quota(request.conversation_id), limits=limits
        )

    async def ExportUserMemory(
        self, request: pb.ExportUserMemoryRequest, _context: Context
    ) -> pb.ExportUserMemoryResponse:
        """See the contract."""
        owner = _owner()
        size = min(request.page_size or DEFAULT_EXPORT_SIZE, MAX_EXPORT_SIZE)
        query: tuple[Scalar, ...] = ("export", *owner)
        kind, after = _ENTITIES, None
        if request.page_token:
            kind, after = _export_position(request.page_token, query)
        entities, relationships = await self._memory.export(owner, kind, after, size + 1)
        found: list[Entity] | list[Relationship] = entities or relationships
        token = ""
        if len(found) > size:
            token = encode_token(query, [kind, found[size - 1].id])
        elif kind == _ENTITIES:
            token = encode_token(query, [_RELATIONSHIPS, None])
        return pb.ExportUserMemoryResponse(
            entities=[mapping.entity(one) for one in entities[:size]],
            relationships=[mapping.relationship(one) for one in relationships[:size]],
            next_page_token=token,
        )

    async def ListDeadMemoryWrites(
        self, request: pb.ListDeadMemoryWritesRequest, _context: Context
    ) -> pb.ListDeadMemoryWritesResponse:
        """See the contract."""
        owner, size = _owner(), _size(request.page_size)
        query: tuple[Scalar, ...] = ("dead", *owner)
        before = _offset(request.page_token, query) or None
        found = await self._writes.dead(owner, before, size + 1)
        more = len(found) > size
        return pb.ListDeadMemoryWritesResponse(
            writes=[mapping.dead_write(one) for one in found[:size]],
            next_page_token=encode_token(query, [found[size - 1].number]) if more else "",
        )

    async def RetryDeadMemoryWrites(
        self, _request: pb.RetryDeadMemoryWritesRequest, _context: Context
    ) -> pb.RetryDeadMemoryWritesResponse:
        """See the contract."""
        return pb.RetryDeadMemoryWritesResponse(write_count=await self._writes.retry_dead(_owner()))

    async def EraseUserMemory(
        self, _request: pb.EraseUserMemoryRequest, _context: Context
    ) -> pb.EraseUserMemoryResponse:
        """See the contract."""
        receipt, when = await self._memory.erase(_owner())
        return pb.EraseUserMemoryResponse(
            entity_count=receipt.entities,
            relationship_count=receipt.relationships,
            write_count=receipt.writes,
            erase_time=to_timestamp(when),
        )

    async def _quota(self, conversation_id: str) -> pb.MemoryQuota:
        used = await self._memory.usage(_owner(), conversation_id)
        return mapping.quota(self._memory.limits, used, conversation=bool(conversation_id))


def _owner() -> Owner:
    """Returns the owner of the memory: only from the credential."""
    call = current_call()
    return Owner(call.space, call.user)


def _size(page_size: int) -> int:
    return min(page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)


def _offset(token: str, query: tuple[Scalar, ...]) -> int:
    if not token:
        return 0
    (offset,) = decode_token(token, query, length=1)
    if not isinstance(offset, int) or offset < 0:
        raise _foreign()
    return offset


def _following(query: tuple[Scalar, ...], offset: int, total: int) -> str:
    return encode_token(query, [offset]) if offset < total else ""


def _position(token: str, query: tuple[Scalar, ...]) -> Position | None:
    if not token:
        return None
    time, id_ = decode_token(token, query, length=2)
    try:
        return Position(datetime.fromisoformat(time).astimezone(UTC), str(uuid.UUID(id_)))
    except (TypeError, ValueError, AttributeError, OverflowError):
        raise _foreign() from None


def _next(query: tuple[Scalar, ...], found: list[Entity] | list[Relationship], size: int) -> str:
    if len(found) <= size:
        return ""
    last = found[size - 1]
    return encode_token(query, [last.last_mention_time.isoformat(), last.id])


def _export_position(token: str, query: tuple[Scalar, ...]) -> tuple[str, str | None]:
    kind, after = decode_token(token, query, length=2)
    try:
        if kind not in {_ENTITIES, _RELATIONSHIPS}:
            raise _foreign()
        return kind, None if after is None else str(uuid.UUID(after))
    except (TypeError, ValueError, AttributeError):
        raise _foreign() from None


def _foreign() -> InvalidFieldError:
    return InvalidFieldError(FieldError("page_token", "is not a token of this service"))
