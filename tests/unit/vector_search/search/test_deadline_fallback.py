"""The full work has the caller's time; a cheaper one stands in for it only when that is nearly over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from services.runtime.errors import DeadlineError, StoreUnavailableError
from services.vector_search.search.deadline_fallback import with_fallback

Work = Callable[[], Awaitable[str]]


class Worker:
    """Work that answers after some seconds, never, or with an error."""

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


async def test_work_that_is_in_time_is_alone() -> None:
    full, less = Worker("full"), Worker("less")
    assert await with_fallback(full, less, 5.0) == "full"
    assert not less.started


async def test_late_work_is_replaced_before_the_time_is_over_and_ended() -> None:
    full, less = Worker("full", None), Worker("less")
    loop = asyncio.get_running_loop()
    started = loop.time()
    assert await with_fallback(full, less, 0.3) == "less"
    assert loop.time() - started < 0.3
    assert full.cancelled


async def test_late_work_that_still_arrives_is_preferred() -> None:
    full, less = Worker("full", 0.35), Worker("less")
    assert await with_fallback(full, less, 0.5) == "full"
    assert less.started


async def test_a_cheaper_answer_that_is_late_as_well_is_still_waited_for() -> None:
    full, less = Worker("full", None), Worker("less", 0.1)
    assert await with_fallback(full, less, 0.2) == "less"
    assert full.cancelled


async def test_a_limit_of_the_works_own_leaves_the_cheaper_answer() -> None:
    full, less = Worker(DeadlineError(), 0.14), Worker("less", 0.1)
    assert await with_fallback(full, less, 0.2) == "less"
    with pytest.raises(DeadlineError):
        await with_fallback(Worker(DeadlineError()), less, 0.2)


async def test_an_error_of_the_full_work_is_raised_at_once() -> None:
    less = Worker("less")
    with pytest.raises(StoreUnavailableError):
        await with_fallback(Worker(StoreUnavailableError("x")), less, 5.0)
    assert not less.started


async def test_an_error_of_the_cheaper_work_matters_only_when_both_are_late() -> None:
    less = Worker(StoreUnavailableError("x"))
    assert await with_fallback(Worker("full", 0.15), less, 0.2) == "full"
    with pytest.raises(StoreUnavailableError):
        await with_fallback(Worker("full", None), less, 0.2)


async def test_a_caller_who_leaves_ends_both() -> None:
    full, less = Worker("full", None), Worker("less", None)
    waiting = asyncio.create_task(with_fallback(full, less, 0.2))
    async with asyncio.timeout(5):
        while not less.started:  # noqa: ASYNC110 - the work has no event
            await asyncio.sleep(0.005)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert full.cancelled
    assert less.cancelled
