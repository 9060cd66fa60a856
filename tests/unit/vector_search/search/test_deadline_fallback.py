"""The full work has the caller's time; a cheaper fallback starts only shortly before the deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from services.runtime.errors import DeadlineError, StoreUnavailableError
from services.vector_search.search.deadline_fallback import with_fallback

Work = Callable[[], Awaitable[str]]


class Worker:
    """Work that returns or raises `answer` after some seconds, or never ends."""

    def __init__(self, answer: str | Exception, seconds: float | None = 0.0) -> None:
        self._answer = answer
        self._seconds = seconds
        self.started = False
        self.cancelled = False

    async def __call__(self) -> str:
        self.started = True
        try:
            await (
                asyncio.Event().wait() if self._seconds is None else asyncio.sleep(self._seconds)
            )
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


async def test_work_that_is_in_time_starts_no_fallback() -> None:
    full, fallback = Worker("full"), Worker("less")
    assert await with_fallback(full, fallback, 5.0) == "full"
    assert not fallback.started


async def test_late_work_is_replaced_before_the_deadline_and_canceled() -> None:
    full, fallback = Worker("full", None), Worker("less")
    loop = asyncio.get_running_loop()
    started = loop.time()
    assert await with_fallback(full, fallback, 0.3) == "less"
    assert loop.time() - started < 0.3
    assert full.cancelled


async def test_late_work_that_still_finishes_in_time_is_preferred() -> None:
    full, fallback = Worker("full", 0.35), Worker("less")
    assert await with_fallback(full, fallback, 0.5) == "full"
    assert fallback.started


async def test_a_fallback_that_is_late_as_well_is_still_awaited() -> None:
    full, fallback = Worker("full", None), Worker("less", 0.1)
    assert await with_fallback(full, fallback, 0.2) == "less"
    assert full.cancelled


async def test_a_late_deadline_error_of_the_full_work_leaves_the_fallback() -> None:
    full, fallback = Worker(DeadlineError(), 0.14), Worker("less", 0.1)
    assert await with_fallback(full, fallback, 0.2) == "less"
    with pytest.raises(DeadlineError):
        await with_fallback(Worker(DeadlineError()), fallback, 0.2)


async def test_an_error_of_the_full_work_is_raised_at_once() -> None:
    fallback = Worker("less")
    with pytest.raises(StoreUnavailableError):
        await with_fallback(Worker(StoreUnavailableError("x")), fallback, 5.0)
    assert not fallback.started


async def test_an_error_of_the_fallback_is_raised_only_without_a_full_result() -> None:
    fallback = Worker(StoreUnavailableError("x"))
    assert await with_fallback(Worker("full", 0.15), fallback, 0.2) == "full"
    with pytest.raises(StoreUnavailableError):
        await with_fallback(Worker("full", None), fallback, 0.2)


async def test_a_canceled_call_cancels_both() -> None:
    full, fallback = Worker("full", None), Worker("less", None)
    waiting = asyncio.create_task(with_fallback(full, fallback, 0.2))
    async with asyncio.timeout(5):
        while not fallback.started:  # noqa: ASYNC110 - the work has no event
            await asyncio.sleep(0.005)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert full.cancelled
    assert fallback.cancelled
