"""Typed memories and the relations between them, for the asyncio client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf.struct_pb2 import Struct

from braid.agent.v1 import memories_pb2, memories_pb2_grpc
from braid.common.v1.reranking_pb2 import RERANK_MODE_UNSPECIFIED
from braid.graph.v1.relations_pb2 import ChunkRelationType
from braid_client.connection import Connection
from braid_client.requests import cache_mode, timestamp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
    from datetime import datetime

    from braid.agent.v1 import jobs_pb2
    from braid.common.v1.expansion_pb2 import ExpansionOptions
    from braid.common.v1.reranking_pb2 import RerankMode
    from braid.common.v1.retrieval_pb2 import CacheMode

_TYPE = "CHUNK_RELATION_TYPE_"


class Memories(Connection):
    """Part of `AsyncBraid`."""

    async def create_memory(
        self,
        content: str,
        *,
        type: str = "",  # noqa: A002 - the contract's name
        title: str = "",
        tags: Sequence[str] = (),
        importance: float | None = None,
        session_id: str = "",
        metadata: Mapping[str, Any] | None = None,
        relations: Iterable[tuple[str, str]] = (),
        infer: bool = True,
        timeout: float | None = None,
    ) -> memories_pb2.CreateMemoryResponse:
        """Stores a memory; when this returns, searches find it and follow its relations.

        `relations` are pairs of a relation type, such as "FIXES", and the id of the target memory.
        """
        known = Struct()
        known.update(dict(metadata or {}))
        request = memories_pb2.CreateMemoryRequest(
            type=type,
            title=title,
            content=content,
            tags=tags,
            importance=importance,
            session_id=session_id,
            metadata=known if metadata else None,
            relations=[_relation(kind, target) for kind, target in relations],
            skip_inference=not infer,
        )
        with self._typed_errors(timeout):
            return await self._memories().CreateMemory(request, **self._options(timeout))

    async def get_memory(
        self, memory_id: str, *, timeout: float | None = None
    ) -> memories_pb2.GetMemoryResponse:
        """Returns a memory with its relations. NOT_FOUND if the caller has no memory with this id."""
        request = memories_pb2.GetMemoryRequest(memory_id=memory_id)
        with self._typed_errors(timeout):
            return await self._memories().GetMemory(request, **self._options(timeout))

    async def list_memories(
        self,
        *,
        types: Sequence[str] = (),
        session_id: str = "",
        page_size: int = 200,
        timeout: float | None = None,
    ) -> AsyncIterator[memories_pb2.Memory]:
        """Lists the caller's memories, newest first; `timeout` applies to each page."""
        token = ""
        while True:
            request = memories_pb2.ListMemoriesRequest(
                types=types, session_id=session_id, page_size=page_size, page_token=token
            )
            with self._typed_errors(timeout):
                page = await self._memories().ListMemories(request, **self._options(timeout))
            for memory in page.memories:
                yield memory
            token = page.next_page_token
            if not token:
                return

    async def delete_memory(self, memory_id: str, *, timeout: float | None = None) -> None:
        """Removes a memory and its relations. NOT_FOUND if the caller has no memory with this id."""
        request = memories_pb2.DeleteMemoryRequest(memory_id=memory_id)
        with self._typed_errors(timeout):
            await self._memories().DeleteMemory(request, **self._options(timeout))

    async def relate_memories(
        self,
        memory_id: str,
        relation_type: str,
        target_id: str,
        *,
        strength: float | None = None,
        valid_time: datetime | None = None,
        invalid_time: datetime | None = None,
        timeout: float | None = None,
    ) -> memories_pb2.MemoryRelation:
        """Stores a relation such as "FIXES", or changes the existing one. Raises ValueError for an unknown type."""
        relation = _relation(relation_type, target_id)
        request = memories_pb2.PutMemoryRelationRequest(
            memory_id=memory_id,
            relation=memories_pb2.MemoryRelationInput(
                target_id=relation.target_id,
                relation_type=relation.relation_type,
                strength=strength,
                valid_time=timestamp(valid_time),
                invalid_time=timestamp(invalid_time),
            ),
        )
        with self._typed_errors(timeout):
            answer = await self._memories().PutMemoryRelation(request, **self._options(timeout))
        return answer.relation

    async def unrelate_memories(
        self,
        memory_id: str,
        target_id: str,
        *,
        relation_type: str | None = None,
        timeout: float | None = None,
    ) -> int:
        """Removes relations to another memory, of one type or all; returns their number. NOT_FOUND if none exist."""
        request = memories_pb2.DeleteMemoryRelationRequest(
            memory_id=memory_id,
            target_id=target_id,
            relation_type=_relation_type(relation_type or "unspecified"),
        )
        with self._typed_errors(timeout):
            answer = await self._memories().DeleteMemoryRelation(request, **self._options(timeout))
        return answer.deleted_count

    async def search_memories(
        self,
        query: str,
        *,
        limit: int | None = None,
        mode: memories_pb2.MemorySearchMode.ValueType = memories_pb2.MEMORY_SEARCH_MODE_HYBRID,
        types: Sequence[str] = (),
        tags: Sequence[str] = (),
        session_id: str = "",
        min_score: float | None = None,
        cache: CacheMode.ValueType | None = None,
        rerank: RerankMode.ValueType = RERANK_MODE_UNSPECIFIED,
        expansion: ExpansionOptions | None = None,
        keep_ranking: bool = False,
        timeout: float | None = None,
    ) -> memories_pb2.SearchMemoriesResponse:
        """Finds memories that answer a question, expanded along relations if `expansion` has the mode FORMULA."""
        request = memories_pb2.SearchMemoriesRequest(
            query=query,
            limit=limit,
            mode=mode,
            types=types,
            tags=tags,
            session_id=session_id,
            min_score=min_score,
            cache=cache_mode(cache),
            rerank=rerank,
            expansion=expansion,
            keep_ranking=keep_ranking,
        )
        with self._typed_errors(timeout):
            return await self._memories().SearchMemories(request, **self._options(timeout))

    async def close_memory_session(
        self, session_id: str, *, timeout: float | None = None
    ) -> memories_pb2.Memory:
        """Closes a session; returns the summary of its memories. NOT_FOUND if it has no memories."""
        request = memories_pb2.CloseMemorySessionRequest(session_id=session_id)
        with self._typed_errors(timeout):
            answer = await self._memories().CloseMemorySession(request, **self._options(timeout))
        return answer.summary

    async def memory_types(self, *, timeout: float | None = None) -> list[str]:
        """Returns the types that memories of the space may have."""
        request = memories_pb2.GetMemoryTypesRequest()
        with self._typed_errors(timeout):
            answer = await self._memories().GetMemoryTypes(request, **self._options(timeout))
        return list(answer.types)

    async def put_memory_types(
        self, types: Sequence[str], *, timeout: float | None = None
    ) -> list[str]:
        """Replaces the types for new memories; returns the new types."""
        request = memories_pb2.PutMemoryTypesRequest(types=types)
        with self._typed_errors(timeout):
            answer = await self._memories().PutMemoryTypes(request, **self._options(timeout))
        return list(answer.types)

    async def run_memory_inference(
        self, *, memory_limit: int = 0, timeout: float | None = None
    ) -> memories_pb2.RunMemoryInferenceResponse:
        """Infers relations between the caller's newest memories, and removes inferred ones without evidence."""
        request = memories_pb2.RunMemoryInferenceRequest(memory_limit=memory_limit)
        with self._typed_errors(timeout):
            return await self._memories().RunMemoryInference(request, **self._options(timeout))

    async def start_memory_inference(
        self, *, memory_limit: int = 0, timeout: float | None = None
    ) -> jobs_pb2.Job:
        """Starts the inference as a job, by default for all memories; returns the waiting or running job if any."""
        request = memories_pb2.StartMemoryInferenceRequest(memory_limit=memory_limit)
        with self._typed_errors(timeout):
            answer = await self._memories().StartMemoryInference(request, **self._options(timeout))
        return answer.job

    async def memory_stats(
        self, *, timeout: float | None = None
    ) -> memories_pb2.GetMemoryStatsResponse:
        """Returns counts of the caller's memories and the relations between them."""
        request = memories_pb2.GetMemoryStatsRequest()
        with self._typed_errors(timeout):
            return await self._memories().GetMemoryStats(request, **self._options(timeout))

    def _memories(self) -> memories_pb2_grpc.MemoryServiceStub:
        return memories_pb2_grpc.MemoryServiceStub(self._channel("agent"))


def _relation(kind: str, target: str) -> memories_pb2.MemoryRelationInput:
    return memories_pb2.MemoryRelationInput(target_id=target, relation_type=_relation_type(kind))


def _relation_type(name: str) -> ChunkRelationType.ValueType:
    """Returns the type with this name. Raises ValueError for an unknown name."""
    return ChunkRelationType.Value(f"{_TYPE}{name.upper()}")
