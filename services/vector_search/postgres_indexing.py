"""Bringing vectors into the index in PostgreSQL."""

from __future__ import annotations

from services.postgres.pool import Pool
from services.runtime.queries import Queries


class PostgresIndexing:
    """Implements `IndexStore`."""

    def __init__(self, pool: Pool, queries: Queries) -> None:
        self._index_pool = pool
        self._index_queries = queries

    async def waiting_vectors(self, space: str, most: int) -> int:
        """See `IndexStore`."""
        async with self._index_pool.session() as session:
            waiting: int = await session.value(self._index_queries["waiting_vectors"], space, most)
        return waiting

    async def waiting_spaces(self) -> list[str]:
        """See `IndexStore`."""
        async with self._index_pool.session() as session:
            rows = await session.fetch(self._index_queries["waiting_spaces"])
        return [row["space"] for row in rows]

    async def index_vectors(self, space: str, most: int) -> int:
        """See `IndexStore`."""
        async with self._index_pool.session() as session:
            moved: int = await session.value(self._index_queries["index_vectors"], space, most)
        return moved
