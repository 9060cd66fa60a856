"""Adds vectors to the index in PostgreSQL."""

from __future__ import annotations

from services.vector_search.database import Database


class PostgresIndexing(Database):
    """Implements `IndexStore`."""

    async def unindexed_count(self, space: str, limit: int) -> int:
        """See `IndexStore`."""
        async with self._writers.session() as session:
            waiting: int = await session.value(self._queries["unindexed_count"], space, limit)
        return waiting

    async def spaces_to_index(self) -> list[str]:
        """See `IndexStore`."""
        async with self._writers.session() as session:
            rows = await session.fetch(self._queries["spaces_to_index"])
        return [row["space"] for row in rows]

    async def index_vectors(self, space: str, limit: int) -> int:
        """See `IndexStore`."""
        async with self._writers.session() as session:
            moved: int = await session.value(self._queries["index_vectors"], space, limit)
        return moved
