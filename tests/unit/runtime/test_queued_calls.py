"""A method with slots limits its concurrent calls; others wait for a short time and are then refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc

from braid.agent.v1 import ingest_pb2, search_pb2
from services.runtime.admission import AdmissionLimits, AdmissionQueue
from services.runtime.errors import FieldError
from services.runtime.settings import RuntimeSettings
from services.runtime.status import reason_name
from tests.unit.runtime.conftest import QUESTION, Harness, Start, refused

LIMITS = AdmissionLimits(size=2, queue_size=10, queue_seconds=0.2, retry_seconds=1.0)


@asynccontextmanager
async def all_running(harness: Harness, count: int) -> AsyncIterator[asyncio.Event]:
    """Runs `count` searches until the event is set or the block ends."""
    arrived, done = asyncio.Semaphore(0), asyncio.Event()

    async def wait() -> None:
        arrived.release()
        await done.wait()

    harness.seen.act = wait
    running = [asyncio.ensure_future(ask(harness)) for _ in range(count)]
    for _ in running:
        await arrived.acquire()
    yield done
    done.set()
    await asyncio.gather(*running)


def ask(harness: Harness, seconds: float = 5) -> Any:
    return harness.search.ComprehensiveSearch(QUESTION, timeout=seconds)


async def wait_until_waiting(slots: AdmissionQueue, count: int) -> None:
    async with asyncio.timeout(5):
        while slots.waiting != count:  # noqa: ASYNC110 - a wait has no event
            await asyncio.sleep(0.001)


async def wait_until_active(slots: AdmissionQueue, count: int) -> None:
    async with asyncio.timeout(5):
        while slots.active != count:  # noqa: ASYNC110 - a slot has no event
            await asyncio.sleep(0.001)


async def test_a_waiting_call_is_served_when_another_one_ends(start: Start) -> None:
    slots = AdmissionQueue(AdmissionLimits(size=2, queue_seconds=60))
    harness = await start(slots=slots)
    async with all_running(harness, 2) as done:
        third = asyncio.ensure_future(ask(harness))
        await wait_until_waiting(slots, 1)
        assert (slots.active, len(harness.seen.calls)) == (2, 2)
        done.set()
        await third
    assert (slots.active, slots.waiting) == (0, 0)


async def test_a_call_that_waited_too_long_is_refused_with_a_retry_delay(
    start: Start,
) -> None:
    harness = await start(slots=AdmissionQueue(LIMITS))
    loop = asyncio.get_running_loop()
    async with all_running(harness, 2):
        began = loop.time()
        raw, error = await refused(ask(harness))
        waited = loop.time() - began
    assert (raw.code(), reason_name(error)) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")
    assert 0.5 <= error.retry_after <= 1.5
    assert LIMITS.queue_seconds <= waited < 1
    assert len(harness.seen.calls) == 2


async def test_a_deadline_that_passes_in_the_queue_is_a_deadline_error(start: Start) -> None:
    harness = await start(slots=AdmissionQueue(AdmissionLimits(size=2, queue_seconds=60)))
    async with all_running(harness, 2):
        raw, _ = await refused(ask(harness, seconds=0.1))
    assert raw.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_caller_that_leaves_the_queue_takes_no_slot(start: Start) -> None:
    slots = AdmissionQueue(AdmissionLimits(size=2, queue_seconds=60))
    harness = await start(slots=slots)
    async with all_running(harness, 2):
        waiting = ask(harness)
        await wait_until_waiting(slots, 1)
        waiting.cancel()
        await wait_until_waiting(slots, 0)
    await ask(harness)
    assert slots.active == 0


async def test_bad_input_is_refused_without_a_wait(start: Start) -> None:
    harness = await start(slots=AdmissionQueue(AdmissionLimits(size=2, queue_seconds=60)))
    async with all_running(harness, 2):
        wrong = search_pb2.ComprehensiveSearchRequest(query=" ")
        _, error = await refused(harness.search.ComprehensiveSearch(wrong, timeout=5))
    assert error.fields == (FieldError("query", "must not be blank"),)


async def test_a_streaming_call_holds_its_slot_until_it_ends(
    start: Start,
) -> None:
    slots = AdmissionQueue(LIMITS)
    harness = await start(slots=slots)
    request = search_pb2.StreamComprehensiveSearchRequest(search=QUESTION)
    parts = aiter(harness.search.StreamComprehensiveSearch(request, timeout=5))
    async with all_running(harness, 1):
        await anext(parts)
        await wait_until_active(slots, 2)
        raw, _ = await refused(ask(harness))
        assert raw.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert len([part async for part in parts]) == 1
    assert slots.active == 0


async def test_queued_calls_do_not_delay_calls_of_other_methods(start: Start) -> None:
    """Queued calls do not count toward the process's limit of concurrent calls."""

    async def upload() -> AsyncIterator[ingest_pb2.IngestDocumentRequest]:
        for _ in ():
            yield ingest_pb2.IngestDocumentRequest()

    slots = AdmissionQueue(AdmissionLimits(size=2, queue_seconds=60))
    harness = await start(slots=slots, max_concurrent_calls=1)
    async with all_running(harness, 2) as done:
        queued = [asyncio.ensure_future(ask(harness)) for _ in range(3)]
        await wait_until_waiting(slots, 3)
        await harness.ingest.IngestDocument(upload(), timeout=5)
        done.set()
        await asyncio.gather(*queued)


def test_searches_wait_for_up_to_200_milliseconds_by_default() -> None:
    limits = RuntimeSettings(_env_file=None).search_limits()
    assert (limits.size, limits.queue_seconds, limits.retry_seconds) == (16, 0.2, 1.0)
    mine = RuntimeSettings(_env_file=None, search_concurrency=3, search_queue_seconds=0.05)
    assert (mine.search_limits().size, mine.search_limits().queue_seconds) == (3, 0.05)
