"""Follows a run of another process by polling the event log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace

from services.agent_orchestrator.agent.runs.event_log import Owner, RunLog
from services.agent_orchestrator.agent.runs.events import Event, Failed
from services.agent_orchestrator.agent.runs.run import Run
from services.agent_orchestrator.agent.runs.store_failures import STORE_FAILURES

INTERRUPTED = "The process that worked on the answer stopped. Ask again."
# How often a process that reads another process's run records that the run has a follower.
NOTE_SECONDS = 1.0
_FOLLOW_SECONDS = (0.05, 0.5)


class LogFollower:
    """Follows runs of other processes."""

    def __init__(self, log: RunLog) -> None:
        self._log = log

    async def follow(self, owner: Owner, run_id: str, after: int) -> AsyncIterator[Event]:
        """Yields events after a number, including future ones, to the last. Raises NotFoundError for an unknown run."""
        wait, longest = _FOLLOW_SECONDS
        position = after
        noted = float("-inf")
        clock = asyncio.get_running_loop().time
        while True:
            if clock() - noted > NOTE_SECONDS:
                noted = clock()
                await self._log.note_follower(run_id)
            state = await self._log.state(run_id, owner)
            events = await self._log.events(run_id, position)
            for event in events:
                position = event.number
                yield event
                if event.is_last:
                    return
            if events:
                wait = _FOLLOW_SECONDS[0]
                continue
            if state.ended:
                return
            if state.interrupted:
                yield await self._interrupted(run_id, position)
                return
            await asyncio.sleep(wait)
            wait = min(wait * 2, longest)

    async def _interrupted(self, run_id: str, position: int) -> Event:
        run = Run(run_id, Owner("", ""), "", lambda _: None)
        failed = Failed(reason="STORE_UNAVAILABLE", message=INTERRUPTED, retry_after=1.0)
        event = replace(run.next_event(failed), number=position + 1)
        with suppress(*STORE_FAILURES):
            await self._log.end(run_id, [event])
        return event
