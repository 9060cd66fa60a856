"""What a space holds, by id alone, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from services.postgres.pool import Pool
from services.runtime.queries import Queries
from services.vector_search.domain import ChunkRef


class PostgresInventory:
    """The part of the store that lists ids. It reads where writes go: a replica may lag behind the graph."""

    def __init__(self, pool: Pool, queries: Queries) -> None:
        self._inventory_pool = pool
        self._inventory_queries = queries

    async def list_chunk_ids(self, space: str, after: str | None, limit: int) -> list[ChunkRef]:
        """See `InventoryStore`."""
        async with self._inventory_pool.session() as session:
            rows = await session.fetch(
                self._inventory_queries["list_chunk_ids"], space, after, limit
            )
        return [ChunkRef(str(row["id"]), row["document_id"]) for row in rows]

    async def find_chunks(self, space: str, chunk_ids: Sequence[str]) -> list[str]:
        """See `InventoryStore`."""
        async with self._inventory_pool.session() as session:
            rows = await session.fetch(
                self._inventory_queries["find_chunks"], space, list(chunk_ids)
            )
        return [str(row["id"]) for row in rows]

    async def find_documents(self, space: str, document_ids: Sequence[str]) -> list[str]:
        """See `InventoryStore`."""
        async with self._inventory_pool.session() as session:
            rows = await session.fetch(
                self._inventory_queries["find_documents"], space, list(document_ids)
            )
        return [row["document_id"] for row in rows]
