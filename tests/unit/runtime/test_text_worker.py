"""Text is processed in a warm child that is stopped when it takes too long, and that may neither fail nor leak."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from services.runtime.text_worker import TextWorker, TextWorkers, WorkerFailedError

_CHILD = "tests.unit.runtime.text_worker_child"


@pytest.fixture
async def worker() -> AsyncIterator[TextWorker]:
    started = TextWorker(_CHILD, seconds=30)
    yield started
    await started.close()


async def test_requests_are_answered_by_one_warm_process(worker: TextWorker) -> None:
    request = {"do": "echo", "text": "é\n\u2603" * 1000}
    assert await worker.ask(request) == request
    first, second = await asyncio.gather(worker.ask({"do": "pid"}), worker.ask({"do": "pid"}))
    assert first == second


async def test_work_that_takes_too_long_is_stopped_and_the_loop_goes_on(
    worker: TextWorker,
) -> None:
    first = await worker.ask({"do": "pid"})
    worker._seconds = 0.5
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        await worker.ask({"do": "hang"})
    assert time.monotonic() - began < 10
    worker._seconds = 30
    assert await worker.ask({"do": "pid"}) != first


async def test_a_process_that_ends_is_replaced(worker: TextWorker) -> None:
    with pytest.raises(WorkerFailedError):
        await worker.ask({"do": "end"})
    assert await worker.ask({"do": "echo"}) == {"do": "echo"}


async def test_a_failure_of_one_request_does_not_end_the_process(worker: TextWorker) -> None:
    first = await worker.ask({"do": "pid"})
    with pytest.raises(WorkerFailedError, match="KeyError"):
        await worker.ask({})
    assert await worker.ask({"do": "pid"}) == first


async def test_the_process_can_open_no_file(worker: TextWorker) -> None:
    with pytest.raises(WorkerFailedError, match="PermissionError"):
        await worker.ask({"do": "open"})


async def test_a_cancelled_request_leaves_no_answer_for_the_next(worker: TextWorker) -> None:
    await worker.ask({"do": "echo"})
    worker._seconds = 2
    asked = asyncio.create_task(worker.ask({"do": "hang"}))
    await asyncio.sleep(0.05)
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    assert await worker.ask({"do": "echo", "n": 1}) == {"do": "echo", "n": 1}


async def test_a_request_gets_from_its_parent_what_it_asks_for(worker: TextWorker) -> None:
    async def number(name: str) -> int:
        return len(name)

    asked = {"do": "sum", "of": ["a", "bb", "ccc"]}
    assert (await worker.ask(asked, {"number": number}))[1] == 6
    assert (await worker.ask({"do": "sum", "of": []}))[1] == 0


async def test_another_request_is_processed_while_one_waits_for_its_parent(
    worker: TextWorker,
) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def number(_name: str) -> int:
        asked.set()
        await go_on.wait()
        return 1

    waiting = asyncio.create_task(worker.ask({"do": "sum", "of": ["a"]}, {"number": number}))
    await asked.wait()
    assert await worker.ask({"do": "echo"}) == {"do": "echo"}
    go_on.set()
    assert (await waiting)[1] == 1


async def test_a_failed_call_fails_its_request_alone(worker: TextWorker) -> None:
    async def number(_name: str) -> int:
        raise ZeroDivisionError

    first = await worker.ask({"do": "pid"})
    with pytest.raises(ZeroDivisionError):
        await worker.ask({"do": "sum", "of": ["a"]}, {"number": number})
    assert await worker.ask({"do": "pid"}) == first


async def test_a_waiting_request_begins_again_if_another_one_stops_the_process(
    worker: TextWorker,
) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()
    names: list[str] = []

    async def number(name: str) -> int:
        names.append(name)
        asked.set()
        await go_on.wait()
        return 1

    waiting = asyncio.create_task(worker.ask({"do": "sum", "of": ["a", "b"]}, {"number": number}))
    await asked.wait()
    first = await worker.ask({"do": "pid"})
    with pytest.raises(WorkerFailedError):
        await worker.ask({"do": "end"})
    go_on.set()
    process, found = await waiting
    assert (process != first, found, names) == (True, 2, ["a", "a", "b"])


async def test_a_request_goes_to_an_idle_process_while_another_one_is_at_work() -> None:
    workers = TextWorkers(_CHILD, seconds=3, processes=2)
    try:
        await workers.start()
        stuck = asyncio.create_task(workers.ask({"do": "hang"}))
        await asyncio.sleep(0)
        assert await workers.ask({"do": "echo"}) == {"do": "echo"}
        assert not stuck.done()
        with pytest.raises(TimeoutError):
            await stuck
    finally:
        await workers.close()
