"""Turns: which space or job may be processed next, and by which worker. Plain queries over one table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from services.agent_orchestrator.database import Database
from services.postgres.pool import Row, Session
from services.runtime.errors import BraidError

SEARCH, GRAPH, TASK = "search", "graph", "task"
CHANNEL = "braid_turn_waiting"


class TurnLostError(BraidError):
    """Another worker claimed the turn: work since then is not recorded and will be repeated."""

    def __init__(self) -> None:
        super().__init__("Another worker claimed the turn.")


@dataclass(frozen=True, slots=True)
class Turn:
    """The right to process `key` (a space, or for tasks a job id) at one stage, until it is ended or lost."""

    id: int
    stage: str
    key: str
    owner: UUID


class TurnQueue:
    """The queue's operations. Those with a session parameter run in its transaction."""

    def __init__(self, database: Database, *, lease_seconds: float) -> None:
        self._database = database
        self._queries = database.queries
        self._lease = timedelta(seconds=lease_seconds)

    async def request(self, session: Session, stage: str, key: str, delay: float = 0.0) -> None:
        """Adds a turn that can be claimed in `delay` seconds, unless it exists.

        In both cases the turn is locked until the transaction ends.
        """
        await session.execute(self._queries["request_turn"], stage, key, timedelta(seconds=delay))

    async def claim(self, owner: UUID, stage: str, count: int) -> list[Turn]:
        """Claims up to `count` turns: those that have waited longest, and those whose lease has expired."""
        async with self._database.pool.session() as session:
            rows = await session.fetch(
                self._queries["claim_turns"], stage, count, owner, self._lease
            )
        return [Turn(row["id"], stage, row["key"], owner) for row in sorted(rows, key=_id)]

    async def renew(self, owner: UUID, turns: Iterable[Turn], extra: float = 0.0) -> set[int]:
        """Renews leases for `extra` seconds longer; returns the ids of the turns that still belong to the owner."""
        ids = [turn.id for turn in turns]
        async with self._database.pool.session() as session:
            rows = await session.fetch(
                self._queries["renew_turns"], ids, owner, timedelta(seconds=extra)
            )
        return {row["id"] for row in rows}

    async def lock(self, session: Session, turn: Turn) -> None:
        """Locks the worker's turn until the transaction ends. Raises TurnLostError if it is no longer the worker's."""
        if not await session.value(self._queries["lock_turn"], turn.id, turn.owner):
            raise TurnLostError

    async def end(self, session: Session, turn: Turn, *, again: bool, delay: float = 0.0) -> None:
        """Ends a locked turn; with `again`, requests one behind all others that starts in `delay` seconds."""
        await session.execute(self._queries["end_turn"], turn.id)
        if again:
            await self.request(session, turn.stage, turn.key, delay)


def _id(row: Row) -> int:
    return int(row["id"])
