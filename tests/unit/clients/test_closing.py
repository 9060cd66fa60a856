"""A closed Python client rejects calls and ends running ones with a clear error and no warnings."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from braid.agent.v1 import jobs_pb2
from braid.graph.v1.ingest_pb2 import EntityInput, FactInput
from braid_client import AsyncBraid, Braid, BraidCallError
from braid_client.loop_thread import LoopThread
from services.runtime.server import RunningServer
from tests.unit.clients.conftest import JOB_ID, Backend, targets

CLOSED = "the client is closed"
CALLS: list[Callable[[Any], Any]] = [
    lambda braid: braid.comprehensive_search("who?"),
    lambda braid: braid.ingest_document("x"),
    lambda braid: braid.wait_for_job(JOB_ID),
    lambda braid: braid.get_document("a"),
]
STREAMS: list[Callable[[Any], Any]] = [
    lambda braid: braid.stream_comprehensive_search("who?"),
    lambda braid: braid.list_entities(),
    lambda braid: braid.list_documents(),
]


@pytest.mark.parametrize("call", CALLS)
async def test_a_call_on_a_closed_client_is_rejected(
    server: RunningServer, backend: Backend, call: Callable[[Any], Any]
) -> None:
    async with AsyncBraid(**targets(server)) as braid:
        await braid.comprehensive_search("who?")
    with pytest.raises(RuntimeError, match=CLOSED):
        await call(braid)
    assert len(backend.requests) == 1


@pytest.mark.parametrize("stream", STREAMS)
async def test_a_stream_of_a_closed_client_is_rejected(stream: Callable[[Any], Any]) -> None:
    braid = AsyncBraid()
    await braid.close()
    with pytest.raises(RuntimeError, match=CLOSED):
        await anext(stream(braid))


@pytest.mark.parametrize("call", [*CALLS, *(lambda braid, s=s: next(s(braid)) for s in STREAMS)])
def test_a_closed_sync_client_rejects_calls_without_a_warning(
    call: Callable[[Any], Any],
) -> None:
    with Braid() as braid:
        pass
    with pytest.raises(RuntimeError, match=CLOSED):
        call(braid)
    gc.collect()  # a coroutine that was never awaited would warn here, and warnings fail a test


def test_a_client_can_be_closed_twice() -> None:
    braid = Braid()
    braid.close()
    braid.close()
    assert "braid-client" not in [thread.name for thread in threading.enumerate()]


async def test_closing_the_sync_client_ends_a_running_call(
    server: RunningServer, backend: Backend
) -> None:
    backend.watched, backend.stays = (jobs_pb2.JOB_STATE_RUNNING,), True
    braid = Braid(**targets(server))
    waiting = asyncio.create_task(asyncio.to_thread(braid.wait_for_job, JOB_ID))
    await backend.reached.wait()
    await asyncio.to_thread(braid.close)
    with pytest.raises(RuntimeError, match=CLOSED):
        await waiting


async def test_a_partly_read_stream_fails_when_its_sync_client_is_closed(
    server: RunningServer, backend: Backend
) -> None:
    def half_read() -> None:
        with Braid(**targets(server)) as braid:
            stream = braid.list_entities(page_size=1)
            assert next(stream).name == "A"
        with pytest.raises(RuntimeError, match=CLOSED):
            next(stream)

    await asyncio.to_thread(half_read)


async def test_closing_ends_an_awaited_call_with_an_error(
    server: RunningServer, backend: Backend
) -> None:
    """The call fails with an error and not with CancelledError: nobody cancelled the waiting task."""
    backend.watched, backend.stays = (jobs_pb2.JOB_STATE_RUNNING,), True
    braid = AsyncBraid(**targets(server))
    waiting = asyncio.create_task(braid.wait_for_job(JOB_ID))
    await backend.reached.wait()
    await braid.close()
    with pytest.raises(RuntimeError, match=CLOSED):
        await waiting


async def test_a_cancelled_task_ends_as_cancelled(server: RunningServer, backend: Backend) -> None:
    backend.watched, backend.stays = (jobs_pb2.JOB_STATE_RUNNING,), True
    async with AsyncBraid(**targets(server)) as braid:
        waiting = asyncio.create_task(braid.wait_for_job(JOB_ID))
        await backend.reached.wait()
        waiting.cancel()
        await asyncio.wait([waiting])
    assert waiting.cancelled()


async def test_a_stream_that_its_caller_abandons_is_cancelled(
    server: RunningServer, backend: Backend
) -> None:
    backend.stays = True
    async with AsyncBraid(**targets(server)) as braid, asyncio.timeout(5):
        async for _leg in braid.stream_comprehensive_search("who?"):
            break
        await backend.left.wait()


async def test_a_stream_that_a_sync_caller_abandons_is_cancelled(
    server: RunningServer, backend: Backend
) -> None:
    def leave(braid: Braid) -> None:
        for _leg in braid.stream_comprehensive_search("who?"):
            break

    backend.stays = True
    with Braid(**targets(server)) as braid:
        await asyncio.to_thread(leave, braid)
        async with asyncio.timeout(5):
            await backend.left.wait()


async def test_a_partly_read_list_of_a_closed_client_is_rejected(server: RunningServer) -> None:
    async with AsyncBraid(**targets(server)) as braid:
        stream = braid.list_entities(page_size=1)
        assert (await anext(stream)).name == "A"
    with pytest.raises(RuntimeError, match=CLOSED):
        await anext(stream)


async def test_an_upload_may_iterate_over_results_of_the_same_client(
    server: RunningServer, backend: Backend
) -> None:
    """The client's event loop must not wait for a call that waits for this loop."""

    def facts(braid: Braid) -> Iterator[FactInput]:
        for entity in braid.list_entities():
            yield FactInput(subject=EntityInput(name=entity.name), relation_type="IS")

    def upload() -> None:
        with Braid(**targets(server)) as braid, pytest.raises(BraidCallError):
            braid.ingest_facts(facts(braid), timeout=5)  # the backend does not implement this call

    async with asyncio.timeout(20):
        await asyncio.to_thread(upload)
    assert len(backend.requests) == 2  # both pages were read


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, even if the shell started the run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


