"""Documents in PostgreSQL: reads of a space's content, and writes as transactions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime

from services.postgres.pool import Row
from services.runtime.errors import NotFoundError, WrongStateError
from services.vector_search.database import Database
from services.vector_search.documents.transactions import (
    DocumentDeletion,
    DocumentWrite,
    SpaceDeletion,
)
from services.vector_search.domain import (
    ChunkRef,
    Deletion,
    Document,
    DocumentVersion,
    Model,
    NewDocument,
    SpaceStats,
    TextLanguage,
    WriteResult,
    metadata_of,
)
from services.vector_search.embedding_models.postgres import open_space
from services.vector_search.store import LANGUAGE_IN_USE

# After a prefix, this follows every id of up to 512 characters that begins with it, in the order of code points.
_LAST = chr(sys.maxunicode) * 513


class PostgresDocuments(Database):
    """Documents, lists and counts of a space."""

    async def get_document(self, space: str, document_id: str) -> tuple[Document, list[str]]:
        """Returns a document and its chunks' ids."""
        row = await self._readers.read(
            space, lambda session: session.row(self._queries["get_document"], space, document_id)
        )
        if row is None:
            raise NotFoundError("document")
        return _document(row), [str(chunk_id) for chunk_id in row["chunk_ids"]]

    async def list_versions(
        self, space: str, document_id: str, below: int, limit: int
    ) -> list[DocumentVersion]:
        """Returns a page of a document's versions."""
        rows = await self._readers.read(
            space,
            lambda session: session.fetch(
                self._queries["list_versions"], space, document_id, below, limit
            ),
        )
        return [
            DocumentVersion(
                version=row["version"],
                title=row["title"],
                source=row["source"],
                valid_time=row["valid_from"],
                end_time=row["valid_until"],
                create_time=row["known_from"],
                chunk_count=row["chunk_count"],
            )
            for row in rows
        ]

    async def list_documents(
        self, space: str, after: str, limit: int, *, prefix: str = ""
    ) -> list[Document]:
        """Returns a page of documents by id."""
        rows = await self._readers.read(
            space,
            lambda session: session.fetch(
                self._queries["list_documents"], space, after, limit, prefix, prefix + _LAST
            ),
        )
        return [_document(row) for row in rows]

    async def stats(self, space: str) -> SpaceStats:
        """Returns the space's counts."""
        async with self._writers.session() as session:
            row = await session.row(self._queries["space_stats"], space)
        if row is None:
            return SpaceStats(0, 0, None, 0)
        model = Model(row["name"], row["dimension"]) if row["chunks"] else None
        return SpaceStats(row["documents"], row["chunks"], model, row["revision"])

    async def space_model(self, space: str) -> Model | None:
        """Returns the space's model; None if the space is empty."""
        return (await self.stats(space)).model

    async def unchanged_documents(
        self, space: str, fingerprints: Sequence[tuple[str, str]]
    ) -> dict[str, datetime]:
        """Returns the documents whose version in force has the given hash, and since when it has been valid."""
        async with self._writers.session() as session:
            rows = await session.fetch(
                self._queries["unchanged_documents"],
                space,
                [document_id for document_id, _ in fingerprints],
                [content_hash for _, content_hash in fingerprints],
            )
        return {row["document_id"]: row["valid_from"] for row in rows}

    async def text_language(self, space: str) -> TextLanguage:
        """Returns the name of the space's text-search configuration."""
        async with self._writers.session() as session:
            row = await session.row(self._queries["read_language"], space)
        if row is None:
            raise LookupError("a query for one row gave none")
        return TextLanguage(row["language"], tuple(row["available"]))

    async def set_text_language(self, space: str, language: str) -> None:
        """Sets the language, after the space's running writes."""
        async with self._writers.session() as session:
            if not await session.value(self._queries["set_language"], space, language):
                raise WrongStateError(LANGUAGE_IN_USE)

    async def missing_vectors(self, space: str, documents: Sequence[NewDocument]) -> frozenset[str]:
        """Returns ids of chunks whose text has no vector, given or stored."""
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
        """Writes all documents in one transaction."""
        async with self._writers.session() as session:
            await open_space(session, self._queries, space, model)
        async with self._writers.transaction() as session:
            return await DocumentWrite(session, self._queries, space).run(model, documents)

    async def due_spaces(self) -> list[str]:
        """See `ActivationStore`."""
        async with self._writers.session() as session:
            rows = await session.fetch(self._queries["due_spaces"])
        return [row["space"] for row in rows]

    async def activate_versions(self, space: str) -> None:
        """See `ActivationStore`."""
        model = await self.space_model(space)
        if model is None:
            return
        async with self._writers.transaction() as session:
            # Every write activates due versions; this one writes nothing else.
            await DocumentWrite(session, self._queries, space).run(model, [])

    async def delete_document(
        self, space: str, document_id: str, deletion_id: str | None = None
    ) -> Deletion:
        """Deletes the document, updates the space's counters and records the deletion in one transaction."""
        async with self._writers.transaction() as session:
            deletion = await DocumentDeletion(session, self._queries, space).run(
                document_id, deletion_id
            )
        if deletion is None:
            raise NotFoundError("document")
        return deletion

    async def end_document(self, space: str, document_id: str) -> datetime:
        """Ends the document and updates the space's counters in one transaction."""
        async with self._writers.transaction() as session:
            end_time = await DocumentWrite(session, self._queries, space).end(document_id)
        if end_time is None:
            raise NotFoundError("document")
        return end_time

    async def delete_documents(self, space: str, deletion_id: str) -> tuple[Deletion, bool]:
        """Deletes documents, updates the space's counters and records the deletion in one transaction."""
        async with self._writers.transaction() as session:
            return await SpaceDeletion(session, self._queries, space).run(deletion_id)

    async def list_spaces(self, after: str, limit: int) -> list[str]:
        """See `InventoryStore`."""
        async with self._writers.session() as session:
            rows = await session.fetch(self._queries["list_spaces"], after, limit)
        return [row["space"] for row in rows]

    async def list_chunk_ids(self, space: str, after: str | None, limit: int) -> list[ChunkRef]:
        """See `InventoryStore`."""
        async with self._writers.session() as session:
            rows = await session.fetch(self._queries["list_chunk_ids"], space, after, limit)
        return [ChunkRef(str(row["id"]), row["document_id"]) for row in rows]

    async def find_chunks(self, space: str, chunk_ids: Sequence[str]) -> list[str]:
        """See `InventoryStore`."""
        async with self._writers.session() as session:
            rows = await session.fetch(self._queries["find_chunks"], space, list(chunk_ids))
        return [str(row["id"]) for row in rows]

    async def find_documents(self, space: str, document_ids: Sequence[str]) -> list[str]:
        """See `InventoryStore`."""
        async with self._writers.session() as session:
            rows = await session.fetch(self._queries["find_documents"], space, list(document_ids))
        return [row["document_id"] for row in rows]


def _document(row: Row) -> Document:
    return Document(
        document_id=row["document_id"],
        title=row["title"],
        source=row["source"],
        metadata=metadata_of(row["metadata"]),
        version=row["version"],
        valid_time=row["valid_from"],
        create_time=row["known_from"],
        chunk_count=row["chunk_count"],
    )
