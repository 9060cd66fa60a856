"""Limits concurrent calls, and refuses new ones once the process drains."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from services.runtime.errors import DrainingError, OverloadedError
from services.runtime.instruments import RATE_LIMIT_REFUSALS, counter
from services.runtime.interceptors.stage import Call, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from services.runtime.admission import AdmissionQueue

_RETRY_AFTER_SECONDS = 1.0
_END_SECONDS = 1.0


class ConcurrencyStage(Stage):
    """Refuses a call beyond `max_calls` with a complete error, as gRPC's own limit reports only a code.

    Calls of methods with `shared` queues do not count, as these have a limit of their own. A call that its queue would
    refuse is refused here, before authentication and validation: under load, refusals must be cheap.
    """

    name: ClassVar[str] = "limit"

    def __init__(self, max_calls: int, shared: Mapping[str, AdmissionQueue] | None = None) -> None:
        self._max_calls = max_calls
        self._shared = shared or {}
        self._counted = 0
        self._running = 0
        self._draining = False
        self._ending = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._refusals = counter(RATE_LIMIT_REFUSALS)
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def running(self) -> int:
        """Returns the number of calls in progress, including those waiting in a queue."""
        return self._running

    @contextmanager
    def around(self, call: Call) -> Iterator[None]:
        """Raises OverloadedError at the limit, DrainingError once the process drains."""
        if self._draining:
            raise DrainingError
        queue = self._shared.get(call.method)
        if queue is not None:
            queue.refuse_early()
        counted = queue is None
        if counted and self._counted >= self._max_calls:
            self._refusals.add(1, {"limit": "concurrency"})
            raise OverloadedError(_RETRY_AFTER_SECONDS)
        self._counted += counted
        self._running += 1
        self._idle.clear()
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
        try:
            yield
        except asyncio.CancelledError:
            if task is None or not self._ending:
                raise
            task.uncancel()
            raise DrainingError from None
        finally:
            self._tasks.discard(task)
            self._counted -= counted
            self._running -= 1
            if not self._running:
                self._idle.set()

    async def drain(self, seconds: float) -> bool:
        """Refuses new calls and waits for those in progress; returns whether all ended in time.

        The remaining calls end as UNAVAILABLE: a client restarts a watching stream at another replica.
        """
        self._draining = True
        if await self._is_idle_within(seconds):
            return True
        self._ending = True
        for task in self._tasks:
            task.cancel()
        return await self._is_idle_within(_END_SECONDS)

    async def _is_idle_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True
