"""AdmissionQueue: so many at a time, a short queue of calls in front, and a refusal that says when to come again."""

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


def taking(slots: AdmissionQueue) -> asyncio.Task[None]:
    """Takes a slot and gives it back."""

    async def take() -> None:
        async with slots.slot():
            pass

    return asyncio.create_task(take())


@asynccontextmanager
async def all_taken(limits: AdmissionLimits) -> AsyncIterator[AdmissionQueue]:
    """AdmissionQueue of which none is free."""
    slots = AdmissionQueue(limits)
    held: list[AbstractAsyncContextManager[None]] = [slots.slot() for _ in range(limits.size)]
    for one in held:
        await one.__aenter__()
    yield slots
    for one in held:
        await one.__aexit__(None, None, None)
    assert slots.active == 0


async def test_a_free_slot_is_had_at_once_and_given_back_on_an_error() -> None:
    slots = AdmissionQueue(AdmissionLimits(size=1, queue_size=0))
    with pytest.raises(ValueError, match="defect"):
        async with slots.slot():
            assert slots.active == 1
            raise ValueError("defect")
    async with slots.slot():
        assert (slots.active, slots.waiting) == (1, 0)


async def test_who_waits_gets_the_next_slot_in_turn() -> None:
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


async def test_one_more_than_may_wait_is_refused_at_once_and_told_when_to_come_again() -> None:
    async with all_taken(AdmissionLimits(size=1, queue_size=1, queue_seconds=60)) as slots:
        waiting = taking(slots)
        await asyncio.sleep(0)
        with pytest.raises(OverloadedError) as refused:
            await taking(slots)
        assert refused.value.retry_after == 60
        assert not waiting.done()
    await waiting


async def test_a_call_that_waits_for_several_is_one_that_waits() -> None:
    async with all_taken(AdmissionLimits(size=1, queue_size=1, queue_seconds=60)) as slots:
        with call_scope(call()):
            first, second = taking(slots), taking(slots)
        with call_scope(call()):
            other = taking(slots)
        with pytest.raises(OverloadedError):
            await other
        assert slots.waiting == 1
        first.cancel()
        await asyncio.wait([first])
        assert slots.waiting == 1
    await second


async def test_a_wait_that_is_too_long_is_an_overload() -> None:
    async with all_taken(AdmissionLimits(size=1, queue_seconds=0.05)) as slots:
        with pytest.raises(OverloadedError):
            await taking(slots)
        assert slots.waiting == 0


async def test_a_callers_deadline_that_passes_in_the_queue_is_its_own() -> None:
    async with all_taken(AdmissionLimits(size=1, queue_seconds=60)) as slots:
        with call_scope(call(seconds=0.05)), pytest.raises(DeadlineError):
            await taking(slots)
        assert slots.waiting == 0


async def test_callers_who_are_refused_together_are_told_different_times_to_come_back() -> None:
    limits = AdmissionLimits(size=1, queue_size=0, queue_seconds=60, retry_seconds=1.0)
    async with all_taken(limits) as slots:
        told = set()
        for _ in range(20):
            with pytest.raises(OverloadedError) as refused:
                await taking(slots)
            told.add(refused.value.retry_after)
    assert len(told) > 10
    assert all(0.5 <= seconds <= 1.5 for seconds in told if seconds is not None)


async def waited_in_vain(slots: AdmissionQueue) -> float:
    """Seconds until a caller is refused."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(OverloadedError):
        await taking(slots)
    return loop.time() - began


async def test_after_a_wait_in_vain_callers_are_refused_sooner() -> None:
    limits = AdmissionLimits(size=1, queue_seconds=0.4, adaptive=True)
    async with all_taken(limits) as slots:
        slots.refuse_early()  # the queue is empty: a caller might wait
        assert await waited_in_vain(slots) >= 0.4
        assert await waited_in_vain(slots) < 0.2


async def test_in_an_overload_a_quarter_of_the_slots_may_wait_and_others_are_refused_at_once() -> (
    None
):
    limits = AdmissionLimits(size=4, queue_seconds=0.2, adaptive=True)
    async with all_taken(limits) as slots:
        await waited_in_vain(slots)
        waiting = asyncio.create_task(waited_in_vain(slots))
        async with asyncio.timeout(1):
            while not slots.waiting:  # noqa: ASYNC110 - a wait has no event
                await asyncio.sleep(0)
        with pytest.raises(OverloadedError):
            slots.refuse_early()
        assert await waited_in_vain(slots) < 0.02
        await waiting


async def test_an_overload_is_over_when_as_many_calls_as_there_are_slots_find_one() -> None:
    limits = AdmissionLimits(size=2, queue_seconds=0.4, adaptive=True)
    slots = AdmissionQueue(limits)
    async with slots.slot(), slots.slot():
        await waited_in_vain(slots)
    for _ in range(2):
        await taking(slots)
    async with slots.slot(), slots.slot():
        assert await waited_in_vain(slots) >= 0.4


async def test_callers_who_all_get_their_slot_in_time_are_no_overload() -> None:
    """Twice as many callers as slots, for longer than a wait may take."""
    limits = AdmissionLimits(size=2, queue_seconds=0.2, adaptive=True)
    slots = AdmissionQueue(limits)

    async def caller() -> None:
        for _ in range(20):
            async with slots.slot():
                await asyncio.sleep(0.02)

    await asyncio.gather(*(caller() for _ in range(4)))
