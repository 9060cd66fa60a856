"""GraphTransferService: maps messages to the store and back."""

from __future__ import annotations

from typing import Any, TypeAlias

from braid.common.v1 import space_rows_pb2
from braid.graph.internal.v1 import transfer_pb2, transfer_pb2_grpc
from services.graph_query.transfer.neo4j_store import TransferStore
from services.runtime.context import current_call
from services.runtime.space_rows import place_of, token_of

Context: TypeAlias = Any


class GraphTransferServicer(transfer_pb2_grpc.GraphTransferServiceServicer):
    """Exports and imports the graph of the caller's space."""

    def __init__(self, store: TransferStore) -> None:
        self._store = store

    async def ListGraphRows(
        self, request: transfer_pb2.ListGraphRowsRequest, _context: Context
    ) -> transfer_pb2.ListGraphRowsResponse:
        """See the contract."""
        space = current_call().space
        query = ("graph-rows", space)
        found = await self._store.read(space, place_of(request.page_token, query))
        return transfer_pb2.ListGraphRowsResponse(
            page=space_rows_pb2.SpaceRows(kind=found.kind, rows=found.rows),
            next_page_token=token_of(found.next, query),
            space_revision=found.revision,
        )

    async def PutGraphRows(
        self, request: transfer_pb2.PutGraphRowsRequest, _context: Context
    ) -> transfer_pb2.PutGraphRowsResponse:
        """See the contract."""
        page = request.page
        await self._store.write(
            current_call().space, request.import_id, request.number, page.kind, list(page.rows)
        )
        return transfer_pb2.PutGraphRowsResponse()
