"""InventoryService: messages in, messages out."""

from __future__ import annotations

from typing import Any, TypeAlias

from braid.vector.v1 import inventory_pb2, inventory_pb2_grpc
from services.runtime.context import current_call
from services.vector_search.store import InventoryStore

Context: TypeAlias = Any

_DEFAULT_PAGE_SIZE = 1000


class InventoryServicer(inventory_pb2_grpc.InventoryServiceServicer):
    """Ids of what the caller's space holds."""

    def __init__(self, store: InventoryStore) -> None:
        self._store = store

    async def ListChunkIds(
        self, request: inventory_pb2.ListChunkIdsRequest, _context: Context
    ) -> inventory_pb2.ListChunkIdsResponse:
        """See the contract."""
        chunks = await self._store.list_chunk_ids(
            current_call().space,
            request.after_chunk_id.lower() or None,
            request.page_size if request.HasField("page_size") else _DEFAULT_PAGE_SIZE,
        )
        return inventory_pb2.ListChunkIdsResponse(
            chunks=(
                inventory_pb2.ChunkRef(chunk_id=chunk.chunk_id, document_id=chunk.document_id)
                for chunk in chunks
            )
        )

    async def FindChunks(
        self, request: inventory_pb2.FindChunksRequest, _context: Context
    ) -> inventory_pb2.FindChunksResponse:
        """See the contract."""
        wanted = sorted({chunk_id.lower() for chunk_id in request.chunk_ids})
        found = await self._store.find_chunks(current_call().space, wanted)
        return inventory_pb2.FindChunksResponse(chunk_ids=found)

    async def FindDocuments(
        self, request: inventory_pb2.FindDocumentsRequest, _context: Context
    ) -> inventory_pb2.FindDocumentsResponse:
        """See the contract."""
        found = await self._store.find_documents(current_call().space, request.document_ids)
        return inventory_pb2.FindDocumentsResponse(document_ids=found)
