"""Memories in the orchestrator's database: text, type, access counts, sessions, and the types of a space."""

from __future__ import annotations

import asyncio
import json
import random
import uuid
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import NamedTuple

from braid.graph.v1.relations_pb2 import ChunkRelationInput as RelationInput
from services.agent_orchestrator.database import Database
from services.agent_orchestrator.typed_memory.domain import Memory, NewMemory, Owner
from services.postgres.pool import Row
from services.runtime.context import clean_up_scope, remaining
from services.runtime.errors import OverloadedError

# The weight of memories found together is halved after a week.
HALF_LIFE_SECONDS = 7 * 86_400.0
_LEASE_SECONDS = 30.0
_FIRST_WAIT_SECONDS = 0.01
_MAX_WAIT_SECONDS = 0.2
_LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"


class Position(NamedTuple):
    """A position in a listing: time of creation, then id, both descending."""

    create_time: datetime = datetime.max.replace(tzinfo=UTC)
    id: str = _LAST_ID


class Pair(NamedTuple):
    """Two memories that were found together, and their weight after decay."""

    first: str
    second: str
    weight: float


class RelationName(NamedTuple):
    """A relation by its identity."""

    source: str
    target: str
    type: str


class PastMemory(NamedTuple):
    """What a memory said until it was changed."""

    type: str
    title: str
    content: str
    create_time: datetime
    replace_time: datetime


