"""VectorTransferService: maps messages to the store and back."""

from __future__ import annotations

from typing import Any, TypeAlias

from braid.common.v1 import space_rows_pb2
from braid.vector.internal.v1 import transfer_pb2, transfer_pb2_grpc
from services.runtime.context import current_call
from services.runtime.space_rows import place_of, token_of
from services.vector_search.store import TransferStore

Context: TypeAlias = Any


class TransferServicer(transfer_pb2_grpc.VectorTransferServiceServicer):
    """Exports and imports the caller's space."""

    def __init__(self, transfer: TransferStore) -> None:
        self._transfer = transfer

    async def ListVectorRows(
        self, request: transfer_pb2.ListVectorRowsRequest, _context: Context
    ) -> transfer_pb2.ListVectorRowsResponse:
        """See the contract."""
        space = current_call().space
        query = ("vector-rows", space)
        found = await self._transfer.read(space, place_of(request.page_token, query))
        return transfer_pb2.ListVectorRowsResponse(
            page=space_rows_pb2.SpaceRows(kind=found.kind, rows=found.rows),
            next_page_token=token_of(found.next, query),
            space_revision=found.revision,
        )

    async def PutVectorRows(
        self, request: transfer_pb2.PutVectorRowsRequest, _context: Context
    ) -> transfer_pb2.PutVectorRowsResponse:
        """See the contract."""
        page = request.page
        await self._transfer.write(current_call().space, page.kind, list(page.rows))
        return transfer_pb2.PutVectorRowsResponse()
