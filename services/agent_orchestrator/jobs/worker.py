"""A worker: claims turns, works on some concurrently, renews their leases, and releases them.

If a worker is killed, others claim its turns when their leases expire. Without its database it continues for as long as
nobody else can claim its turns, then drops them; it resumes when the database is available again.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from braid.common.v1 import errors_pb2
from services.agent_orchestrator.jobs.queue import Turn, TurnLostError, TurnQueue
from services.agent_orchestrator.jobs.retries import reason_of
from services.agent_orchestrator.jobs.tasks import Handler, Task, TaskStore
from services.agent_orchestrator.jobs.time_slice import (
    WaitingError,
    call_of,
    leaf_exceptions,
    waiting,
)
from services.agent_orchestrator.jobs.work_store import WorkStore
from services.runtime.context import call_scope
from services.runtime.errors import BraidError, InternalError, StoreUnavailableError
from services.runtime.instruments import TURNS, counter
from services.runtime.telemetry import get_logger
from services.runtime.tracing import root_span

LOOK_SECONDS = 1.0
AGAIN_SECONDS = 0.5
FIRST_DELAY = 0.25
MAX_BACKOFF = 5.0
RENEWALS_PER_LEASE = 5
# A turn not renewed for this share of its lease is dropped, before another worker can claim it.
SAFE_SHARE = 0.8
# A worker whose renewals are late, on a busy machine or database, holds its turns longer: it may be late again.
LATE_FACTOR = 3.0
MAX_EXTRA = 60.0


class Runner(Protocol):
    """Processes the turns of one stage."""

    @property
    def max_concurrent(self) -> int:
        """Maximum number of concurrent turns."""
        ...

    async def run(self, turn: Turn, stop: asyncio.Event) -> None:
        """Works until there is nothing to do, or `stop` is set. Raises WaitingError if it cannot continue now."""
        ...

    async def end(self, turn: Turn, delay: float) -> None:
        """Releases the turn; the next one may be claimed in `delay` seconds, if there is more work."""
        ...


@dataclass(eq=False, slots=True)
class _ActiveTurn:
    turn: Turn
    task: asyncio.Task[None]
    renewed: float
    # Seconds after `renewed` until another worker may claim the turn.
    lease: float


class Worker:
    """Processes turns until it is stopped. `wake` may be called at any time to announce waiting turns."""

    def __init__(
        self, turns: TurnQueue, runners: Mapping[str, Runner], *, lease_seconds: float
    ) -> None:
        self._turns = turns
        self._runners = runners
        self._lease = lease_seconds
        self._owner = uuid.uuid4()
        self._active: dict[int, _ActiveTurn] = {}
        self._waits: Counter[tuple[str, str]] = Counter()
        self._wake_up = asyncio.Event()
        self._looked = 0.0
        self._stop = asyncio.Event()
        self._log = get_logger("worker")
        self._outcomes = counter(TURNS)

    def wake(self) -> None:
        """Claims waiting turns immediately."""
        self._wake_up.set()

    async def run(self) -> None:
        """Processes turns until it is cancelled or `stop` is called."""
        async with asyncio.TaskGroup() as group:
            renewing = group.create_task(self._renew_leases())
            await self._take_turns(group)
            renewing.cancel()

    async def check(self) -> None:
        """Raises StoreUnavailableError if the last successful attempt to claim turns is older than a lease."""
        if asyncio.get_running_loop().time() - self._looked > self._lease:
            raise StoreUnavailableError("postgresql")

    async def stop(self, seconds: float) -> None:
        """Claims no more turns; releases active ones when they can stop, at the latest after `seconds`."""
        self._stop.set()
        self._wake_up.set()
        tasks = [active.task for active in self._active.values()]
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=self._lease)

    async def _take_turns(self, group: asyncio.TaskGroup) -> None:
        while not self._stop.is_set():
            self._wake_up.clear()
            try:
                await self._take(group)
                self._looked = asyncio.get_running_loop().time()
            except Exception as error:  # noqa: BLE001 - the database may be unavailable or not migrated yet
                self._log.warning("no turns", error=type(error).__name__)
                await self._pause(AGAIN_SECONDS)
                continue
            await self._pause(LOOK_SECONDS)

    async def _take(self, group: asyncio.TaskGroup) -> None:
        for stage, runner in self._runners.items():
            running = sum(active.turn.stage == stage for active in self._active.values())
            free = runner.max_concurrent - running
            if free <= 0 or self._stop.is_set():
                continue
            for turn in await self._turns.claim(self._owner, stage, free):
                self._start(group, turn)

    def _start(self, group: asyncio.TaskGroup, turn: Turn) -> None:
        former = self._active.get(turn.id)
        if former is not None:
            # Our renewals were too late and we claimed the turn again: its work continues.
            former.renewed, former.lease = asyncio.get_running_loop().time(), self._lease
            return
        task = group.create_task(self._run(turn), name=f"{turn.stage} turn")
        self._active[turn.id] = _ActiveTurn(
            turn, task, asyncio.get_running_loop().time(), self._lease
        )

    async def _run(self, turn: Turn) -> None:
        try:
            delay = await self._work(turn)
            await self._give_back(turn, delay)
        except asyncio.CancelledError:
            self._count(turn, "stopped" if self._stop.is_set() else "lost")
            if not self._stop.is_set():
                return  # the turn is lost or soon will be, so it is not released
            with suppress(BraidError, TimeoutError):
                await self._runners[turn.stage].end(turn, 0.0)
        except TurnLostError:
            self._count(turn, "lost")
            self._log.warning("turn lost", stage=turn.stage)
        except Exception as error:  # noqa: BLE001 - others continue; this turn is claimed again after its lease
            self._log.error("turn not given back", stage=turn.stage, exc_info=error)
        finally:
            self._active.pop(turn.id, None)
            self._wake_up.set()

    async def _work(self, turn: Turn) -> float:
        """Runs the turn; returns the seconds until the next turn may be claimed."""
        key = (turn.stage, turn.key)
        try:
            with root_span(f"turn {turn.stage}"):
                await self._runners[turn.stage].run(turn, self._stop)
        except WaitingError as waiting:
            self._count(turn, "waiting")
            self._log.warning("waiting", stage=turn.stage, reason=waiting.reason)
            return max(waiting.delay or 0.0, self._backoff(key))
        except TurnLostError:
            raise
        except Exception as error:  # noqa: BLE001 - any defect: the turn is retried up to a limit
            self._count(turn, "failed")
            self._log.error("turn failed", stage=turn.stage, exc_info=error)
            return self._backoff(key)
        self._waits.pop(key, None)
        self._count(turn, "done")
        return 0.0

    def _count(self, turn: Turn, outcome: str) -> None:
        self._outcomes.add(1, {"stage": turn.stage, "outcome": outcome})

    def _backoff(self, key: tuple[str, str]) -> float:
        self._waits[key] += 1
        return min(MAX_BACKOFF, FIRST_DELAY * 2.0 ** (self._waits[key] - 1))

    async def _give_back(self, turn: Turn, delay: float) -> None:
        while True:
            try:
                await self._runners[turn.stage].end(turn, delay)
            except TurnLostError:
                raise
            except (BraidError, TimeoutError):
                # The database is unavailable: retries until it is cancelled because the turn is lost.
                await asyncio.sleep(AGAIN_SECONDS)
            else:
                return

    async def _renew_leases(self) -> None:
        clock, interval = asyncio.get_running_loop().time, self._lease / RENEWALS_PER_LEASE
        extra = 0.0
        while True:
            began = clock()
            await asyncio.sleep(interval)
            if self._active:
                await self._renew_once(extra)
            late = clock() - began - interval
            extra = min(LATE_FACTOR * max(late - interval, 0.0), MAX_EXTRA)

    async def _renew_once(self, extra: float) -> None:
        active = list(self._active.values())
        now = asyncio.get_running_loop().time()
        first = min(one.renewed + one.lease * SAFE_SHARE for one in active)
        try:
            async with asyncio.timeout(max(first - now, self._lease / RENEWALS_PER_LEASE)):
                ours = await self._turns.renew(self._owner, [one.turn for one in active], extra)
        except Exception as error:  # noqa: BLE001 - the leases remain valid for some time
            self._log.warning("leases not renewed", error=type(error).__name__)
            for one in active:
                age = asyncio.get_running_loop().time() - one.renewed
                if age >= one.lease * SAFE_SHARE:
                    one.task.cancel()
            return
        for one in active:
            if one.turn.id in ours:
                one.renewed, one.lease = now, self._lease + extra
            elif one.turn.id in self._active:
                one.task.cancel()

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake_up.wait()


MAX_DEFECTS = 5
# Failures of a tier in a row after which a task fails, some 40 minutes at the longest pause.
MAX_UNEXPLAINED = 500
UNEXPLAINED = frozenset(
    {
        errors_pb2.ERROR_REASON_INTERNAL,
        errors_pb2.ERROR_REASON_INVALID_CREDENTIAL,
        errors_pb2.ERROR_REASON_MISSING_SCOPE,
    }
)


@dataclass(frozen=True, slots=True)
class SpaceRunner:
    """A stage that processes spaces."""

    work: WorkStore
    max_concurrent: int
    turn: Callable[[Turn, asyncio.Event], Awaitable[None]]

    async def run(self, turn: Turn, stop: asyncio.Event) -> None:
        """Processes the turn's space."""
        await self.turn(turn, stop)

    async def end(self, turn: Turn, delay: float) -> None:
        """Releases the turn."""
        await self.work.end_turn(turn, delay=delay)


