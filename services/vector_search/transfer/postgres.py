"""The space's documents, chunks and vectors as rows, in the order in which they can be stored again."""

from __future__ import annotations

import json
from collections.abc import Sequence

from services.postgres.pool import Pool, Session
from services.postgres.transfer.rows import TableRows, found_rows, refusing
from services.runtime.queries import Queries
from services.runtime.space_rows import (
    FoundRows,
    Place,
    RowsPage,
    not_a_token,
    page_of,
    refused_rows,
    rows_to_read,
    unknown_kind,
)
from services.vector_search.domain import Model
from services.vector_search.embedding_models.postgres import registered

_TABLES = {
    "documents": "document",
    "document_versions": "document_version",
    "chunks": "chunk",
    "version_chunks": "version_chunk",
}
_EMBEDDINGS = "embeddings"
_SPACE = "space"


class PostgresTransfer:
    """Implements `TransferStore` through the pool for writes, as a replica may lag behind."""

    def __init__(self, writers: Pool, queries: Queries) -> None:
        self._writers = writers
        self._queries = queries
        self._tables = TableRows()

    async def read(self, space: str, place: Place) -> RowsPage:
        """See `TransferStore`."""
        async with self._writers.transaction() as session:
            # Read first: rows that another write changes meanwhile then belong to a later revision than the page says.
            revision = await session.value(self._queries["space_revision"], space) or 0
            models = await session.fetch(self._queries["transferred_models"], space)
            kinds = [*_TABLES, *(_EMBEDDINGS for _ in models), _SPACE]
            if place.step >= len(kinds):
                raise not_a_token()
            kind = kinds[place.step]
            if kind in _TABLES:
                found = await self._tables.read(session, _TABLES[kind], space, place.after)
            elif kind == _EMBEDDINGS:
                model = models[place.step - len(_TABLES)]["id"]
                found = await self._read_embeddings(session, space, model, place.after)
            else:
                rows = await session.fetch(self._queries["transferred_space"], space)
                found = FoundRows([row["exported"] for row in rows])
        return page_of(place, kinds, found, revision)

    async def write(self, space: str, kind: str, rows: Sequence[str]) -> None:
        """See `TransferStore`."""
        if kind not in _TABLES and kind not in (_EMBEDDINGS, _SPACE):
            raise unknown_kind()
        if not rows:
            return
        async with self._writers.transaction() as session:
            with refusing(refused_rows()):
                if kind == _EMBEDDINGS:
                    await self._write_embeddings(session, space, rows)
                elif kind == _SPACE:
                    for model in json.loads(rows[0])["models"]:
                        await self._register(session, space, model["name"], model["dimension"])
                    await session.execute(self._queries["import_space"], space, rows[0])
                elif kind == "chunks":
                    await session.execute(self._queries["import_chunks"], space, list(rows))
                else:
                    await self._tables.write(session, _TABLES[kind], space, rows)

    async def _read_embeddings(
        self, session: Session, space: str, model: int, after: str | None
    ) -> FoundRows:
        chunk = None if after is None else json.loads(after)[0]
        query = self._queries["export_embeddings"]
        with refusing(not_a_token()):
            return found_rows(await session.fetch(query, space, model, chunk, rows_to_read()))

    async def _write_embeddings(self, session: Session, space: str, rows: Sequence[str]) -> None:
        first = json.loads(rows[0])
        number = await self._register(session, space, first["model"], first["dimension"])
        await session.execute(self._queries["import_embeddings"], space, number, list(rows))

    async def _register(self, session: Session, space: str, name: str, dimension: int) -> int:
        return await registered(session, self._queries, space, Model(name, dimension))
