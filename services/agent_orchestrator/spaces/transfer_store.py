"""The orchestrator's own rows of a space for archives, and the imports that have not ended."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import NamedTuple

from services.agent_orchestrator.clients.transfer import TransferPage
from services.agent_orchestrator.database import Database
from services.postgres.pool import Session
from services.postgres.transfer.rows import TableRows, found_rows, refusing
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.space_rows import (
    FoundRows,
    not_a_token,
    page_of,
    place_of,
    refused_rows,
    rows_to_read,
    token_of,
    unknown_kind,
)

MESSAGES = "conversation_messages"
# What others refer to comes first. Columns of work in progress are left out: no archive has any.
_TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "conversations": ("conversation", ("active_run_id", "lease_expire_time")),
    MESSAGES: ("conversation_message", ()),
    "memory_types": ("memory_type", ()),
    "memories": ("memory", ()),
    "past_memories": ("past_memory", ()),
    "closed_sessions": ("closed_session", ()),
    "memory_co_access": ("memory_co_access", ()),
    "removed_memory_relations": ("removed_memory_relation", ()),
    "memory_entities": ("memory_entity", ()),
    "memory_relationships": ("memory_relationship", ()),
    "memory_entity_vectors": ("memory_entity_vector", ()),
    "document_expiries": ("document_expiry", ()),
}
KINDS = tuple(_TABLES)


class Import(NamedTuple):
    """An import that has not ended, and how many of its pages are stored."""

    id: str
    archive_id: str
    stored_pages: int


class TransferState(NamedTuple):
    """What changes with the orchestrator's own rows, and how much work on the space is unfinished."""

    state: str
    unfinished: int


class TransferStore:
    """Reads and writes the rows of all users of a space."""

    def __init__(self, database: Database) -> None:
        self._pool = database.pool
        self._queries = database.queries
        self._tables = TableRows()

    async def state(self, space: str) -> TransferState:
        """Returns the state of the space's rows."""
        async with self._pool.transaction() as session:
            await session.execute(self._queries["see_space"], space)
            row = await session.row(self._queries["transfer_state"], space)
        if row is None:
            raise LookupError("a query for one row gave none")
        return TransferState(row["state"], row["unfinished"])

    async def read(self, space: str, page_token: str) -> TransferPage:
        """Returns a page of rows. Raises InvalidFieldError for another listing's token."""
        query = ("own-rows", space)
        place = place_of(page_token, query)
        if place.step >= len(KINDS):
            raise not_a_token()
        kind = KINDS[place.step]
        async with self._pool.transaction() as session:
            await session.execute(self._queries["see_space"], space)
            if kind == MESSAGES:
                found = await self._read_messages(session, space, place.after)
            else:
                table, without = _TABLES[kind]
                found = await self._tables.read(session, table, space, place.after, without)
        page = page_of(place, KINDS, found, 0)
        return TransferPage(page.kind, page.rows, token_of(page.next, query), page.revision)

    async def write(self, space: str, kind: str, rows: Sequence[str]) -> None:
        """Stores rows, except those that exist. Raises InvalidFieldError for what no known version has exported."""
        if kind not in _TABLES:
            raise unknown_kind()
        if not rows:
            return
        async with self._pool.transaction() as session:
            await session.execute(self._queries["see_space"], space)
            if kind == MESSAGES:
                await self._write_messages(session, space, rows)
            else:
                await self._tables.write(session, _TABLES[kind][0], space, rows)

    async def find_import(self, space: str) -> Import | None:
        """Returns the space's import that has not ended."""
        async with self._pool.session() as session:
            row = await session.row(self._queries["find_import"], space)
        if row is None:
            return None
        return Import(str(row["import_id"]), row["archive_id"], row["stored_pages"])

    async def start_import(self, space: str, archive_id: str) -> None:
        """Begins an import unless the space has one."""
        async with self._pool.session() as session:
            await session.execute(self._queries["start_import"], space, uuid.uuid4(), archive_id)

    async def count_page(self, space: str, import_id: str, number: int) -> None:
        """Records that the page of an import, and all before it, are stored."""
        async with self._pool.session() as session:
            await session.execute(
                self._queries["count_import_page"], space, uuid.UUID(import_id), number
            )

    async def end_import(self, space: str, import_id: str) -> None:
        """Ends an import; without it, nothing happens."""
        async with self._pool.session() as session:
            await session.execute(self._queries["end_import"], space, uuid.UUID(import_id))

    async def _read_messages(self, session: Session, space: str, after: str | None) -> FoundRows:
        query = self._queries["export_messages"]
        with refusing(not_a_token()):
            conversation, number = (None, 0) if after is None else json.loads(after)
            return found_rows(
                await session.fetch(query, space, conversation, number, rows_to_read())
            )

    async def _write_messages(self, session: Session, space: str, rows: Sequence[str]) -> None:
        with refusing(refused_rows()):
            named = {json.loads(row)["conversation_id"] for row in rows}
            if await session.fetch(self._queries["foreign_conversations"], space, sorted(named)):
                raise InvalidFieldError(
                    FieldError("rows", "are messages of conversations that the space lacks")
                )
            await session.execute(self._queries["import_messages"], list(rows))
