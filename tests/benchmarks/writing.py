"""Writes the rows of documents directly with the tier's own statements, in one transaction.

Unlike the tier, which queues vectors, it inserts them directly into the index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pgvector import HalfVector

from services.runtime.ids import chunk_id, content_sha256
from services.runtime.queries import Queries
from services.vector_search.database import load_queries
from tests.benchmarks.command import MeasureError
from tests.benchmarks.loading import Passage

_INTO_THE_INDEX = """
insert into embedding_{model_id} (space, chunk_id, current, embedding)
select $1, u.* from unnest($2::uuid[], $3::boolean[], $4::halfvec[]) as u (chunk_id, current, embedding)"""


@dataclass(frozen=True, slots=True)
class DirectWriter:
    """Stores new passages in a space that exists already, as does its model."""

    pool: Any
    queries: Queries
    space: str
    model_id: int

    @classmethod
    async def open(cls, pool: Any, space: str, model: str) -> DirectWriter:
        """Opens a writer for a space that the tier has written to. Raises MeasureError if the model does not exist."""
        model_id = await pool.fetchval("select id from model where name = $1", model)
        if model_id is None:
            raise MeasureError(f"the model {model} is not stored")
        return cls(pool, load_queries(), space, model_id)

    async def write(self, passages: Sequence[Passage]) -> None:
        """Writes in one transaction, with the tier's order of locks."""
        async with self.pool.acquire() as connection, connection.transaction():
            await self._run(connection, "lock_documents", sorted(each.id for each in passages))
            made = await self._chunks(connection, passages)
            await self._versions(connection, passages)
            ones = [1] * len(made)
            await self._run(connection, "count_terms", [row["id"] for row in made], ones, ones)
            await self._run(connection, "lock_space")
            total = sum(row["length"] for row in made)
            await self._run(connection, "count_space", len(passages), len(made), len(made), total)

    async def _chunks(self, connection: Any, passages: Sequence[Passage]) -> list[Any]:
        ids = self._ids(passages)
        made = await self._run(
            connection,
            "insert_chunks",
            ids,
            [each.id for each in passages],
            [each.title for each in passages],
            [each.text for each in passages],
            [True] * len(passages),
        )
        vectors = [HalfVector(each.vector) for each in passages if each.vector is not None]
        statement = _INTO_THE_INDEX.format(model_id=self.model_id)
        await connection.execute(statement, self.space, ids, [True] * len(passages), vectors)
        return made

    async def _versions(self, connection: Any, passages: Sequence[Passage]) -> None:
        now, count = datetime.now(UTC), len(passages)
        owners = [each.id for each in passages]
        await self._run(
            connection,
            "insert_versions",
            *(owners, [1] * count, [now] * count, [None] * count),
            [content_sha256(each.text) for each in passages],
            [each.title for each in passages],
            *([""] * count, ["{}"] * count, [1] * count, now),
        )
        await self._run(
            connection,
            "insert_version_chunks",
            *(owners, [1] * count, [0] * count, self._ids(passages), [0] * count),
            [len(each.text) for each in passages],
            *([0] * count, [None] * count),
        )

    def _ids(self, passages: Sequence[Passage]) -> list[str]:
        return [chunk_id(self.space, each.id, content_sha256(each.text), 0) for each in passages]

    async def _run(self, connection: Any, query: str, *arguments: object) -> list[Any]:
        rows: list[Any] = await connection.fetch(self.queries[query].text, self.space, *arguments)
        return rows
