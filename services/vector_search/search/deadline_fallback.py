"""Answers within the caller's deadline: a cheaper search starts when the full one is late, and stands in for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from services.runtime.errors import DeadlineError

T = TypeVar("T")

# Of the time left: how long the full work may take before the cheaper one starts beside it.
PATIENCE = 0.6
# Kept back for the answer's way: a share of the time left, within bounds in seconds.
MARGIN_SHARE = 0.08
MIN_MARGIN = 0.01
MAX_MARGIN = 0.05


async def in_time(
    full: Callable[[], Awaitable[T]], less: Callable[[], Awaitable[T]], left: float
) -> T:
    """What `full` gives; what `less` gives when `full` is not there shortly before `left` seconds are over.

    Work that is in time costs two timers and no task. Raises what `full` raises, and DeadlineError or what `less`
    raises when both are late; both must end by themselves at the deadline.
    """
    margin = min(max(left * MARGIN_SHARE, MIN_MARGIN), MAX_MARGIN, left / 4)
    standby = _Standby(less)
    timer = asyncio.get_running_loop().call_later(left * PATIENCE, standby.start)
    try:
        async with asyncio.timeout(left - margin):
            return await full()
    except (TimeoutError, DeadlineError):
        return await standby.answer()
    finally:
        timer.cancel()
        await standby.end()


class _Standby(Generic[T]):
    """Work that starts when it is wanted, if ever."""

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self._work = work
        self._task: asyncio.Future[T] | None = None

    def start(self) -> None:
        self._task = asyncio.ensure_future(self._work())

    async def answer(self) -> T:
        """DeadlineError when it never started."""
        if self._task is None:
            raise DeadlineError
        return await self._task

    async def end(self) -> None:
        """Ends it if it runs; what it found or failed with is nobody's matter then."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
