"""Housekeeping of jobs, once a minute: requests missing turns, and deletes jobs that ended long ago."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from services.agent_orchestrator.jobs.work_store import WorkStore

ROUND_SECONDS = 60.0


class Housekeeping:
    """Requests turns for work that has none, and deletes old jobs."""

    def __init__(self, work: WorkStore, *, keep_days: int) -> None:
        self._work = work
        self._keep_days = keep_days

    async def run(self) -> None:
        """Runs once a minute until cancelled."""
        while True:
            await asyncio.sleep(ROUND_SECONDS)
            try:
                await self._work.request_unqueued_turns()
                await self._work.purge(self._keep_days)
            except (BraidError, TimeoutError) as error:
                get_logger("housekeeping").warning("put off", error=type(error).__name__)
