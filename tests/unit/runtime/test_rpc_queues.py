"""Each RPC has its own queue, so that a flood of calls to one does not affect the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from braid.agent.v1 import ingest_pb2, search_pb2
from braid_protocol.channel import methods
from services.runtime.admission import AdmissionLimits, AdmissionQueue
from services.runtime.rpc_queues import RpcClass, class_of, full_name, rpc_queues
from services.runtime.settings import RuntimeSettings
from services.runtime.status import reason_name
from tests.unit.runtime.conftest import QUESTION, Start, refused

SEARCH = "braid.agent.v1.SearchService"


def settings(**given: Any) -> RuntimeSettings:
    return RuntimeSettings(_env_file=None, **given)


def test_every_rpc_of_every_service_has_a_queue() -> None:
    services = {method.containing_service.full_name for method in methods()}
    queues = rpc_queues(services, settings(), {})
    assert queues.keys() == {full_name(method) for method in methods()}
    assert len(set(map(id, queues.values()))) == len(queues)


@pytest.mark.parametrize(
    ("rpc", "expected"),
    [
        ("braid.agent.v1.SearchService/ComprehensiveSearch", RpcClass.READ),
        ("braid.agent.v1.SearchService/StreamComprehensiveSearch", RpcClass.STREAM),
        ("braid.agent.v1.IngestService/IngestDocument", RpcClass.STREAM),
        ("braid.agent.v1.IngestService/DeleteDocument", RpcClass.WRITE),
    ],
)
def test_the_class_of_an_rpc_follows_from_its_contract(rpc: str, expected: RpcClass) -> None:
    [method] = [one for one in methods() if full_name(one) == f"/{rpc}"]
    assert class_of(method) is expected


def test_queue_sizes_are_set_by_class_by_single_rpc_or_by_shared_queue() -> None:
    shared = AdmissionQueue(AdmissionLimits(size=1))
    given = settings(
        read_concurrency=3,
        write_concurrency=4,
        stream_concurrency=5,
        rpc_concurrency="braid.agent.v1.JobService/CancelJob=7, ",
    )
    queues = rpc_queues(
        [SEARCH, "braid.agent.v1.IngestService", "braid.agent.v1.JobService"],
        given,
        {f"/{SEARCH}/ComprehensiveSearch": shared},
    )
    sizes = {name.rpartition("/")[2]: queue.capacity // 2 for name, queue in queues.items()}
    assert queues[f"/{SEARCH}/ComprehensiveSearch"] is shared
    assert (sizes["GetJob"], sizes["DeleteDocument"], sizes["IngestFacts"]) == (3, 4, 5)
    assert sizes["CancelJob"] == 7


@pytest.mark.parametrize("wrong", ["Nothing/Here=3", f"{SEARCH}/ComprehensiveSearch=0", SEARCH])
def test_an_invalid_rpc_concurrency_is_refused_at_startup(wrong: str) -> None:
    with pytest.raises(ValueError, match="pairs of an RPC and a number"):
        settings(rpc_concurrency=wrong)


async def test_an_rpc_at_its_limit_refuses_calls_while_another_one_is_served(start: Start) -> None:
    harness = await start(read_concurrency=1, rpc_queue_seconds=0.05)
    arrived, done = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        arrived.set()
        await done.wait()

    harness.seen.act = wait
    running = asyncio.ensure_future(harness.search.ComprehensiveSearch(QUESTION, timeout=5))
    await arrived.wait()
    raw, error = await refused(harness.search.ComprehensiveSearch(QUESTION, timeout=5))
    harness.seen.act = None
    await harness.ingest.IngestDocument(upload(), timeout=5)
    done.set()
    await running
    assert (raw.code(), reason_name(error)) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")
    assert error.retry_after > 0


async def test_a_stream_beyond_the_limit_is_refused(start: Start) -> None:
    harness = await start(stream_concurrency=1, rpc_queue_seconds=0)
    arrived, done = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        arrived.set()
        await done.wait()

    harness.seen.act = wait
    request = search_pb2.StreamComprehensiveSearchRequest(search=QUESTION)
    first = harness.search.StreamComprehensiveSearch(request, timeout=5)
    reading = asyncio.ensure_future(_count(first))
    await arrived.wait()
    raw, error = await refused(_count(harness.search.StreamComprehensiveSearch(request, timeout=5)))
    done.set()
    assert await reading == 2
    assert raw.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert error.retry_after > 0


async def test_a_call_without_a_deadline_gets_the_default_deadline(start: Start) -> None:
    harness = await start(default_deadline_seconds=0.05)

    async def hang() -> None:
        await asyncio.Event().wait()

    harness.seen.act = hang
    raw, error = await refused(harness.search.ComprehensiveSearch(QUESTION))
    assert (raw.code(), reason_name(error)) == (grpc.StatusCode.DEADLINE_EXCEEDED, "DEADLINE")
    [call] = harness.seen.calls
    assert call.deadline is not None


async def test_a_stream_without_a_deadline_gets_the_default_deadline(start: Start) -> None:
    harness = await start(default_stream_deadline_seconds=0.5)

    async def hang() -> None:
        await asyncio.Event().wait()

    harness.seen.act = hang
    request = search_pb2.StreamComprehensiveSearchRequest(search=QUESTION)
    raw, _ = await refused(_count(harness.search.StreamComprehensiveSearch(request)))
    assert raw.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_callers_own_deadline_is_not_replaced(start: Start) -> None:
    harness = await start(default_deadline_seconds=0.01)

    async def take_longer() -> None:
        await asyncio.sleep(0.05)

    harness.seen.act = take_longer
    await harness.search.ComprehensiveSearch(QUESTION, timeout=5)


async def _count(stream: Any) -> int:
    return len([part async for part in stream])


async def upload() -> AsyncIterator[ingest_pb2.IngestDocumentRequest]:
    yield ingest_pb2.IngestDocumentRequest(data=b"x")


async def test_metadata_of_a_megabyte_is_refused_and_the_next_call_is_served(start: Start) -> None:
    harness = await start()
    large = (("x-large", "a" * 2**20),)
    raw, _ = await refused(harness.search.ComprehensiveSearch(QUESTION, timeout=5, metadata=large))
    assert raw.code() in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE)
    await harness.search.ComprehensiveSearch(QUESTION, timeout=5)
