"""Lists whose pages hold more than their entries, for the asyncio client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from braid.agent.v1 import (
    consistency_pb2,
    consistency_pb2_grpc,
    entity_memory_pb2,
    entity_memory_pb2_grpc,
)
from braid.graph.v1 import findings_pb2, query_pb2_grpc
from braid_client.connection import Connection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Lists(Connection):
    """Part of `AsyncBraid`. `timeout` applies to each page."""

    async def list_findings(
        self,
        *,
        filter: findings_pb2.FindingFilter | None = None,  # noqa: A002 - the contract's name
        page_size: int = 200,
        timeout: float | None = None,
    ) -> AsyncIterator[findings_pb2.Finding]:
        """Lists all findings that match the filter, newest first."""
        request = findings_pb2.SearchFindingsRequest(filter=filter, page_size=page_size)
        stub = query_pb2_grpc.GraphQueryServiceStub
        async for page in self._pages("graph", stub, "SearchFindings", request, timeout):
            for hit in page.hits:
                yield hit.finding

    async def list_quarantined_items(
        self, quarantine_id: str, *, page_size: int = 100, timeout: float | None = None
    ) -> AsyncIterator[consistency_pb2.QuarantinedItem]:
        """Lists all items of a quarantine, in the order of their restoration."""
        request = consistency_pb2.GetQuarantineRequest(
            quarantine_id=quarantine_id, page_size=page_size
        )
        stub = consistency_pb2_grpc.ConsistencyServiceStub
        async for page in self._pages("agent", stub, "GetQuarantine", request, timeout):
            for item in page.items:
                yield item

    async def export_whole_memory(
        self, *, page_size: int = 1_000, timeout: float | None = None
    ) -> AsyncIterator[entity_memory_pb2.ExportUserMemoryResponse]:
        """Streams the pages of all data that is stored about the user."""
        request = entity_memory_pb2.ExportUserMemoryRequest(page_size=page_size)
        stub = entity_memory_pb2_grpc.EntityMemoryServiceStub
        async for page in self._pages("agent", stub, "ExportUserMemory", request, timeout):
            yield page
