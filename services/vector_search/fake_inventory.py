"""What a space holds, by id alone, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from services.vector_search.domain import ChunkRef
from services.vector_search.fake_space import Space


class FakeInventory:
    """The part of the in-memory store that lists ids."""

    def __init__(self) -> None:
        self._spaces: dict[str, Space] = {}

    async def list_chunk_ids(self, space: str, after: str | None, limit: int) -> list[ChunkRef]:
        """See `InventoryStore`."""
        chunks = self._space(space).chunks
        keys = sorted(key for key in chunks if after is None or key > after)
        return [ChunkRef(key, chunks[key].document_id) for key in keys[:limit]]

    async def find_chunks(self, space: str, chunk_ids: Sequence[str]) -> list[str]:
        """See `InventoryStore`."""
        return sorted(set(chunk_ids) & self._space(space).chunks.keys())

    async def find_documents(self, space: str, document_ids: Sequence[str]) -> list[str]:
        """See `InventoryStore`."""
        return sorted(set(document_ids) & self._space(space).documents.keys())

    def _space(self, space: str) -> Space:
        return self._spaces.get(space) or Space()
