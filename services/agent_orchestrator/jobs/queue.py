"""Turns: which space, or which job, may be worked on next, and by whom."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from services.agent_orchestrator.database import Database
from services.postgres.pool import Session
from services.runtime.errors import BraidError

if TYPE_CHECKING:
    from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment, QueryQueueBuilder
    from pgqueuer.queries import Queries as QueueQueries

SEARCH, GRAPH, TASK = "search", "graph", "task"
CHANNEL = "ch_pgqueuer"


class TurnLostError(BraidError):
    """The turn went to another worker: what was done since is not noted, and will be done again."""

    def __init__(self) -> None:
        super().__init__("The turn went to another worker.")


@dataclass(frozen=True, slots=True)
class Turn:
    """The right to work on `key` (a space; for tasks a job's id) at one stage, until it is given back or lost."""

    id: int
    stage: str
    key: str
    owner: UUID


class TurnQueue:
    """The queue's operations. Those with a session belong to its transaction."""

    def __init__(self, database: Database, *, lease_seconds: float) -> None:
        self._database = database
        self._lease = timedelta(seconds=lease_seconds)

    async def ask(self, session: Session, stage: str, key: str, delay: float = 0.0) -> None:
        """Asks for a turn unless there is one; either way it is nobody's to end before the transaction is over."""
        await self._queue(session).enqueue(
            stage,
            key.encode(),
            execute_after=timedelta(seconds=delay),
            dedupe_key=f"{stage}:{key}",
            on_conflict="update_priority",
        )

    async def take(self, owner: UUID, stage: str, count: int) -> list[Turn]:
        """Up to `count` turns, those that wait longest first, and those whose worker has not beaten for a lease."""
        from pgqueuer.ports.repository import EntrypointExecutionParameter  # noqa: PLC0415 - as below

        async with self._database.pool.session() as session:
            jobs = await self._queue(session).dequeue(
                batch_size=count,
                entrypoints={_entrypoint(stage): EntrypointExecutionParameter(concurrency_limit=0)},
                queue_manager_id=_manager(owner),
                global_concurrency_limit=None,
                heartbeat_timeout=self._lease,
            )
        return [Turn(job.id, stage, (job.payload or b"").decode(), owner) for job in jobs]

    async def renew(self, owner: UUID, turns: Iterable[Turn]) -> set[int]:
        """Beats; the ids of those turns that are still the owner's."""
        ids = [turn.id for turn in turns]
        async with self._database.pool.session() as session:
            rows = await session.fetch(self._database.queries["renew_turns"], ids, owner)
        return {row["id"] for row in rows}

    async def hold(self, session: Session, turn: Turn) -> None:
        """Makes sure that the turn is the worker's until the transaction ends. TurnLostError when it is not."""
        if not await session.value(self._database.queries["hold_turn"], turn.id, turn.owner):
            raise TurnLostError

    async def end(self, session: Session, turn: Turn, *, again: bool, delay: float = 0.0) -> None:
        """Gives a held turn back; `again` asks for one behind all others, `delay` seconds from now."""
        await session.execute(
            self._builder.build_log_job_query(), [turn.id], ["successful"], [None]
        )
        if again:
            await self.ask(session, turn.stage, turn.key, delay)

    def _queue(self, session: Session) -> QueueQueries:
        # Half a second of imports, which a process that has not met a job yet need not wait for.
        from pgqueuer.queries import Queries as QueueQueries  # noqa: PLC0415

        return QueueQueries(SessionDriver(session), qbe=self._environment, qbq=self._builder)

    @cached_property
    def _builder(self) -> QueryQueueBuilder:
        from pgqueuer.adapters.persistence.qb import QueryQueueBuilder  # noqa: PLC0415

        return QueryQueueBuilder(self._environment.settings)

    @cached_property
    def _environment(self) -> QueryBuilderEnvironment:
        from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment  # noqa: PLC0415
        from pgqueuer.domain.settings import DBSettings  # noqa: PLC0415

        # Every name is given: those of the environment (`QUEUE_TABLE`, …) are for other programs.
        return QueryBuilderEnvironment(
            DBSettings.model_validate(
                {
                    "prefix": "",
                    "db_schema": None,
                    "channel": CHANNEL,
                    "function": "fn_pgqueuer_changed",
                    "statistics_table": "pgqueuer_statistics",
                    "queue_status_type": "pgqueuer_status",
                    "queue_table": "pgqueuer",
                    "queue_table_log": "pgqueuer_log",
                    "trigger": "tg_pgqueuer_changed",
                    "schedules_table": "pgqueuer_schedules",
                }
            )
        )


class SessionDriver:
    """The library's driver over a borrowed connection: its statements get our deadlines and errors."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._shutdown = asyncio.Event()

    async def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
        """All rows."""
        return [dict(row) for row in await self._session.fetch(query, *args)]

    async def execute(self, query: str, *args: object) -> str:
        """Runs a statement for its effect."""
        await self._session.execute(query, *args)
        return ""

    async def notify(self, channel: str, payload: str) -> None:
        """Sends a notification with the transaction."""
        await self._session.execute("select pg_notify($1, $2)", channel, payload)

    async def add_listener(self, channel: str, callback: Any) -> None:  # noqa: ARG002 - the library's shape
        """Refused: the library's driver has it, but a connection that goes back to its pool cannot listen."""
        raise RuntimeError("a borrowed connection cannot listen")

    @property
    def shutdown(self) -> asyncio.Event:
        """Never set."""
        return self._shutdown

    @property
    def tm(self) -> Any:
        """Refused: the library's driver keeps its listeners' tasks here, and this one has no listeners."""
        raise RuntimeError("a borrowed connection starts no tasks")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return


def _entrypoint(stage: str) -> Any:
    return stage


def _manager(owner: UUID) -> Any:
    return owner
