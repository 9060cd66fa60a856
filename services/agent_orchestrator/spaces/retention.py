"""What is set for a space, and the job that deletes what is kept no longer, with a receipt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

from services.agent_orchestrator.database import Database
from services.agent_orchestrator.jobs.records import NewJob
from services.agent_orchestrator.jobs.store import JobStore
from services.agent_orchestrator.jobs.tasks import Task
from services.agent_orchestrator.spaces.store import STORE
from services.runtime.context import call_scope, current_call
from services.runtime.errors import NotFoundError

RETENTION = "retention"
_ROWS_AT_ONCE = 200

DeleteMemory = Callable[[str, str, str], Awaitable[None]]
"""Deletes a memory of a space and a user by its id. Raises NotFoundError if it is gone."""


class SpaceSettings(NamedTuple):
    """How many days conversations and memories are kept, and what the space takes; None is no limit. And its title."""

    conversation_days: int | None = None
    memory_days: int | None = None
    upload_bytes_per_day: int | None = None
    max_documents: int | None = None
    title: str = ""


class OldMemory(NamedTuple):
    """A memory that was not used for as long as its space keeps memories."""

    user: str
    id: str


class SettingsStore:
    """The settings of spaces, and what they make too old."""

    def __init__(self, database: Database) -> None:
        self._pool = database.pool
        self._queries = database.queries

    async def get(self, space: str) -> SpaceSettings:
        """Returns what is set for a space."""
        async with self._pool.session() as session:
            row = await session.row(self._queries["get_settings"], space)
        return SpaceSettings() if row is None else SpaceSettings(*row)

    async def put(self, space: str, settings: SpaceSettings) -> None:
        """Sets everything for a space."""
        async with self._pool.session() as session:
            await session.execute(self._queries["put_settings"], space, *settings)

    async def create(self, space: str, settings: SpaceSettings) -> datetime | None:
        """Sets everything for a space for which nothing is set; returns when, None if something is."""
        async with self._pool.session() as session:
            created: datetime | None = await session.value(
                self._queries["create_settings"], space, *settings
            )
        return created

    async def spaces_to_tidy(self) -> list[str]:
        """Returns the spaces with something that is kept no longer."""
        async with self._pool.session() as session:
            rows = await session.fetch(self._queries["spaces_to_tidy"])
        return [row["space"] for row in rows]

    async def delete_conversations(self, space: str, days: int) -> tuple[int, int]:
        """Deletes some old conversations; returns how many, and how many messages."""
        async with self._pool.session() as session:
            row = await session.row(
                self._queries["delete_old_conversations"], space, days, _ROWS_AT_ONCE
            )
        return (0, 0) if row is None else (row["conversations"], row["messages"])

    async def old_memories(self, space: str, days: int) -> list[OldMemory]:
        """Returns some old memories."""
        async with self._pool.session() as session:
            rows = await session.fetch(self._queries["old_memories"], space, days, _ROWS_AT_ONCE)
        return [OldMemory(row["user_id"], str(row["id"])) for row in rows]


class RetentionJobs:
    """Accepts a job for each space with something that is kept no longer."""

    def __init__(self, store: SettingsStore, jobs: JobStore) -> None:
        self._store = store
        self._jobs = jobs

    async def enqueue(self) -> None:
        """Accepts the jobs; a space that has one gets no other."""
        for space in await self._store.spaces_to_tidy():
            job = NewJob(
                space=space,
                user="",
                request_id="",
                kind=RETENTION,
                arguments={},
                input_hash=sha256(RETENTION.encode()).hexdigest(),
            )
            await self._jobs.enqueue_alone(job)


class RetentionTask:
    """The handler of jobs of kind `retention`."""

    def __init__(self, store: SettingsStore, delete_memory: DeleteMemory) -> None:
        self._store = store
        self._delete_memory = delete_memory

    async def run(self, task: Task) -> Mapping[str, Any]:
        """Deletes everything that is kept no longer; returns the receipt."""
        space = task.job.space
        settings = await self._store.get(space)
        removed = Counter[str](task.job.progress or {})
        if settings.conversation_days is not None:
            await self._delete_conversations(task, settings.conversation_days, removed)
        if settings.memory_days is not None:
            await self._delete_memories(task, settings.memory_days, removed)
        return {"removed": [(STORE, kind, count) for kind, count in sorted(removed.items())]}

    async def _delete_conversations(self, task: Task, days: int, removed: Counter[str]) -> None:
        while True:
            conversations, messages = await self._store.delete_conversations(task.job.space, days)
            if not conversations:
                return
            removed["conversations"] += conversations
            removed["messages"] += messages
            await task.save(removed)

    async def _delete_memories(self, task: Task, days: int, removed: Counter[str]) -> None:
        space = task.job.space
        while old := await self._store.old_memories(space, days):
            for memory in old:
                try:
                    with call_scope(replace(current_call(), user=memory.user)):
                        await self._delete_memory(space, *memory)
                except NotFoundError:
                    continue
                removed["memories"] += 1
            await task.save(removed)
