"""The store in PostgreSQL: searches on the readers' pool, writes on the writers'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pgvector.asyncpg import register_vector

from services.postgres.pool import Pool, PoolLimits
from services.runtime.errors import NotFoundError, WrongStateError
from services.runtime.queries import Queries
from services.vector_search.domain import (
    Deletion,
    Model,
    NewDocument,
    SpaceStats,
    TextLanguage,
    WriteResult,
)
from services.vector_search.postgres_delete import DocumentDeletion
from services.vector_search.postgres_embeddings import StoredEmbeddings
from services.vector_search.postgres_indexing import PostgresIndexing
from services.vector_search.postgres_inventory import PostgresInventory
from services.vector_search.postgres_models import PostgresModels
from services.vector_search.postgres_search import PostgresReads
from services.vector_search.postgres_write import DocumentWrite, open_space
from services.vector_search.store import LANGUAGE_IN_USE


def load_queries() -> Queries:
    """The tier's named queries."""
    return Queries.load("services.vector_search", "sql", ".sql")


class PostgresStore(PostgresReads, PostgresModels, PostgresInventory, PostgresIndexing):
    """Implements `Store`, `IndexStore` and `SettlingStore`. Opened by `open`, closed by `close`."""

    def __init__(self, readers: Pool, writers: Pool, probed: Pool, queries: Queries) -> None:
        PostgresReads.__init__(self, readers, probed, queries)
        PostgresModels.__init__(self, writers, queries)
        PostgresInventory.__init__(self, writers, queries)
        PostgresIndexing.__init__(self, writers, queries)
        self._readers = readers
        self._writers = writers

    @classmethod
    async def open(
        cls, *, read_url: str, write_url: str, limits: PoolLimits | None = None
    ) -> PostgresStore:
        """A store on two pools, and a connection for its probe. Does not connect: the database may come up later."""
        bounds = limits or PoolLimits()
        readers = await Pool.open(
            read_url, bounds, application="braid-vector-read", prepare=register_vector
        )
        writers = await Pool.open(
            write_url, bounds, application="braid-vector-write", prepare=register_vector
        )
        probed = await Pool.open(
            read_url, replace(bounds, size=1), application="braid-vector-probe"
        )
        return cls(readers, writers, probed, load_queries())

    @property
    def pools(self) -> tuple[Pool, Pool]:
        """The pool of reads and that of writes, to be measured."""
        return self._readers, self._writers

    def query_embeddings(self, most: int) -> StoredEmbeddings:
        """Vectors of queries in the same database, the `most` of each space that were used last."""
        return StoredEmbeddings(self._writers, self._queries, most)

    async def close(self) -> None:
        """Closes all connections."""
        await self._readers.close()
        await self._writers.close()
        await self._probed.close()

    # What a write depends on is read on the writers' pool: a replica may lag behind.
    async def stats(self, space: str) -> SpaceStats:
        """The space in numbers."""
        async with self._writers.session() as session:
            row = await session.row(self._queries["space_stats"], space)
        if row is None:
            return SpaceStats(0, 0, None, 0)
        model = Model(row["name"], row["dimension"]) if row["chunks"] else None
        return SpaceStats(row["documents"], row["chunks"], model, row["revision"])

    async def space_model(self, space: str) -> Model | None:
        """The space's model; None while it holds nothing."""
        return (await self.stats(space)).model

    async def unchanged_documents(
        self, space: str, fingerprints: Sequence[tuple[str, str]]
    ) -> dict[str, datetime]:
        """Documents whose version in force has the given hash, and since when it holds."""
        async with self._writers.session() as session:
            rows = await session.fetch(
                self._queries["unchanged_documents"],
                space,
                [document_id for document_id, _ in fingerprints],
                [content_hash for _, content_hash in fingerprints],
            )
        return {row["document_id"]: row["valid_from"] for row in rows}

    async def text_language(self, space: str) -> TextLanguage:
        """The space's text-search configuration by name."""
        async with self._writers.session() as session:
            row = await session.row(self._queries["read_language"], space)
        if row is None:
            raise LookupError("a query for one row gave none")
        return TextLanguage(row["language"], tuple(row["available"]))

    async def set_text_language(self, space: str, language: str) -> None:
        """Waits for the space's running writes."""
        async with self._writers.session() as session:
            if not await session.value(self._queries["set_language"], space, language):
                raise WrongStateError(LANGUAGE_IN_USE)

    async def missing_vectors(self, space: str, documents: Sequence[NewDocument]) -> frozenset[str]:
        """Ids of chunks without a vector of their text, given or stored."""
        wanted = [
            (c.id, d.title, d.valid_time) for d in documents for c in d.chunks if c.vector is None
        ]
        if not wanted:
            return frozenset()
        async with self._writers.session() as session:
            columns = (list(column) for column in zip(*wanted, strict=True))
            rows = await session.fetch(self._queries["missing_chunks"], space, *columns)
        return frozenset(str(row["id"]) for row in rows)

    async def upsert(
        self, space: str, model: Model, documents: Sequence[NewDocument]
    ) -> WriteResult:
        """One transaction for all documents."""
        async with self._writers.session() as session:
            await open_space(session, self._queries, space, model)
        async with self._writers.transaction() as session:
            return await DocumentWrite(session, self._queries, space).run(model, documents)

    async def due_spaces(self) -> list[str]:
        """See `SettlingStore`."""
        async with self._writers.session() as session:
            rows = await session.fetch(self._queries["due_spaces"])
        return [row["space"] for row in rows]

    async def settle(self, space: str) -> None:
        """See `SettlingStore`."""
        model = await self.space_model(space)
        if model is None:
            return
        async with self._writers.transaction() as session:
            # A write of nothing: it makes the current ones of what has come into force, as any write does.
            await DocumentWrite(session, self._queries, space).run(model, [])

    async def delete_document(
        self, space: str, document_id: str, deletion_id: str | None = None
    ) -> Deletion:
        """One transaction for the document, the space's counters, and what is kept of the deletion."""
        async with self._writers.transaction() as session:
            gone = await DocumentDeletion(session, self._queries, space).run(
                document_id, deletion_id
            )
        if gone is None:
            raise NotFoundError("document")
        return gone
