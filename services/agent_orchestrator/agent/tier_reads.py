"""The agent tools' read calls to the tiers, through the same contracts as every other caller."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import grpc

from braid.graph.v1 import query_pb2_grpc
from braid.vector.v1 import search_pb2_grpc
from services.agent_orchestrator.clients.health_watch import TierUnavailableError
from services.runtime.context import remaining
from services.runtime.errors import BraidError, OverloadedError, StoreUnavailableError
from services.runtime.status import error_from_rpc

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from braid.graph.v1 import entities_pb2, findings_pb2, history_pb2, query_pb2
    from braid.vector.v1 import search_pb2
    from services.agent_orchestrator.clients.health_watch import HealthWatch
    from services.runtime.channels import OutgoingMetadata

Answer = TypeVar("Answer")
Call: TypeAlias = Callable[..., "grpc.aio.UnaryUnaryCall[Any, Answer]"]

OVERLOAD_ATTEMPTS = 6
_CALLS_AT_ONCE = 8


class TierReads:
    """Calls the tiers for the current call. Failures are `BraidError`s; overload is retried until the deadline.

    A tier known to be unavailable is not called; a running call is cancelled once its tier becomes unavailable.
    """

    def __init__(
        self,
        vector: grpc.aio.Channel,
        graph: grpc.aio.Channel,
        outgoing: OutgoingMetadata,
        vector_health: HealthWatch,
        graph_health: HealthWatch,
        *,
        seconds: float,
        calls_at_once: int = _CALLS_AT_ONCE,
    ) -> None:
        """`seconds` bounds one call including retries; `calls_at_once` bounds the concurrent calls of all runs."""
        self._chunks = search_pb2_grpc.VectorSearchServiceStub(vector)
        self._graph = query_pb2_grpc.GraphQueryServiceStub(graph)
        self._outgoing = outgoing
        self._vector_health = vector_health
        self._graph_health = graph_health
        self._seconds = seconds
        self._slots = asyncio.Semaphore(calls_at_once)

    async def vector_search(
        self, request: search_pb2.VectorSearchRequest
    ) -> search_pb2.VectorSearchResponse:
        """Searches chunks by meaning."""
        return await self._call(self._vector_health, self._chunks.VectorSearch, request)

    async def hybrid_search(
        self, request: search_pb2.HybridSearchRequest
    ) -> search_pb2.HybridSearchResponse:
        """Searches chunks by meaning and words."""
        return await self._call(self._vector_health, self._chunks.HybridSearch, request)

    async def search_facts(
        self, request: query_pb2.SearchFactsRequest
    ) -> query_pb2.SearchFactsResponse:
        """Searches facts for a question."""
        return await self._call(self._graph_health, self._graph.SearchFacts, request)

    async def get_entity(
        self, request: entities_pb2.GetEntityRequest
    ) -> entities_pb2.GetEntityResponse:
        """Returns the entities with a name."""
        return await self._call(self._graph_health, self._graph.GetEntity, request)

    async def link_entities(
        self, request: entities_pb2.LinkEntitiesRequest
    ) -> entities_pb2.LinkEntitiesResponse:
        """Returns the entities that a text names."""
        return await self._call(self._graph_health, self._graph.LinkEntities, request)

    async def get_entity_history(
        self, request: history_pb2.GetEntityHistoryRequest
    ) -> history_pb2.GetEntityHistoryResponse:
        """Returns an entity's facts in time order."""
        return await self._call(self._graph_health, self._graph.GetEntityHistory, request)

    async def get_snapshot(
        self, request: history_pb2.GetSnapshotRequest
    ) -> history_pb2.GetSnapshotResponse:
        """Returns the facts that were true at a time."""
        return await self._call(self._graph_health, self._graph.GetSnapshot, request)

    async def diff_graph(
        self, request: history_pb2.DiffGraphRequest
    ) -> history_pb2.DiffGraphResponse:
        """Returns the differences between two times."""
        return await self._call(self._graph_health, self._graph.DiffGraph, request)

    async def get_graph_stats(
        self, request: query_pb2.GetGraphStatsRequest
    ) -> query_pb2.GetGraphStatsResponse:
        """Returns counts of the graph."""
        return await self._call(self._graph_health, self._graph.GetGraphStats, request)

    async def get_chunks(
        self, request: search_pb2.GetChunksRequest
    ) -> search_pb2.GetChunksResponse:
        """Returns chunks by id."""
        return await self._call(self._vector_health, self._chunks.GetChunks, request)

    async def search_findings(
        self, request: findings_pb2.SearchFindingsRequest
    ) -> findings_pb2.SearchFindingsResponse:
        """Searches findings, intents and outcomes."""
        return await self._call(self._graph_health, self._graph.SearchFindings, request)

    async def patiently(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """Runs a search within the concurrency limit and deadline; retries it if it is refused for overload."""
        loop = asyncio.get_running_loop()
        until = loop.time() + remaining(self._seconds)
        async with self._slots:
            for _ in range(OVERLOAD_ATTEMPTS - 1):
                try:
                    return await call()
                except BraidError as busy:
                    wait = busy.retry_after or 0.2
                    if busy.reason != OverloadedError.reason or loop.time() + wait >= until:
                        raise
                    await asyncio.sleep(wait)
            return await call()

    async def _call(self, health: HealthWatch, stub: Call[Answer], request: Message) -> Answer:
        return await self.patiently(lambda: self._once(health, stub, request))

    async def _once(self, health: HealthWatch, stub: Call[Answer], request: Message) -> Answer:
        seconds, metadata = remaining(self._seconds), self._outgoing.metadata()
        try:
            answer = await health.watch(lambda: stub(request, timeout=seconds, metadata=metadata))
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from None
        except TierUnavailableError:
            raise StoreUnavailableError("tier") from None
        if answer is None:  # gRPC returns None if it could not parse the answer
            raise StoreUnavailableError("tier")
        return answer
