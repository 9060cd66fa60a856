"""Bringing vectors into the index in PostgreSQL."""

from __future__ import annotations

from services.vector_search.database import Database


class PostgresIndexing(Database):
    """Implements `IndexStore`."""

    async def waiting_vectors(self, space: str, most: int) -> int:
        """See `IndexStore`."""
        async with self._writers.session() as session:
            waiting: int = await session.value(self._queries["waiting_vectors"], space, most)
        return waiting

    async def waiting_spaces(self) -> list[str]:
        """See `IndexStore`."""
        async with self._writers.session() as session:
            rows = await session.fetch(self._queries["waiting_spaces"])
        return [row["space"] for row in rows]

    async def index_vectors(self, space: str, most: int) -> int:
        """See `IndexStore`."""
        async with self._writers.session() as session:
            moved: int = await session.value(self._queries["index_vectors"], space, most)
        return moved
