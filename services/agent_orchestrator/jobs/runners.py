"""The stages as a worker runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from services.agent_orchestrator.ingest.retries import told
from services.agent_orchestrator.ingest.turns import call_of, leaves, waiting
from services.agent_orchestrator.jobs.queue import Turn
from services.agent_orchestrator.jobs.tasks import Handler, Task, TaskStore
from services.agent_orchestrator.jobs.work import WorkStore
from services.runtime.context import call_scope
from services.runtime.errors import BraidError, InternalError

MOST_DEFECTS = 5


@dataclass(frozen=True, slots=True)
class SpaceRunner:
    """A stage that works on spaces."""

    work: WorkStore
    at_once: int
    turn: Callable[[Turn, asyncio.Event], Awaitable[None]]

    async def run(self, turn: Turn, stop: asyncio.Event) -> None:
        """Works on the turn's space."""
        await self.turn(turn, stop)

    async def end(self, turn: Turn, delay: float) -> None:
        """Gives the turn back."""
        await self.work.end_turn(turn, delay=delay)


@dataclass(frozen=True, slots=True)
class TaskRunner:
    """Jobs that are no uploads, by the handlers of their kinds."""

    tasks: TaskStore
    handlers: Mapping[str, Handler]
    at_once: int

    async def run(self, turn: Turn, stop: asyncio.Event) -> None:
        """Does the turn's job. It may be stopped anywhere, since it goes on where it last saved."""
        task = await self.tasks.start(turn)
        if task is None:
            return
        doing = asyncio.ensure_future(self._do(task))
        stopping = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait((doing, stopping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            doing.cancel()
            await asyncio.gather(doing, stopping, return_exceptions=True)
        if not doing.cancelled():
            doing.result()

    async def end(self, turn: Turn, delay: float) -> None:
        """Gives the turn back."""
        await self.tasks.end_turn(turn, delay=delay)

    async def _do(self, task: Task) -> None:
        handler = self.handlers.get(task.job.kind)
        if handler is None:
            await self.tasks.fail(task.turn, f"No worker knows jobs of kind {task.job.kind}.")
            return
        with call_scope(call_of(task.turn, task.job.space)):
            try:
                result = await handler(task)
            # Any failure may be its task's end or a reason to wait; one that is neither is raised again.
            except Exception as error:
                if not await self._has_failed(task, error):
                    raise
            else:
                await self.tasks.succeed(task.turn, result)

    async def _has_failed(self, task: Task, error: Exception) -> bool:
        """Whether the task is over with this. WaitingError for a reason to wait; else it is a defect."""
        reason = waiting(error)
        if reason is not None:
            await self.tasks.say_waiting(task.turn, reason.reason, blameless=True)
            raise reason from None
        known = [leaf for leaf in leaves(error) if isinstance(leaf, BraidError)]
        if known:
            await self.tasks.fail(task.turn, told(known[0]))
        elif task.takes >= MOST_DEFECTS:
            await self.tasks.fail(task.turn, told(InternalError()))
        return bool(known)
