"""Reads and writes what both tiers have of a space, for archives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import grpc

from braid.common.v1 import space_rows_pb2
from braid.graph.internal.v1 import inventory_pb2 as graph_inventory_pb2
from braid.graph.internal.v1 import inventory_pb2_grpc as graph_inventory_grpc
from braid.graph.internal.v1 import transfer_pb2 as graph_transfer_pb2
from braid.graph.internal.v1 import transfer_pb2_grpc as graph_transfer_grpc
from braid.vector.internal.v1 import transfer_pb2, transfer_pb2_grpc
from braid.vector.v1 import documents_pb2, documents_pb2_grpc
from services.agent_orchestrator.clients.calls import Calls
from services.runtime.channels import OutgoingMetadata

# A page may take several times as long as a batch of writes.
_PATIENCE = 5


class TransferPage(NamedTuple):
    """Rows of one kind, the token of the next page ("" after the last), and the revision before they were read."""

    kind: str
    rows: Sequence[str]
    next_page_token: str
    revision: int


class TransferTiers:
    """Calls both tiers on behalf of the current call. Failures are `BraidError`s."""

    def __init__(
        self,
        vector: grpc.aio.Channel,
        graph: grpc.aio.Channel,
        outgoing: OutgoingMetadata,
        *,
        read_seconds: float,
        write_seconds: float,
    ) -> None:
        self._vector = transfer_pb2_grpc.VectorTransferServiceStub(vector)
        self._graph = graph_transfer_grpc.GraphTransferServiceStub(graph)
        self._documents = documents_pb2_grpc.DocumentServiceStub(vector)
        self._inventory = graph_inventory_grpc.GraphInventoryServiceStub(graph)
        self._reads = Calls(outgoing, read_seconds)
        self._writes = Calls(outgoing, write_seconds)

    async def revisions(self) -> tuple[int, int]:
        """Returns the space's revisions in the vector tier and in the graph tier."""
        stats = await self._reads.call(
            self._documents.GetVectorStats, documents_pb2.GetVectorStatsRequest()
        )
        state = await self._reads.call(
            self._inventory.GetGraphState, graph_inventory_pb2.GetGraphStateRequest()
        )
        return stats.space_revision, state.space_revision

    async def read_vector(self, page_token: str) -> TransferPage:
        """Returns a page of the vector tier's rows."""
        page = await self._reads.call(
            self._vector.ListVectorRows,
            transfer_pb2.ListVectorRowsRequest(page_token=page_token),
            patience=_PATIENCE,
        )
        return _page(page)

    async def read_graph(self, page_token: str) -> TransferPage:
        """Returns a page of the graph tier's rows."""
        page = await self._reads.call(
            self._graph.ListGraphRows,
            graph_transfer_pb2.ListGraphRowsRequest(page_token=page_token),
            patience=_PATIENCE,
        )
        return _page(page)

    async def write_vector(self, page: space_rows_pb2.SpaceRows) -> None:
        """Stores rows in the vector tier, except those that exist."""
        request = transfer_pb2.PutVectorRowsRequest(page=page)
        await self._writes.call(self._vector.PutVectorRows, request, patience=_PATIENCE)

    async def write_graph(
        self, import_id: str, number: int, page: space_rows_pb2.SpaceRows
    ) -> None:
        """Stores page `number` of an import in the graph tier, once."""
        request = graph_transfer_pb2.PutGraphRowsRequest(
            import_id=import_id, number=number, page=page
        )
        await self._writes.call(self._graph.PutGraphRows, request, patience=_PATIENCE)


def _page(
    answer: transfer_pb2.ListVectorRowsResponse | graph_transfer_pb2.ListGraphRowsResponse,
) -> TransferPage:
    page = answer.page
    return TransferPage(page.kind, page.rows, answer.next_page_token, answer.space_revision)
