"""Answers within the caller's deadline: a cheaper search starts when the full one is late, and stands in for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

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

    Both are ended by their own limits; an error of `full` is raised, and one of `less` only with it.
    """
    margin = min(max(left * MARGIN_SHARE, MIN_MARGIN), MAX_MARGIN, left / 4)
    first = asyncio.ensure_future(full())
    second: asyncio.Future[T] | None = None
    try:
        await asyncio.wait((first,), timeout=left * PATIENCE)
        if first.done():
            return first.result()
        second = asyncio.ensure_future(less())
        await asyncio.wait((first,), timeout=left * (1 - PATIENCE) - margin)
        if not first.done() and not _has_answer(second):
            await asyncio.wait((first, second), return_when=asyncio.FIRST_COMPLETED)
        return second.result() if not first.done() and _has_answer(second) else await first
    finally:
        await _end(first, second)


def _has_answer(work: asyncio.Future[T]) -> bool:
    return work.done() and not work.cancelled() and work.exception() is None


async def _end(*all_work: asyncio.Future[T] | None) -> None:
    running = [work for work in all_work if work is not None and not work.done()]
    for work in running:
        work.cancel()
    await asyncio.gather(*running, return_exceptions=True)
