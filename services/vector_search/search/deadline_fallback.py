"""Answers within the caller's deadline: if the full search takes too long, a cheaper one starts and replaces it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from services.runtime.errors import DeadlineError

T = TypeVar("T")

# The share of the time left after which the cheaper work starts too.
FALLBACK_START_SHARE = 0.6
# Reserved for sending the answer: a share of the time left, within bounds in seconds.
MARGIN_SHARE = 0.08
MIN_MARGIN = 0.01
MAX_MARGIN = 0.05


async def with_fallback(
    full: Callable[[], Awaitable[T]], fallback: Callable[[], Awaitable[T]], left: float
) -> T:
    """Returns the result of `full`, or that of `fallback` if `full` has not ended shortly before the deadline.

    `left` is the time until the deadline in seconds. Work that ends in time costs two timers and no task. Raises what
    `full` raises; if both take too long, raises DeadlineError or what `fallback` raises. Both must end by themselves at
    the deadline.
    """
    margin = min(max(left * MARGIN_SHARE, MIN_MARGIN), MAX_MARGIN, left / 4)
    standby = _Standby(fallback)
    timer = asyncio.get_running_loop().call_later(left * FALLBACK_START_SHARE, standby.start)
    try:
        async with asyncio.timeout(left - margin):
            return await full()
    except (TimeoutError, DeadlineError):
        return await standby.answer()
    finally:
        timer.cancel()
        await standby.end()


class _Standby(Generic[T]):
    """Work that may never start."""

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self._work = work
        self._task: asyncio.Future[T] | None = None

    def start(self) -> None:
        self._task = asyncio.ensure_future(self._work())

    async def answer(self) -> T:
        """Returns the work's result. Raises DeadlineError if it never started."""
        if self._task is None:
            raise DeadlineError
        return await self._task

    async def end(self) -> None:
        """Cancels the work if it runs, and drops its result or error."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
