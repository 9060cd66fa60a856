"""Housekeeping of jobs, once a minute: requests missing turns, and deletes jobs that ended long ago."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from services.agent_orchestrator.jobs.work_store import WorkStore

ROUND_SECONDS = 60.0


class Housekeeping:
    """Requests turns for work that has none, and deletes old jobs."""

    def __init__(
        self, work: WorkStore, *, keep_days: int, also: Sequence[Callable[[], Awaitable[None]]]
    ) -> None:
        """`also` are done in each round, in this order."""
        self._work = work
        self._keep_days = keep_days
        self._also = also

    async def run(self) -> None:
        """Runs once a minute until cancelled or a round fails."""
        while True:
            await asyncio.sleep(ROUND_SECONDS)
            await self._work.request_unqueued_turns()
            await self._work.purge(self._keep_days)
            for work in self._also:
                await work()
