"""Vectors of queries in PostgreSQL: they outlive a process, and every replica finds them."""

from __future__ import annotations

import numpy as np

from services.models.vectors import Matrix
from services.postgres.pool import Pool
from services.runtime.context import current_call
from services.runtime.queries import Queries

_FLOAT = np.dtype("<f4")


class StoredEmbeddings:
    """Implements `EmbeddingStore` within the current call's space: what one tenant asks tells another nothing."""

    def __init__(self, pool: Pool, queries: Queries, most: int) -> None:
        """Keeps the `most` vectors of each space that were used last, at least 1."""
        self._pool = pool
        self._queries = queries
        self._most = most

    async def recall(self, digest: bytes) -> Matrix | None:
        """See `EmbeddingStore`."""
        async with self._pool.session() as session:
            found = await session.value(
                self._queries["recall_embedding"], current_call().space, digest
            )
        return None if found is None else np.frombuffer(found, _FLOAT)

    async def remember(self, digest: bytes, row: Matrix) -> None:
        """See `EmbeddingStore`."""
        async with self._pool.session() as session:
            await session.execute(
                self._queries["remember_embedding"],
                current_call().space,
                digest,
                row.astype(_FLOAT).tobytes(),
                self._most - 1,
            )
