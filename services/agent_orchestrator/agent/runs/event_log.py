"""The event log in PostgreSQL: lets any replica resume a run's stream, and cancel a run of another replica."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from services.agent_orchestrator.agent.runs.events import Event, dump, load
from services.postgres.pool import Pool, Session
from services.runtime.errors import NotFoundError
from services.runtime.queries import Queries

if TYPE_CHECKING:
    from services.agent_orchestrator.agent.runs.run import Run

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Owner:
    """The user and space that runs and conversations belong to; others cannot see them."""

    space: str
    user: str


@dataclass(frozen=True, slots=True)
class RunState:
    """Whether a run has ended, or was interrupted: its process stopped before the run ended."""

    ended: bool
    interrupted: bool


class RunLog:
    """Runs and their events. The process that works on a run renews its lease."""

    def __init__(self, pool: Pool, *, lease_seconds: float) -> None:
        self._pool = pool
        self._queries = Queries.load("sql", "services.agent_orchestrator.agent.runs")
        self._lease_seconds = lease_seconds

    async def add_run(self, run: Run, events: Sequence[Event]) -> None:
        """Adds a new run with its first events."""
        async with self._pool.session() as session:
            await session.execute(
                self._queries["add_run"],
                uuid.UUID(run.id),
                run.owner.space,
                run.owner.user,
                uuid.UUID(run.conversation_id) if run.conversation_id else None,
                self._lease_seconds,
                *_columns(events),
                run.kept,
            )

    async def append(self, run_id: str, events: Sequence[Event]) -> None:
        """Adds events to the log; events that exist already are not changed."""
        async with self._pool.session() as session:
            await session.execute(self._queries["add_events"], uuid.UUID(run_id), *_columns(events))

    async def renew(self, run_id: str) -> bool:
        """Renews the lease. Returns whether the run must stop, because it was cancelled or deleted."""
        async with self._pool.session() as session:
            stop = await session.value(
                self._queries["renew_run"], uuid.UUID(run_id), self._lease_seconds
            )
        return stop is None or bool(stop)

    async def end_within(self, session: Session, run_id: str, events: Sequence[Event]) -> None:
        """Adds the last events and marks the run as ended, as part of the caller's transaction."""
        await session.execute(self._queries["end_run"], uuid.UUID(run_id), *_columns(events))

    async def end(self, run_id: str, events: Sequence[Event]) -> None:
        """Adds the last events and marks the run as ended."""
        async with self._pool.session() as session:
            await self.end_within(session, run_id, events)

    async def request_cancel(self, run_id: str, owner: Owner) -> None:
        """Asks the process that works on the run to stop it. Raises NotFoundError if the owner has no such run."""
        async with self._pool.session() as session:
            row = await session.row(
                self._queries["request_cancel"], uuid.UUID(run_id), owner.space, owner.user
            )
        if row is None:
            raise NotFoundError("run")

    async def is_kept(self, run_id: str, owner: Owner) -> bool:
        """Whether anything of the run is saved. Raises NotFoundError if the owner has no such run."""
        async with self._pool.session() as session:
            row = await session.row(
                self._queries["get_run"], uuid.UUID(run_id), owner.space, owner.user
            )
        if row is None:
            raise NotFoundError("run")
        return bool(row["kept"])

    async def delete(self, run_id: str) -> None:
        """Deletes a run with its events."""
        async with self._pool.session() as session:
            await session.execute(self._queries["delete_run"], uuid.UUID(run_id))

    async def state(self, run_id: str, owner: Owner) -> RunState:
        """Returns the state of a run. Raises NotFoundError if the owner has no such run."""
        async with self._pool.session() as session:
            row = await session.row(
                self._queries["get_run"], uuid.UUID(run_id), owner.space, owner.user
            )
        if row is None:
            raise NotFoundError("run")
        return RunState(row["ended"], row["interrupted"])

    async def events(self, run_id: str, after: int) -> list[Event]:
        """Returns a page of events after a number, in order."""
        async with self._pool.session() as session:
            rows = await session.fetch(
                self._queries["run_events"], uuid.UUID(run_id), min(after, 2**31 - 1), _PAGE
            )
        return [Event(row["number"], row["create_time"], load(row["event"])) for row in rows]

    async def note_follower(self, run_id: str) -> None:
        """Records that this process reads the run's events for a caller."""
        async with self._pool.session() as session:
            await session.execute(self._queries["note_follower"], uuid.UUID(run_id))

    async def has_follower(self, run_id: str, seconds: float) -> bool:
        """Whether another process recorded a follower within the last `seconds`."""
        async with self._pool.session() as session:
            found = await session.value(self._queries["has_follower"], uuid.UUID(run_id), seconds)
        return bool(found)

    async def purge(self, keep_days: int) -> None:
        """Deletes old runs with their events; conversations keep their messages."""
        async with self._pool.session() as session:
            await session.execute(self._queries["purge_runs"], keep_days)


def _columns(events: Sequence[Event]) -> tuple[list[int], list[str], list[datetime]]:
    """Returns events as columns of their table, without NUL characters, which PostgreSQL's JSON cannot store."""
    return (
        [event.number for event in events],
        [dump(event.what).replace("\\u0000", "") for event in events],
        [event.time for event in events],
    )