async def nothing() -> None:
    return


@pytest.mark.usefixtures("interruptible")
def test_a_call_ends_when_its_wait_is_interrupted() -> None:
    thread, started, ended = LoopThread("interrupted"), threading.Event(), threading.Event()

    async def wait() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    def interrupt() -> None:
        started.wait(5)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        thread.run(wait())
    assert ended.wait(5)
    interrupter.join()
    thread.close(nothing)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, TimeoutError])
def test_a_call_ends_when_it_is_interrupted_before_its_wait(
    monkeypatch: pytest.MonkeyPatch, interruption: type[BaseException]
) -> None:
    """A signal's handler may raise anything."""
    thread, started, ended = LoopThread("interrupted"), threading.Event(), threading.Event()
    submit = asyncio.run_coroutine_threadsafe

    async def wait() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    def interrupted(work: Any, loop: asyncio.AbstractEventLoop) -> None:
        submit(work, loop)
        started.wait(5)
        raise interruption

    interrupt_submission(thread, wait(), interrupted, interruption, monkeypatch)
    assert ended.wait(5)
    thread.close(nothing)


def test_a_call_that_is_interrupted_before_it_is_submitted_leaves_no_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    thread = LoopThread("interrupted")

    async def wait() -> None:
        raise AssertionError("it was submitted")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    interrupt_submission(thread, wait(), interrupted, KeyboardInterrupt, monkeypatch)
    thread.close(nothing)
    gc.collect()


def interrupt_submission(
    thread: LoopThread,
    work: Coroutine[Any, Any, None],
    interrupted: Callable[..., None],
    interruption: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch, pytest.raises(interruption):
        patch.setattr(asyncio, "run_coroutine_threadsafe", interrupted)
        thread.run(work)
