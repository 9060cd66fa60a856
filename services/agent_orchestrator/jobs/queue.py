"""Turns: which space, or which job, may be worked on next, and by whom. Four plain queries over one table."""

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
    """Another worker claimed the turn: what was done since is not recorded, and will be done again."""

    def __init__(self) -> None:
        super().__init__("Another worker claimed the turn.")


@dataclass(frozen=True, slots=True)
class Turn:
    """The right to work on `key` (a space; for tasks a job's id) at one stage, until it is ended or lost."""

    id: int
    stage: str
    key: str
    owner: UUID


class TurnQueue:
    """The queue's operations. Those with a session belong to its transaction."""

    def __init__(self, database: Database, *, lease_seconds: float) -> None:
        self._database = database
        self._queries = database.queries
        self._lease = timedelta(seconds=lease_seconds)

    async def request(self, session: Session, stage: str, key: str, delay: float = 0.0) -> None:
        """Adds a turn that can be claimed in `delay` seconds, unless there is one.

        Either way nobody ends it before the transaction does.
        """
        await session.execute(self._queries["request_turn"], stage, key, timedelta(seconds=delay))

    async def claim(self, owner: UUID, stage: str, count: int) -> list[Turn]:
        """Up to `count` turns: the longest waiting, and those whose worker has not renewed them for a lease."""
        async with self._database.pool.session() as session:
            rows = await session.fetch(
                self._queries["claim_turns"], stage, count, owner, self._lease
            )
        return [Turn(row["id"], stage, row["key"], owner) for row in sorted(rows, key=_id)]

    async def renew(self, owner: UUID, turns: Iterable[Turn]) -> set[int]:
        """Renews leases; the ids of those turns that are still the owner's."""
        ids = [turn.id for turn in turns]
        async with self._database.pool.session() as session:
            rows = await session.fetch(self._queries["renew_turns"], ids, owner)
        return {row["id"] for row in rows}

    async def lock(self, session: Session, turn: Turn) -> None:
        """Makes sure that the turn is the worker's until the transaction ends. TurnLostError when it is not."""
        if not await session.value(self._queries["lock_turn"], turn.id, turn.owner):
            raise TurnLostError

    async def end(self, session: Session, turn: Turn, *, again: bool, delay: float = 0.0) -> None:
        """Ends a locked turn; `again` requests one behind all others, `delay` seconds from now."""
        await session.execute(self._queries["end_turn"], turn.id)
        if again:
            await self.request(session, turn.stage, turn.key, delay)


def _id(row: Row) -> int:
    return int(row["id"])
