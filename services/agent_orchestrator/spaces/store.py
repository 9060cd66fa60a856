"""What the orchestrator's own database has of a space."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from services.agent_orchestrator.database import Database
from services.agent_orchestrator.jobs.queue import SEARCH, TurnLostError, TurnQueue
from services.agent_orchestrator.jobs.records import DELETE_SPACE, JobRecord, NewJob, job_record
from services.agent_orchestrator.jobs.store import JobStore
from services.agent_orchestrator.jobs.tasks import Task
from services.postgres.pool import Row
from services.runtime.context import CallContext
from services.runtime.errors import WrongStateError

STORE = "orchestrator"

StoredCounts = Sequence[tuple[str, str, int]]
"""Store, kind, count."""

_KINDS = (
    "conversations",
    "messages",
    "memories",
    "memory_entities",
    "memory_relationships",
    "jobs",
)
_ANY_NUMBER = 2**63 - 1


class OwnUsage(NamedTuple):
    """What the database has of a space, with its unfinished jobs and dead documents."""

    stored: StoredCounts
    unfinished: int
    dead: int


class SpaceStore:
    """The rows of every space."""

    def __init__(self, database: Database, turns: TurnQueue, jobs: JobStore) -> None:
        self._database = database
        self._queries = database.queries
        self._turns = turns
        self._jobs = jobs

    async def usage(self, space: str) -> OwnUsage:
        """Counts the space's rows."""
        async with self._database.pool.transaction() as session:
            await session.execute(self._queries["see_space"], space)
            row = await session.row(self._queries["space_rows"], space)
        found = _found(row)
        return OwnUsage(_counts(found), found["unfinished"], found["dead"])

    async def list_spaces(self, after: str, limit: int) -> list[str]:
        """Returns the first spaces after one that have rows, of the whole installation, in code point order."""
        async with self._database.pool.session() as session:
            rows = await session.fetch(self._queries["list_spaces"], after, limit)
        return [row["space"] for row in rows]

    async def titles(self, spaces: Sequence[str]) -> Mapping[str, tuple[str, datetime]]:
        """Returns the titles, and the times of their creation, of those spaces for which something is set."""
        async with self._database.pool.session() as session:
            rows = await session.fetch(self._queries["space_titles"], list(spaces))
        return {row["space"]: (row["title"], row["create_time"]) for row in rows}

    async def accept_deletion(self, call: CallContext) -> JobRecord:
        """Accepts the deletion of the caller's space, or returns the running one.

        Raises WrongStateError while other jobs of the space are unfinished.
        """
        async with self._database.pool.transaction() as session:
            await session.execute(self._queries["lock_kind"], call.space, DELETE_SPACE)
            running = await session.row(
                self._queries["unended_job"], call.space, DELETE_SPACE, None
            )
            if running is not None:
                return job_record(running)
            others = await session.value(self._queries["other_space_work"], call.space, _ANY_NUMBER)
            if others:
                raise WrongStateError(
                    "The space has unfinished jobs: wait for them, or cancel them first."
                )
            return await self._jobs.enqueue_within(
                session,
                NewJob(
                    space=call.space,
                    user=call.user,
                    request_id=call.request_id,
                    kind=DELETE_SPACE,
                    arguments={},
                    input_hash=sha256(DELETE_SPACE.encode()).hexdigest(),
                ),
            )

    async def has_earlier_work(self, job: JobRecord) -> bool:
        """Whether work of the space that was accepted before a deletion of it is unfinished."""
        async with self._database.pool.session() as session:
            return bool(
                await session.value(self._queries["other_space_work"], job.space, job.number)
            )

    async def delete_rows(self, task: Task, removed: StoredCounts) -> StoredCounts:
        """Deletes the space's rows; saves the receipt, with what the tiers have removed, in the same transaction.

        Uploads that were accepted meanwhile are read from then on.
        """
        space, key = task.job.space, uuid.UUID(task.job.id)
        async with self._database.pool.transaction() as session:
            await self._turns.lock(session, task.turn)
            await session.execute(self._queries["see_space"], space)
            row = await session.row(self._queries["delete_space_rows"], space, task.job.number)
            await self._turns.request(session, SEARCH, space)
            receipt = [*removed, *_counts(_found(row))]
            encoded = json.dumps({"removed": receipt})
            if await session.row(self._queries["save_task"], key, encoded, 0, 0, 0, 0) is None:
                raise TurnLostError
        return receipt


def _found(row: Row | None) -> Row:
    if row is None:
        raise LookupError("a query for one row gave none")
    return row


def _counts(row: Row) -> StoredCounts:
    return [(STORE, kind, int(row[kind])) for kind in _KINDS]