class MemoryStore:
    """Memories of every user. Each method sees only its owner's."""

    def __init__(self, database: Database) -> None:
        self._pool = database.pool
        self._queries = database.queries

    async def add(
        self, owner: Owner, id_: str, document_id: str, given: NewMemory
    ) -> Memory | None:
        """Adds a memory that is not in the tiers yet. Returns None if its session is closed."""
        async with self._pool.session() as session:
            row = await session.row(
                self._queries["add_memory"], *owner, *_columns(id_, document_id, given)
            )
        return None if row is None else _memory(row)

    async def note_ready(
        self, owner: Owner, id_: str, waiting: Sequence[RelationInput] | None
    ) -> None:
        """Makes a memory visible. `waiting` are its relations if the graph has neither it nor them yet."""
        encoded = None if waiting is None else [one.SerializeToString() for one in waiting]
        await self._execute("memory_ready", *owner, uuid.UUID(id_), encoded)

    async def waiting_for_graph(self, owner: Owner) -> list[tuple[Memory, list[RelationInput]]]:
        """Returns the oldest memories that the graph does not have yet, with their relations."""
        return [
            (_memory(row), [RelationInput.FromString(one) for one in row["waiting_relations"]])
            for row in await self._fetch("memories_waiting_for_graph", *owner)
        ]

    async def note_in_graph(self, owner: Owner, ids: Sequence[str]) -> set[str]:
        """Records that the graph has these memories; returns those that were not deleted meanwhile."""
        rows = await self._fetch("memories_in_graph", *owner, [uuid.UUID(one) for one in ids])
        return {str(row["id"]) for row in rows}

    async def withdraw(self, owner: Owner, id_: str) -> Memory | None:
        """Hides a memory and returns it; None if it does not exist."""
        async with self._pool.session() as session:
            row = await session.row(self._queries["withdraw_memory"], *owner, uuid.UUID(id_))
        return None if row is None else _memory(row)

    async def delete(self, owner: Owner, id_: str) -> None:
        """Deletes a memory that was deleted from both tiers. If it was a session's summary, the session is reopened."""
        async with self._pool.transaction() as session:
            await session.execute(self._queries["reopen_session"], *owner, uuid.UUID(id_))
            await session.execute(self._queries["delete_memory"], *owner, uuid.UUID(id_))

    async def by_id(self, owner: Owner, ids: Iterable[str]) -> dict[str, Memory]:
        """Returns the given memories that exist."""
        rows = await self._fetch("memories_by_id", *owner, [uuid.UUID(one) for one in ids])
        return {memory.id: memory for memory in map(_memory, rows)}

    async def page(
        self, owner: Owner, types: Sequence[str], session_id: str, after: Position, limit: int
    ) -> list[Memory]:
        """Returns memories after a position, newest first."""
        place = (after.create_time, uuid.UUID(after.id))
        rows = await self._fetch("list_memories", *owner, list(types), session_id, *place, limit)
        return [_memory(row) for row in rows]

    async def count(self, owner: Owner) -> int:
        """Returns the number of memories."""
        async with self._pool.session() as session:
            return int(await session.value(self._queries["count_memories"], *owner))

    async def users(self, space: str) -> list[str]:
        """Returns the users of the space who have memories."""
        return [row["user_id"] for row in await self._fetch("memory_users", space)]

    async def types_of(self, owner: Owner) -> frozenset[str]:
        """Returns the types of the owner's memories."""
        rows = await self._fetch("types_of_memories", *owner)
        return frozenset(row["type"] for row in rows)

    async def partitions(self, space: str) -> list[str]:
        """Returns the partitions of the tiers that contain memories of the space's users."""
        return [Owner(space, user).partition for user in await self.users(space)]

    async def ids(self, owner: Owner, after: str, limit: int) -> list[tuple[str, str]]:
        """Returns a page of visible memories by id, each with its document."""
        rows = await self._fetch("memory_ids", *owner, uuid.UUID(after), limit)
        return [(str(row["id"]), str(row["document_id"])) for row in rows]

    async def existing(self, owner: Owner, ids: Iterable[str]) -> set[str]:
        """Returns those of the given memories that exist, visible or not."""
        rows = await self._fetch("existing_memories", *owner, [uuid.UUID(one) for one in ids])
        return {str(row["id"]) for row in rows}

    async def waiting(self, owner: Owner, ids: Iterable[str]) -> set[str]:
        """Returns those of the given memories whose graph part a job has yet to store."""
        rows = await self._fetch("waiting_for_graph_of", *owner, [uuid.UUID(one) for one in ids])
        return {str(row["id"]) for row in rows}

    async def documents(self, owner: Owner, document_ids: Iterable[str]) -> set[str]:
        """Returns those of the given documents that are of memories."""
        rows = await self._fetch("memory_documents", *owner, list(document_ids))
        return {row["document_id"] for row in rows}

    async def sessions_without_summary(self, owner: Owner) -> list[str]:
        """Returns the closed sessions whose summary does not exist."""
        rows = await self._fetch("sessions_without_summary", *owner)
        return [row["session_id"] for row in rows]

    async def put(self, owner: Owner, id_: str, document_id: str, given: NewMemory) -> None:
        """Adds a visible memory that both tiers have; an existing one stays."""
        await self._execute("restore_memory", *owner, *_columns(id_, document_id, given))

    async def unready(self, owner: Owner, seconds: float) -> list[Memory]:
        """Returns memories whose storing or deletion was interrupted more than `seconds` ago."""
        return [_memory(row) for row in await self._fetch("unready_memories", *owner, seconds)]

    async def change(self, owner: Owner, memory: Memory, given: NewMemory) -> Memory | None:
        """Changes everything of a memory but its text and type; None if it does not exist."""
        columns = (
            given.title,
            list(given.tags),
            given.importance,
            json.dumps(given.metadata),
            given.session_id,
        )
        async with self._pool.session() as session:
            row = await session.row(
                self._queries["change_memory"], *owner, uuid.UUID(memory.id), *columns
            )
        return None if row is None else _memory(row)

    async def keep_past(self, owner: Owner, memory: Memory, id_: str) -> None:
        """Keeps what a memory says, with its past, as the past of the memory with this id."""
        await self._execute("keep_past", *owner, uuid.UUID(memory.id), uuid.UUID(id_))

    async def past(self, owner: Owner, id_: str) -> list[PastMemory]:
        """Returns what a memory said before, oldest first."""
        rows = await self._fetch("past_of_memory", *owner, uuid.UUID(id_))
        return [PastMemory(*row.values()) for row in rows]

    async def last_of_session(self, owner: Owner, session_id: str) -> str | None:
        """Returns the session's last memory."""
        async with self._pool.session() as session:
            found = await session.value(self._queries["last_of_session"], *owner, session_id)
        return None if found is None else str(found)

    @asynccontextmanager
    async def session_lease(self, owner: Owner, session_id: str) -> AsyncIterator[None]:
        """Leases a session for the block, across all processes. Raises OverloadedError if others hold it too long.

        If the holder has died, the lease expires after `_LEASE_SECONDS`.
        """
        holder = uuid.uuid4()
        await self._acquire(owner, session_id, holder)
        try:
            yield
        finally:
            with clean_up_scope():
                await asyncio.shield(self._execute("release_session", *owner, session_id, holder))

    async def _acquire(self, owner: Owner, session_id: str, holder: uuid.UUID) -> None:
        wait = _FIRST_WAIT_SECONDS
        try:
            async with asyncio.timeout(remaining(_LEASE_SECONDS)):
                while not await self._acquired(owner, session_id, holder):
                    await asyncio.sleep(wait * random.uniform(0.5, 1.5))  # noqa: S311 - not a secret
                    wait = min(2 * wait, _MAX_WAIT_SECONDS)
        except TimeoutError:
            raise OverloadedError(1.0) from None

    async def _acquired(self, owner: Owner, session_id: str, holder: uuid.UUID) -> bool:
        async with self._pool.session() as session:
            found = await session.value(
                self._queries["acquire_session"], *owner, session_id, holder, _LEASE_SECONDS
            )
        return bool(found)

    async def note_access(self, owner: Owner, ids: Sequence[str]) -> None:
        """Counts memories as read or found."""
        if ids:
            await self._execute("note_access", *owner, [uuid.UUID(one) for one in ids])

    async def note_co_access(self, owner: Owner, ids: Sequence[str]) -> None:
        """Counts memories as found together."""
        if len(ids) > 1:
            memory_ids = [uuid.UUID(one) for one in ids]
            await self._execute("note_co_access", *owner, memory_ids, HALF_LIFE_SECONDS)

    async def co_accessed(self, owner: Owner, limit: int) -> list[Pair]:
        """Returns pairs that were found together, highest weight first."""
        rows = await self._fetch("co_accessed", *owner, HALF_LIFE_SECONDS, limit)
        return [Pair(str(row["first_id"]), str(row["second_id"]), row["weight"]) for row in rows]

    async def close_session(self, owner: Owner, session_id: str, summary_id: str) -> str:
        """Closes a session; returns the id of its summary, which is another one if another call closed it first."""
        async with self._pool.transaction() as session:
            await session.execute(
                self._queries["close_session"], *owner, session_id, uuid.UUID(summary_id)
            )
            return str(await session.value(self._queries["session_summary"], *owner, session_id))

    async def summary_of(self, owner: Owner, session_id: str) -> str | None:
        """Returns the id of a closed session's summary."""
        async with self._pool.session() as session:
            found = await session.value(self._queries["session_summary"], *owner, session_id)
        return None if found is None else str(found)

    async def types(self, space: str) -> frozenset[str]:
        """Returns the types that a space has set; empty if it has set none."""
        return frozenset(row["name"] for row in await self._fetch("memory_types", space))

    async def put_types(self, space: str, names: Iterable[str]) -> None:
        """Replaces the types of a space."""
        await self._execute("put_memory_types", space, sorted(names))

    async def note_removed(
        self, owner: Owner, source: str, target: str, types: Sequence[str]
    ) -> None:
        """Records relations that the user has removed."""
        ends = (uuid.UUID(source), uuid.UUID(target))
        await self._execute("note_removed_relations", *owner, *ends, list(types))

    async def removed(self, owner: Owner, sources: Iterable[str]) -> set[RelationName]:
        """Returns the relations from these memories that the user has removed."""
        rows = await self._fetch("removed_relations", *owner, [uuid.UUID(one) for one in sources])
        return {
            RelationName(str(row["source_id"]), str(row["target_id"]), row["type"]) for row in rows
        }

    async def _fetch(self, name: str, *arguments: object) -> list[Row]:
        async with self._pool.session() as session:
            return await session.fetch(self._queries[name], *arguments)

    async def _execute(self, name: str, *arguments: object) -> None:
        async with self._pool.session() as session:
            await session.execute(self._queries[name], *arguments)


def _columns(id_: str, document_id: str, given: NewMemory) -> tuple[object, ...]:
    """Returns the columns of a memory after its owner's."""
    return (
        uuid.UUID(id_),
        uuid.UUID(document_id),
        given.type,
        given.title,
        given.content,
        list(given.tags),
        given.importance,
        json.dumps(given.metadata),
        given.session_id,
    )


def _memory(row: Row) -> Memory:
    given = NewMemory(
        type=row["type"],
        content=row["content"],
        title=row["title"],
        tags=tuple(row["tags"]),
        importance=row["importance"],
        session_id=row["session_id"],
        metadata=json.loads(row["metadata"]),
    )
    return Memory(
        id=str(row["id"]),
        document_id=str(row["document_id"]),
        given=given,
        create_time=row["create_time"].astimezone(UTC),
        access_count=row["access_count"],
        last_access_time=row["last_access_time"],
        in_graph=row["waiting_relations"] is None,
    )
