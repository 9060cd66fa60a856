"""A search above the concurrency limit is rejected after a short wait; overloaded tiers are reported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest

from braid.agent.v1 import search_pb2
from braid.common.v1 import errors_pb2
from services.runtime.errors import OverloadedError, StoreUnavailableError
from services.runtime.status import error_from_rpc
from tests.integration.agent_orchestrator.conftest import ALICE, World
from tests.integration.agent_orchestrator.searches import Request, ask, legs, refused
from tests.stubs.script import fail

LEGS = [("vector", "HybridSearch"), ("graph", "SearchFacts")]


@asynccontextmanager
async def all_running(world: World) -> AsyncIterator[None]:
    """Keeps the maximum number of searches running until the block ends; then all of them must succeed."""
    released, arrived = asyncio.Event(), asyncio.Semaphore(0)

    async def wait(_request: object) -> None:
        arrived.release()
        await released.wait()

    world.graph.script.acts["SearchFacts"] = wait
    limit = world.runtime.search_concurrency
    searches = [asyncio.create_task(ask(world, seconds=30)) for _ in range(limit)]
    for _ in searches:
        await arrived.acquire()
    try:
        yield
    finally:
        released.set()
        answers = await asyncio.gather(*searches)
    world.graph.script.acts.clear()
    assert all(len(answer.legs) == 2 for answer in answers)


async def test_a_search_above_the_concurrency_limit_is_rejected_early_with_a_retry_delay(
    answers: World,
) -> None:
    loop = asyncio.get_running_loop()
    async with all_running(answers):
        began = loop.time()
        error = await refused(answers)
        waited = loop.time() - began
    assert error.reason == errors_pb2.ERROR_REASON_OVERLOADED
    assert error.retry_after is not None
    assert answers.runtime.search_queue_seconds <= waited < 1.2
    assert legs((await ask(answers)).legs)["graph"] == ("OK", "UNSPECIFIED")


async def test_a_streamed_search_above_the_limit_is_rejected_with_a_retry_delay(
    answers: World,
) -> None:
    request = search_pb2.StreamComprehensiveSearchRequest(search=Request(query="q"))
    async with all_running(answers):
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            async for _ in answers.search.StreamComprehensiveSearch(request, metadata=ALICE):
                pass
    error = error_from_rpc(failed.value)
    assert error.reason == errors_pb2.ERROR_REASON_OVERLOADED
    assert error.retry_after is not None
    parts = [
        part async for part in answers.search.StreamComprehensiveSearch(request, metadata=ALICE)
    ]
    assert len(parts) == 3


async def test_unread_streams_do_not_block_other_searches(answers: World) -> None:
    answers.vector.answer.hits[0].chunk.content = "x" * 200_000  # more than gRPC buffers
    request = search_pb2.StreamComprehensiveSearchRequest(search=Request(query="q"))
    streams = []
    for _ in range(2 * answers.runtime.search_concurrency):
        streams.append(answers.search.StreamComprehensiveSearch(request, metadata=ALICE))
        await streams[
            -1
        ].wait_for_connection()  # one after the other: none waits for another one's place
    async with asyncio.timeout(10):
        while answers.graph.script.count("SearchFacts") < len(streams):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.01)
    assert legs((await ask(answers)).legs)["graph"] == ("OK", "UNSPECIFIED")
    for stream in streams:
        stream.cancel()


@pytest.mark.parametrize(("leg", "method"), LEGS)
async def test_an_overloaded_leg_is_reported_and_the_other_leg_answers(
    answers: World, leg: str, method: str
) -> None:
    tier = answers.vector if leg == "vector" else answers.graph
    tier.script.acts[method] = fail(OverloadedError(1.0))
    ended = legs((await ask(answers)).legs)
    assert ended.pop(leg) == ("UNAVAILABLE", "OVERLOADED")
    assert set(ended.values()) == {("OK", "UNSPECIFIED")}


async def test_a_search_whose_legs_are_all_overloaded_is_rejected_as_overloaded(
    answers: World,
) -> None:
    answers.vector.script.acts["HybridSearch"] = fail(OverloadedError(0.5))
    answers.graph.script.acts["SearchFacts"] = fail(OverloadedError(1.25))
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await ask(answers)
    assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    error = error_from_rpc(failed.value)
    assert error.reason == errors_pb2.ERROR_REASON_OVERLOADED
    assert error.retry_after == 1.25


async def test_a_search_whose_only_requested_leg_is_overloaded_is_rejected(
    answers: World,
) -> None:
    answers.graph.script.acts["SearchFacts"] = fail(OverloadedError(1.0))
    error = await refused(answers, Request(query="q", use_vector=False))
    assert (error.reason, error.retry_after) == (errors_pb2.ERROR_REASON_OVERLOADED, 1.0)


async def test_an_overloaded_leg_and_an_unavailable_leg_are_both_named(answers: World) -> None:
    answers.vector.script.acts["HybridSearch"] = fail(OverloadedError(1.0))
    answers.graph.script.acts["SearchFacts"] = fail(StoreUnavailableError("neo4j"))
    error = await refused(answers)
    assert error.reason == errors_pb2.ERROR_REASON_ALL_LEGS_FAILED
    assert error.metadata["vector_reason"] == "OVERLOADED"
    assert error.metadata["graph_reason"] == "STORE_UNAVAILABLE"