@dataclass(frozen=True, slots=True)
class TaskRunner:
    """Runs jobs that are not uploads with the handlers of their kinds."""

    tasks: TaskStore
    handlers: Mapping[str, Handler]
    max_concurrent: int

    async def run(self, turn: Turn, stop: asyncio.Event) -> None:
        """Runs the turn's job. It may be stopped at any point, because it resumes where it last saved."""
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
        """Releases the turn."""
        await self.tasks.end_turn(turn, delay=delay)

    async def _do(self, task: Task) -> None:
        handler = self.handlers.get(task.job.kind)
        if handler is None:
            await self.tasks.fail(task.turn, f"No worker knows jobs of kind {task.job.kind}.")
            return
        with call_scope(call_of(task.turn, task.job.space)):
            try:
                result = await handler(task)
            # A failure may end the task or be a reason to wait; any other failure is raised again.
            except Exception as error:
                if not await self._has_failed(task, error):
                    raise
            else:
                await self.tasks.succeed(task.turn, result)

    async def _has_failed(self, task: Task, error: Exception) -> bool:
        """Whether a known error has failed the task; False for a defect. Raises WaitingError for a reason to wait."""
        reason = waiting(error)
        if reason is not None:
            await self.tasks.set_waiting_reason(task.turn, reason.reason, blameless=True)
            raise reason from None
        known = [leaf for leaf in leaf_exceptions(error) if isinstance(leaf, BraidError)]
        if known and known[0].reason in UNEXPLAINED and task.takes < MAX_UNEXPLAINED:
            # A tier's defect is not the task's fault: it may be repaired soon, such as a bad release.
            why = reason_of(known[0])
            await self.tasks.set_waiting_reason(task.turn, why, blameless=False)
            raise WaitingError(why, None) from None
        if known:
            await self.tasks.fail(task.turn, reason_of(known[0]))
        elif task.takes >= MAX_DEFECTS:
            await self.tasks.fail(task.turn, reason_of(InternalError()))
        return bool(known)
