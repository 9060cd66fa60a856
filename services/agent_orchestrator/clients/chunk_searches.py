"""Searches of chunks by meaning, by words or by both, for callers that fail if the tier fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc

from braid.vector.v1 import search_pb2, search_pb2_grpc
from services.agent_orchestrator.clients.calls import Calls

if TYPE_CHECKING:
    from services.runtime.channels import OutgoingMetadata


class ChunkSearches:
    """Searches of `vector_search` on behalf of the current call. Failures are `BraidError`s."""

    def __init__(
        self, channel: grpc.aio.Channel, outgoing: OutgoingMetadata, *, seconds: float
    ) -> None:
        self._search = search_pb2_grpc.VectorSearchServiceStub(channel)
        self._calls = Calls(outgoing, seconds)

    async def hybrid(
        self, request: search_pb2.HybridSearchRequest
    ) -> search_pb2.HybridSearchResponse:
        """Searches chunks by meaning and words."""
        return await self._calls.call(self._search.HybridSearch, request)

    async def vector(
        self, request: search_pb2.VectorSearchRequest
    ) -> search_pb2.VectorSearchResponse:
        """Searches chunks by meaning."""
        return await self._calls.call(self._search.VectorSearch, request)

    async def text(self, request: search_pb2.TextSearchRequest) -> search_pb2.TextSearchResponse:
        """Searches chunks by words."""
        return await self._calls.call(self._search.TextSearch, request)
