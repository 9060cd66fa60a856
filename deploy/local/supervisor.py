"""Keeps units running: starts them, restarts crashed ones, stops them in order."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from deploy.local.child_process import (
    Child,
    Command,
    end_leftover,
    run_to_end,
    running,
    until_ready,
)
from deploy.local.errors import LocalStackError
from deploy.local.probes import Probe
from deploy.local.waiting import Waiting

_log = logging.getLogger(__name__)


class Unit(Protocol):
    """A store or a process that runs."""

    name: str
    waiting: Waiting | None

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        ...

    async def start(self) -> None:
        """Start and return once ready; raises LocalStackError."""
        ...

    async def stop(self) -> None:
        """Stop cleanly, within a time limit; has no effect if it does not run."""
        ...

    async def kill(self) -> None:
        """Kill, as a crash would; raises NotRunningError."""
        ...

    async def wait(self) -> int:
        """Wait for its end; returns the exit code."""
        ...


@dataclass(frozen=True)
class Backoff:
    """The first and the maximum delay before a restart in seconds; each further crash doubles the delay.

    After a unit ran for `steady` seconds, the delay starts from the first one again.
    """

    first: float = 0.2
    longest: float = 15.0
    steady: float = 30.0

    def next(self, delay: float, lived: float) -> float:
        """Return the delay after one of `delay` seconds and a run of `lived` seconds."""
        return self.first if lived >= self.steady else min(delay * 2, self.longest)


class Process:
    """A unit of one command, its setup command, and a probe of its address.

    `blocked` says whether what it depends on is not ready yet. `waiting` is the wait for it while it starts.
    """

    def __init__(
        self,
        command: Command,
        probe: Probe,
        address: str,
        *,
        setup: Command | None = None,
        blocked: Callable[[], bool] = lambda: False,
    ) -> None:
        self.name = command.name
        self._command = command
        self._probe = probe
        self._address = address
        self._setup = setup
        self._blocked = blocked
        self.waiting: Waiting | None = None
        self._child: Child | None = None

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return self._child.pid if self._child and self._child.running else None

    async def start(self) -> None:
        """Run the setup, start, and wait until ready; raises StartError."""
        self.waiting = waiting = Waiting(self.name, blocked=self._blocked)
        try:
            await end_leftover(self._command)
            if self._setup is not None:
                waiting.report("its setup runs")
                await run_to_end(self._setup)
            waiting.report("")
            self._child = await Child.start(self._command)
            ready = self._probe(self._address, waiting.report)
            await until_ready(self._child, ready, waiting)
        finally:
            self.waiting = None

    async def stop(self) -> None:
        """Stop cleanly."""
        if self._child is not None:
            await self._child.stop()

    async def kill(self) -> None:
        """End as a crash would."""
        await running(self._child, self.name).kill()

    async def wait(self) -> int:
        """Wait for its end."""
        return await self._child.wait() if self._child else 0


class Keeper:
    """Keeps one unit running until stopped."""

    def __init__(self, unit: Unit, changed: Callable[[], None], backoff: Backoff) -> None:
        self.unit = unit
        self.restarts = 0
        self._changed = changed
        self._backoff = backoff
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the unit and keep it running; has no effect if it is kept already.

        Raises:
            LocalStackError: it did not start, and is not kept.
        """
        if self._task is not None:
            return
        try:
            await self.unit.start()
        except BaseException:
            await self.unit.stop()
            raise
        self._changed()
        self._task = asyncio.create_task(self._keep(), name=f"keep {self.unit.name}")

    async def stop(self) -> None:
        """Stop the unit cleanly and do not restart it."""
        await self._let_go()
        await self.unit.stop()
        self._changed()

    async def kill(self, *, restart: bool) -> None:
        """Kill the unit, as a crash would, and restart it or not."""
        if not restart:
            await self._let_go()
        await self.unit.kill()
        self._changed()

    async def _let_go(self) -> None:
        if self._task is None:
            return
        task, self._task = self._task, None
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _keep(self) -> None:
        clock = asyncio.get_running_loop().time
        delay = self._backoff.first / 2
        while True:
            born = clock()
            code = await self.unit.wait()
            delay = self._backoff.next(delay, clock() - born)
            _log.warning(
                "%s ended with code %d; starting it in %.1f s", self.unit.name, code, delay
            )
            await asyncio.sleep(delay)
            self.restarts += 1
            try:
                await self.unit.start()
            except (LocalStackError, OSError) as error:  # the next iteration tries again
                _log.warning("%s did not come back: %s", self.unit.name, error)
            self._changed()


class Supervisor:
    """Keepers by name; they stop in the reverse of the order in which they were added."""

    def __init__(
        self, *, changed: Callable[[], None] = lambda: None, backoff: Backoff | None = None
    ) -> None:
        self._changed = changed
        self._backoff = backoff or Backoff()
        self._keepers: dict[str, Keeper] = {}

    def add(self, unit: Unit) -> None:
        """Add a unit, which is then started by name."""
        self._keepers[unit.name] = Keeper(unit, self._changed, self._backoff)

    def __getitem__(self, name: str) -> Keeper:
        try:
            return self._keepers[name]
        except KeyError:
            known = ", ".join(self._keepers)
            raise LocalStackError(f"there is no {name!r} here, only {known}") from None

    def waits(self) -> list[Waiting]:
        """Return the waits for units that are starting, in the order in which they were added."""
        units = (keeper.unit for keeper in self._keepers.values())
        return [unit.waiting for unit in units if unit.waiting is not None]

    def pids(self) -> dict[str, int]:
        """Return the process ids of running units."""
        units = (keeper.unit for keeper in self._keepers.values())
        return {unit.name: pid for unit in units if (pid := unit.pid) is not None}

    async def stop(self) -> None:
        """Stop all units one after the other, last added first, even if one of them fails."""
        async with contextlib.AsyncExitStack() as stops:
            for keeper in self._keepers.values():
                stops.push_async_callback(keeper.stop)
