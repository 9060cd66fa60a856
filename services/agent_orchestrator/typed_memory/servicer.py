"""The contract's MemoryService: each call concerns the memories of the calling user."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from braid.agent.v1 import memories_pb2, memories_pb2_grpc
from services.agent_orchestrator.clients.relations import GraphRelations
from services.agent_orchestrator.jobs.records import job_message
from services.agent_orchestrator.typed_memory import mapping
from services.agent_orchestrator.typed_memory.changes import Changes
from services.agent_orchestrator.typed_memory.domain import Owner
from services.agent_orchestrator.typed_memory.inference import (
    DEFAULT_EXAMINED,
    MAX_EXAMINED,
    Inference,
)
from services.agent_orchestrator.typed_memory.inference_jobs import InferenceJobs
from services.agent_orchestrator.typed_memory.memories import (
    Memories,
    Relation,
    graph_patience,
    in_partition,
    owner_of,
)
from services.agent_orchestrator.typed_memory.search import MemorySearch
from services.agent_orchestrator.typed_memory.sessions import Sessions
from services.agent_orchestrator.typed_memory.store import MemoryStore, Position
from services.runtime.context import current_call, may_write
from services.runtime.errors import (
    BraidError,
    FieldError,
    InvalidFieldError,
    WrongStateError,
)
from services.runtime.paging import decode_token, encode_token, page_size
from services.runtime.telemetry import get_logger

Context: TypeAlias = Any

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 200
_LISTING = "memories"


class MemoryServicer(memories_pb2_grpc.MemoryServiceServicer):
    """Serves the memories of the calling user."""

    def __init__(  # noqa: PLR0917 - one for each group of calls
        self,
        store: MemoryStore,
        memories: Memories,
        search: MemorySearch,
        sessions: Sessions,
        inference: Inference,
        inference_jobs: InferenceJobs,
        relations: GraphRelations,
        *,
        names_spaces: bool,
    ) -> None:
        """`names_spaces` is true if calls to the tiers carry a space; otherwise all memories would share one space."""
        self._store = store
        self._memories = memories
        self._changes = Changes(store, memories)
        self._search = search
        self._sessions = sessions
        self._inference = inference
        self._inference_jobs = inference_jobs
        self._relations = relations
        self._names_spaces = names_spaces

    async def CreateMemory(
        self, request: memories_pb2.CreateMemoryRequest, _context: Context
    ) -> memories_pb2.CreateMemoryResponse:
        """See the contract."""
        owner = self._owner()
        relations = mapping.relation_inputs(request.relations)
        memory = await self._memories.create(owner, mapping.new_memory(request), relations)
        found: Sequence[Relation] | None = None
        if memory.in_graph:
            found = await self._relations_in_time(
                owner, memory.id, infer=not request.skip_inference
            )
        if found is None:
            await self._complete_later(owner)
        return memories_pb2.CreateMemoryResponse(
            memory=mapping.memory(memory), relations=map(mapping.relation, found or ())
        )

    async def GetMemory(
        self, request: memories_pb2.GetMemoryRequest, _context: Context
    ) -> memories_pb2.GetMemoryResponse:
        """See the contract."""
        owner, id_ = self._owner(), request.memory_id.lower()
        memory = await self._memories.get(owner, id_)
        found = await self._memories.relations(owner, id_)
        if may_write():
            await self._store.note_access(owner, [id_])
        return memories_pb2.GetMemoryResponse(
            memory=mapping.memory(memory),
            relations=[mapping.relation(one) for one in found.outgoing],
            incoming_relations=[mapping.relation(one) for one in found.incoming],
            relations_truncated=found.truncated,
            past=map(mapping.past, await self._store.past(owner, id_)),
        )

    async def UpdateMemory(
        self, request: memories_pb2.UpdateMemoryRequest, _context: Context
    ) -> memories_pb2.UpdateMemoryResponse:
        """See the contract."""
        owner = self._owner()
        changed = await self._changes.apply(
            owner, request.memory_id.lower(), mapping.change(request)
        )
        if not changed.memory.in_graph:
            await self._complete_later(owner)
        return memories_pb2.UpdateMemoryResponse(
            memory=mapping.memory(changed.memory), past=map(mapping.past, changed.past)
        )

    async def ListMemories(
        self, request: memories_pb2.ListMemoriesRequest, _context: Context
    ) -> memories_pb2.ListMemoriesResponse:
        """See the contract."""
        owner = self._owner()
        types = sorted({name.upper() for name in request.types})
        query = (_LISTING, *owner, request.session_id, *types)
        size = page_size(request.page_size, default=DEFAULT_PAGE_SIZE, largest=MAX_PAGE_SIZE)
        after = _position(request.page_token, query)
        found = await self._memories.page(owner, types, request.session_id, after, size + 1)
        token = ""
        if len(found) > size:
            last = found[size - 1]
            token = encode_token(query, [last.create_time.isoformat(), last.id])
        return memories_pb2.ListMemoriesResponse(
            memories=[mapping.memory(one) for one in found[:size]], next_page_token=token
        )

    async def DeleteMemory(
        self, request: memories_pb2.DeleteMemoryRequest, _context: Context
    ) -> memories_pb2.DeleteMemoryResponse:
        """See the contract."""
        await self._memories.delete(self._owner(), request.memory_id.lower())
        return memories_pb2.DeleteMemoryResponse(deleted_count=1)

    async def PutMemoryRelation(
        self, request: memories_pb2.PutMemoryRelationRequest, _context: Context
    ) -> memories_pb2.PutMemoryRelationResponse:
        """See the contract."""
        relation, created = await self._memories.put_relation(
            self._owner(), request.memory_id.lower(), mapping.relation_input(request.relation)
        )
        return memories_pb2.PutMemoryRelationResponse(
            relation=mapping.relation(relation), created=created
        )

    async def DeleteMemoryRelation(
        self, request: memories_pb2.DeleteMemoryRelationRequest, _context: Context
    ) -> memories_pb2.DeleteMemoryRelationResponse:
        """See the contract."""
        deleted = await self._memories.delete_relation(
            self._owner(),
            request.memory_id.lower(),
            request.target_id.lower(),
            request.relation_type,
        )
        return memories_pb2.DeleteMemoryRelationResponse(deleted_count=deleted)

    async def SearchMemories(
        self, request: memories_pb2.SearchMemoriesRequest, _context: Context
    ) -> memories_pb2.SearchMemoriesResponse:
        """See the contract."""
        return mapping.found(await self._search.run(self._owner(), request))

    async def CloseMemorySession(
        self, request: memories_pb2.CloseMemorySessionRequest, _context: Context
    ) -> memories_pb2.CloseMemorySessionResponse:
        """See the contract."""
        closed = await self._sessions.close(self._owner(), request.session_id)
        return memories_pb2.CloseMemorySessionResponse(
            summary=mapping.memory(closed.summary), memory_count=closed.memories
        )

    async def GetMemoryTypes(
        self, _request: memories_pb2.GetMemoryTypesRequest, _context: Context
    ) -> memories_pb2.GetMemoryTypesResponse:
        """See the contract."""
        types = await self._memories.types(current_call().space)
        return memories_pb2.GetMemoryTypesResponse(types=sorted(types))

    async def PutMemoryTypes(
        self, request: memories_pb2.PutMemoryTypesRequest, _context: Context
    ) -> memories_pb2.PutMemoryTypesResponse:
        """See the contract."""
        types = await self._memories.put_types(current_call().space, request.types)
        return memories_pb2.PutMemoryTypesResponse(types=sorted(types))

    async def RunMemoryInference(
        self, request: memories_pb2.RunMemoryInferenceRequest, _context: Context
    ) -> memories_pb2.RunMemoryInferenceResponse:
        """See the contract."""
        limit = min(request.memory_limit or DEFAULT_EXAMINED, MAX_EXAMINED)
        return mapping.inferred(await self._inference.run(self._owner(), limit))

    async def StartMemoryInference(
        self, request: memories_pb2.StartMemoryInferenceRequest, _context: Context
    ) -> memories_pb2.StartMemoryInferenceResponse:
        """See the contract."""
        job = await self._inference_jobs.start(self._owner(), request.memory_limit)
        return memories_pb2.StartMemoryInferenceResponse(job=job_message(job))

    async def GetMemoryStats(
        self, _request: memories_pb2.GetMemoryStatsRequest, _context: Context
    ) -> memories_pb2.GetMemoryStatsResponse:
        """See the contract."""
        with in_partition(self._owner()):
            stats = await self._relations.stats()
        return memories_pb2.GetMemoryStatsResponse(
            memory_count=stats.chunk_count,
            relation_count=stats.relation_count,
            counts_by_type=stats.counts_by_type,
        )

    def _owner(self) -> Owner:
        if not self._names_spaces:
            raise WrongStateError("Memories need BRAID_SERVICE_KEY: see `.env.example`.")
        return owner_of(current_call())

    async def _complete_later(self, owner: Owner) -> None:
        """Starts a job that stores in the graph what it was too busy for. If this fails, a later inference does so."""
        try:
            await self._inference_jobs.start(owner, DEFAULT_EXAMINED)
        except BraidError as error:
            get_logger("memories").warning("no job", cause=type(error).__name__)

    async def _relations_in_time(
        self, owner: Owner, id_: str, *, infer: bool
    ) -> Sequence[Relation] | None:
        """Returns the relations of a stored memory, with inferred ones; None if the graph is too busy."""
        try:
            async with asyncio.timeout(graph_patience()):
                if infer:
                    await self._infer(owner, id_)
                return (await self._memories.relations(owner, id_)).outgoing
        except TimeoutError:
            return None

    async def _infer(self, owner: Owner, id_: str) -> None:
        """Infers relations of a stored memory. If this fails, a later run repeats it."""
        try:
            await self._inference.of_memory(owner, await self._memories.get(owner, id_))
        except BraidError as error:
            get_logger("memories").warning("nothing inferred", cause=type(error).__name__)


def _position(token: str, query: tuple[str, ...]) -> Position:
    if not token:
        return Position()
    create_time, id_ = decode_token(token, query, length=2)
    try:
        return Position(datetime.fromisoformat(create_time).astimezone(UTC), id_)
    except (TypeError, ValueError):
        raise InvalidFieldError(
            FieldError("page_token", "is not a token of this service")
        ) from None
