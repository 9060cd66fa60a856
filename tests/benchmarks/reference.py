"""The vector tier's own SQL through asyncpg, with which every layer above it is compared."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import asyncpg
import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from deploy.local.stack import LocalStack
from services.vector_search.database import load_queries

POOL = 10
_NO_FUSION, _WEIGHTED = 0, 1


@dataclass(frozen=True, slots=True)
class Reference:
    """Searches a space with the statement `search_chunks`, over a pool as large as the tier's."""

    pool: Any
    statement: str
    space: str

    async def vector(self, values: NDArray[np.float32], model: str, limit: int = 10) -> list[Any]:
        """Returns the rows of a search by vector."""
        return await self._search(None, values, model, limit, _NO_FUSION)

    async def text(self, text: str, limit: int = 10) -> list[Any]:
        """Returns the rows of a search by words."""
        return await self._search(text, None, None, limit, _NO_FUSION)

    async def hybrid(
        self, text: str, values: NDArray[np.float32], model: str, limit: int = 10
    ) -> list[Any]:
        """Returns the rows of a fused search with the default weight."""
        return await self._search(text, values, model, limit, _WEIGHTED)

    async def _search(
        self,
        text: str | None,
        values: NDArray[np.float32] | None,
        model: str | None,
        limit: int,
        fusion: int,
    ) -> list[Any]:
        given = None if values is None else HalfVector(values)
        rows: list[Any] = await self.pool.fetch(
            self.statement,
            *(self.space, text, given, model, limit, 0.3, fusion),
            *(None, None, None, None),
        )
        return [row for row in rows if row["id"] is not None]


@contextlib.asynccontextmanager
async def reference(
    stack: LocalStack, space: str = "local", role: str = "braid_reader"
) -> AsyncIterator[Reference]:
    """Opens a pool to the stack's vector database, by default with the reader role."""
    statement = load_queries()["search_chunks"].text
    pool = await asyncpg.create_pool(
        stack.stores.postgres.dsn(role),
        min_size=POOL,
        max_size=POOL,
        init=register_vector,
        reset=_keep,
        server_settings={"jit": "off"},
    )
    try:
        yield Reference(pool, statement, space)
    finally:
        pool.terminate()


async def _keep(_connection: object) -> None:
    """Does nothing, because the tier's pool does not reset sessions either."""
