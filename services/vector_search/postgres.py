"""The store in PostgreSQL: one object for all rooms, on a pool for reads and one for writes."""

from __future__ import annotations

from dataclasses import replace

from pgvector.asyncpg import register_vector

from services.postgres.pool import Pool, PoolLimits
from services.runtime.queries import Queries
from services.vector_search.database import load_queries
from services.vector_search.documents.postgres import PostgresDocuments
from services.vector_search.indexing.postgres import PostgresIndexing
from services.vector_search.models.postgres import PostgresModels, StoredEmbeddings
from services.vector_search.search.postgres import PostgresSearch


class PostgresStore(PostgresSearch, PostgresDocuments, PostgresModels, PostgresIndexing):
    """Implements `Store`, `IndexStore` and `ActivationStore`. Opened by `open`, closed by `close`."""

    def __init__(self, readers: Pool, writers: Pool, probe: Pool, queries: Queries) -> None:
        super().__init__(readers, writers, queries)
        self._probe = probe

    @classmethod
    async def open(
        cls, *, read_url: str, write_url: str, limits: PoolLimits | None = None
    ) -> PostgresStore:
        """A store that connects when it is first used: the database may come up later."""
        bounds = limits or PoolLimits()
        readers = await Pool.open(
            read_url, bounds, application="braid-vector-read", prepare=register_vector
        )
        writers = await Pool.open(
            write_url, bounds, application="braid-vector-write", prepare=register_vector
        )
        probe = await Pool.open(read_url, replace(bounds, size=1), application="braid-vector-probe")
        return cls(readers, writers, probe, load_queries())

    @property
    def pools(self) -> tuple[Pool, Pool]:
        """The pool of reads and that of writes, for metrics."""
        return self._readers, self._writers

    def query_embeddings(self, max_rows: int) -> StoredEmbeddings:
        """Vectors of queries in the same database: the `max_rows` of each space that were used last."""
        return StoredEmbeddings(self._writers, self._queries, max_rows)

    async def ping(self) -> None:
        """Reads the schema's number through a connection of its own, so that it never queues behind calls."""
        async with self._probe.session() as session:
            await session.value(self._queries["ping"])

    async def close(self) -> None:
        """Closes all connections."""
        await self._readers.close()
        await self._writers.close()
        await self._probe.close()
