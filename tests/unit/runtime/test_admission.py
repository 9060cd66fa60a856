"""AdmissionQueue: a limited number of slots, a short queue, and refusals with a retry delay."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from services.runtime.admission import AdmissionLimits, AdmissionQueue
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import DeadlineError, OverloadedError


def call(seconds: float | None = None) -> CallContext:
    deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
    return CallContext("r", "m", "s", "u", frozenset(), deadline=deadline)


def take_slot(slots: AdmissionQueue) -> asyncio.Task[None]:
    """Starts a task that takes a slot and releases it."""

    async def take() -> None:
        async with slots.slot():
            pass

    return asyncio.create_task(take())


@asynccontextmanager
async def all_taken(limits: AdmissionLimits) -> AsyncIterator[AdmissionQueue]:
    """Yields an AdmissionQueue without a free slot."""
    slots = AdmissionQueue(limits)
    taken: list[AbstractAsyncContextManager[None]] = [slots.slot() for _ in range(limits.size)]
    for one in taken:
        await one.__aenter__()
    yield slots
    for one in taken:
        await one.__aexit__(None, None, None)
    assert slots.active == 0


async def test_a_free_slot_is_taken_at_once_and_released_on_an_error() -> None:
    slots = AdmissionQueue(AdmissionLimits(size=1, queue_size=0))
    with pytest.raises(ValueError, match="defect"):
        async with slots.slot():
            assert slots.active == 1
            raise ValueError("defect")
    async with slots.slot():
        assert (slots.active, slots.waiting) == (1, 0)


async def test_waiting_callers_get_slots_in_order() -> None:
    order: list[int] = []

    async def take(number: int) -> None:
        async with slots.slot():
            order.append(number)

    async with all_taken(AdmissionLimits(size=2, queue_seconds=60)) as slots:
        waiting = [asyncio.create_task(take(number)) for number in range(5)]
        await asyncio.sleep(0)
        assert (slots.active, slots.waiting) == (2, 5)
    await asyncio.gather(*waiting)
    assert order == [0, 1, 2, 3, 4]


async def test_a_call_beyond_the_queue_is_refused_at_once_with_a_retry_delay() -> None:
    async with all_taken(AdmissionLimits(size=1, queue_size=1, queue_seconds=60)) as slots:
        waiting = take_slot(slots)
        await asyncio.sleep(0)
        with pytest.raises(OverloadedError) as refused:
            await take_slot(slots)
        assert refused.value.retry_after == 60
        assert not waiting.done()
    await waiting


async def test_a_call_that_waits_for_several_slots_counts_once() -> None:
    async with all_taken(AdmissionLimits(size=1, queue_size=1, queue_seconds=60)) as slots:
        with call_scope(call()):
            first, second = take_slot(slots), take_slot(slots)
        with call_scope(call()):
            other = take_slot(slots)
        with pytest.raises(OverloadedError):
            await other
        assert slots.waiting == 1
        first.cancel()
        await asyncio.wait([first])
        assert slots.waiting == 1
    await second


async def test_a_wait_beyond_the_limit_is_an_overload() -> None:
    async with all_taken(AdmissionLimits(size=1, queue_seconds=0.05)) as slots:
        with pytest.raises(OverloadedError):
            await take_slot(slots)
        assert slots.waiting == 0


async def test_a_deadline_that_passes_in_the_queue_is_a_deadline_error() -> None:
    async with all_taken(AdmissionLimits(size=1, queue_seconds=60)) as slots:
        with call_scope(call(seconds=0.05)), pytest.raises(DeadlineError):
            await take_slot(slots)
        assert slots.waiting == 0


async def test_callers_that_are_refused_together_get_different_retry_delays() -> None:
    limits = AdmissionLimits(size=1, queue_size=0, queue_seconds=60, retry_seconds=1.0)
    async with all_taken(limits) as slots:
        delays = set()
        for _ in range(20):
            with pytest.raises(OverloadedError) as refused:
                await take_slot(slots)
            delays.add(refused.value.retry_after)
    assert len(delays) > 10
    assert all(0.5 <= seconds <= 1.5 for seconds in delays if seconds is not None)


async def wait_until_refused(slots: AdmissionQueue) -> float:
    """Returns the seconds until a caller is refused."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(OverloadedError):
        await take_slot(slots)
    return loop.time() - began


async def test_after_a_wait_has_timed_out_callers_are_refused_sooner() -> None:
    limits = AdmissionLimits(size=1, queue_seconds=0.4, adaptive=True)
    async with all_taken(limits) as slots:
        slots.refuse_early()  # does not raise: the queue is empty, so a caller may wait
        assert await wait_until_refused(slots) >= 0.4
        assert await wait_until_refused(slots) < 0.2


async def test_in_an_overload_only_a_quarter_as_many_callers_as_slots_may_wait() -> None:
    limits = AdmissionLimits(size=4, queue_seconds=0.2, adaptive=True)
    async with all_taken(limits) as slots:
        await wait_until_refused(slots)
        waiting = asyncio.create_task(wait_until_refused(slots))
        async with asyncio.timeout(1):
            while not slots.waiting:  # noqa: ASYNC110 - a wait has no event
                await asyncio.sleep(0)
        with pytest.raises(OverloadedError):
            slots.refuse_early()
        assert await wait_until_refused(slots) < 0.02
        await waiting


async def test_an_overload_ends_when_as_many_calls_as_slots_find_a_free_slot() -> None:
    limits = AdmissionLimits(size=2, queue_seconds=0.4, adaptive=True)
    slots = AdmissionQueue(limits)
    async with slots.slot(), slots.slot():
        await wait_until_refused(slots)
    for _ in range(2):
        await take_slot(slots)
    async with slots.slot(), slots.slot():
        assert await wait_until_refused(slots) >= 0.4


async def test_a_burst_whose_callers_all_get_slots_in_time_is_no_overload() -> None:
    """Twice as many callers as slots run for longer than the longest wait."""
    limits = AdmissionLimits(size=2, queue_seconds=0.2, adaptive=True)
    slots = AdmissionQueue(limits)

    async def caller() -> None:
        for _ in range(20):
            async with slots.slot():
                await asyncio.sleep(0.02)

    await asyncio.gather(*(caller() for _ in range(4)))
