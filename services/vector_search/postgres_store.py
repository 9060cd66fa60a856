"""The store in PostgreSQL: combines all features over a pool for reads and one for writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgvector.asyncpg import register_vector

from services.postgres.pool import Pool, PoolLimits
from services.runtime.queries import Queries
from services.vector_search.database import load_queries
from services.vector_search.documents.postgres import PostgresDocuments
from services.vector_search.embedding_models.postgres import PostgresModels, StoredEmbeddings
from services.vector_search.indexing.postgres import PostgresIndexing
from services.vector_search.replicas.monitor import ReplicaMonitor
from services.vector_search.replicas.readers import Readers, Replica
from services.vector_search.search.postgres import PostgresSearch
from services.vector_search.transfer.postgres import PostgresTransfer


class PostgresStore(PostgresSearch, PostgresDocuments, PostgresModels, PostgresIndexing):
    """Implements `Store`, `IndexStore` and `ActivationStore`. Opened by `open`, closed by `close`."""

    def __init__(self, readers: Readers, writers: Pool, probe: Pool, queries: Queries) -> None:
        super().__init__(readers, writers, queries)
        self._probe = probe
        self.transfer = PostgresTransfer(writers, queries)

    @classmethod
    async def open(
        cls,
        *,
        read_url: str,
        write_url: str,
        replica_urls: Sequence[str] = (),
        limits: PoolLimits | None = None,
    ) -> PostgresStore:
        """Creates a store that connects when first used, as the database may become available later.

        `replica_urls` are streaming replicas, used once `monitor` has found that they keep up.
        """
        bounds = limits or PoolLimits()
        readers = await Pool.open(
            read_url, bounds, application="braid-vector-read", prepare=register_vector
        )
        writers = await Pool.open(
            write_url, bounds, application="braid-vector-write", prepare=register_vector
        )
        probe = await Pool.open(read_url, replace(bounds, size=1), application="braid-vector-probe")
        replicas = [
            await _open_replica(str(place), url, bounds)
            for place, url in enumerate(replica_urls, start=1)
        ]
        queries = load_queries()
        return cls(Readers(readers, replicas, queries), writers, probe, queries)

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Returns the pools of reads and the pool of writes, for metrics."""
        replicas = (replica.pool for replica in self._readers.replicas)
        return self._readers.primary, self._writers, *replicas

    def monitor(self, *, max_lag: float) -> ReplicaMonitor:
        """Returns the monitor of the replicas, which the caller runs."""
        return ReplicaMonitor(self._readers, self._probe, self._queries, max_lag=max_lag)

    def query_embeddings(self, max_rows: int) -> StoredEmbeddings:
        """Returns a store of query vectors in the same database; keeps the `max_rows` last used of each space."""
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


async def _open_replica(name: str, url: str, limits: PoolLimits) -> Replica:
    reads = await Pool.open(
        url, limits, application=f"braid-vector-replica-{name}", prepare=register_vector
    )
    probe = await Pool.open(url, replace(limits, size=1), application="braid-vector-probe")
    return Replica(name, reads, probe)
