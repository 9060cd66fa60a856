"""Jobs that are not uploads: each kind has a handler, which may stop at any point and resumes where it last saved.

A new kind needs a handler in the worker's table, and code that enqueues it: `JobStore.enqueue(NewJob(kind=…))`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from services.agent_orchestrator.database import Database
from services.agent_orchestrator.jobs.queue import TASK, Turn, TurnLostError, TurnQueue
from services.agent_orchestrator.jobs.records import (
    FAILED,
    SUCCEEDED,
    WHOLE_JOB,
    Failure,
    JobRecord,
    job_record,
)
from services.postgres.pool import Row, Session


@dataclass(frozen=True, slots=True)
class Counts:
    """The progress of a task, in the counts of jobs."""

    total: int = 0
    searchable: int = 0
    graph_ready: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Task:
    """A job in progress, with its saved state. Calls made within it are in the job's space."""

    job: JobRecord
    turn: Turn
    store: TaskStore
    takes: int

    async def save(
        self,
        progress: Mapping[str, Any],
        counts: Counts | None = None,
        failures: Sequence[Failure] = (),
    ) -> None:
        """Saves where to resume (JSON values), and lists failures.

        Raises TurnLostError if another worker has claimed the turn, or the job was cancelled.
        """
        await self.store.save(self.turn, progress, counts or Counts(), failures)


Handler = Callable[[Task], Awaitable[Mapping[str, Any]]]
"""Does a task, from `task.job.progress` on, and answers with its result. Errors that will pass are waited for."""


class TaskStore:
    """Tasks in PostgreSQL."""

    def __init__(self, database: Database, turns: TurnQueue) -> None:
        self._database = database
        self._queries = database.queries
        self._turns = turns

    async def start(self, turn: Turn) -> Task | None:
        """Starts the turn's task; returns None if it has ended."""
        async with self._database.pool.transaction() as session:
            await self._turns.lock(session, turn)
            row = await session.row(self._queries["start_task"], uuid.UUID(turn.key))
        return Task(job_record(row), turn, self, row["takes"]) if row else None

    async def save(
        self,
        turn: Turn,
        progress: Mapping[str, Any],
        counts: Counts,
        failures: Sequence[Failure] = (),
    ) -> None:
        """Saves where a task resumes, and lists its failures."""
        async with self._database.pool.transaction() as session:
            await self._turns.lock(session, turn)
            row = await session.row(
                self._queries["save_task"],
                uuid.UUID(turn.key),
                json.dumps(progress),
                counts.total,
                counts.searchable,
                counts.graph_ready,
                counts.failed,
            )
            if row is None:
                raise TurnLostError
            await self._add_failures(session, row, failures)

    async def succeed(self, turn: Turn, result: Mapping[str, Any]) -> None:
        """Ends a task with its result."""
        await self._end(turn, SUCCEEDED, result, "")

    async def fail(self, turn: Turn, reason: str) -> None:
        """Ends a task with a reason for its failure."""
        await self._end(turn, FAILED, None, reason)

    async def set_waiting_reason(self, turn: Turn, reason: str, *, blameless: bool) -> None:
        """Records why a task cannot continue now; `blameless` if the task did not cause it."""
        async with self._database.pool.session() as session:
            key = uuid.UUID(turn.key)
            await session.execute(self._queries["set_task_waiting_reason"], key, reason, blameless)

    async def end_turn(self, turn: Turn, *, delay: float = 0.0) -> None:
        """Releases the turn, and requests another one unless the task has ended."""
        async with self._database.pool.transaction() as session:
            await self._turns.lock(session, turn)
            again = await session.value(self._queries["task_unfinished"], uuid.UUID(turn.key))
            await self._turns.end(session, turn, again=again, delay=delay)

    async def _end(
        self, turn: Turn, state: str, result: Mapping[str, Any] | None, reason: str
    ) -> None:
        encoded = None if result is None else json.dumps(result)
        async with self._database.pool.transaction() as session:
            await self._turns.lock(session, turn)
            row = await session.row(self._queries["end_task"], uuid.UUID(turn.key), state, encoded)
            if row and reason:
                failure = Failure(WHOLE_JOB, "", TASK, reason)
                await self._add_failures(session, row, [failure])

    async def _add_failures(self, session: Session, row: Row, failures: Sequence[Failure]) -> None:
        if not failures:
            return
        await session.execute(
            self._queries["add_failures"],
            row["space"],
            TASK,
            [row["id"]] * len(failures),
            [failure.position for failure in failures],
            [failure.document_id for failure in failures],
            [failure.reason for failure in failures],
        )
