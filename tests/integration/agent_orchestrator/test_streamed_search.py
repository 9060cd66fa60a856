"""A streamed search sends each leg as it ends, then the complete answer."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from braid.agent.v1 import search_pb2
from braid.common.v1 import errors_pb2, legs_pb2
from services.runtime.errors import (
    FieldError,
    InvalidFieldError,
    StoreUnavailableError,
)
from services.runtime.status import error_from_rpc
from tests.integration.agent_orchestrator.conftest import ALICE, World
from tests.integration.agent_orchestrator.searches import Legs, Request, ask, legs
from tests.stubs.script import fail, hang


def stream(
    world: World, query: str = "q"
) -> grpc.aio.UnaryStreamCall[
    search_pb2.StreamComprehensiveSearchRequest, search_pb2.StreamComprehensiveSearchResponse
]:
    request = search_pb2.StreamComprehensiveSearchRequest(search=Request(query=query))
    return world.search.StreamComprehensiveSearch(request, metadata=ALICE, timeout=5)


async def test_a_stream_sends_each_leg_as_it_ends_and_then_the_complete_answer(
    answers: World,
) -> None:
    released = asyncio.Event()

    async def wait_for_release(_request: object) -> None:
        await released.wait()

    answers.vector.script.acts["HybridSearch"] = wait_for_release
    parts = aiter(stream(answers))
    first = await anext(parts)
    assert first.leg.report.leg == legs_pb2.LEG_GRAPH
    assert [hit.fact.id for hit in first.leg.graph_results] == ["f1"]
    released.set()
    second, last = [part async for part in parts]
    assert [hit.chunk.id for hit in second.leg.vector_results] == ["c1", "c2"]
    assert last.final == await same_answer(answers, last.final)


async def same_answer(
    world: World, received: search_pb2.ComprehensiveSearchResponse
) -> search_pb2.ComprehensiveSearchResponse:
    """The unary answer, with the timings and the embedding source of the streamed one."""
    answer = await ask(world, Request(query="q"))
    del answer.legs[:]
    answer.legs.extend(received.legs)
    answer.embedding_source = received.embedding_source
    answer.expansion.elapsed.CopyFrom(received.expansion.elapsed)
    return answer


async def test_a_stream_reports_failed_legs_before_it_fails(world: World) -> None:
    world.vector.script.acts["HybridSearch"] = fail(StoreUnavailableError("postgresql"))
    world.graph.script.acts["SearchFacts"] = fail(StoreUnavailableError("neo4j"))
    received: Legs = {}
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for part in stream(world):
            received |= legs([part.leg.report])
    assert received == {
        "vector": ("UNAVAILABLE", "STORE_UNAVAILABLE"),
        "graph": ("UNAVAILABLE", "STORE_UNAVAILABLE"),
    }
    assert error_from_rpc(caught.value).reason == errors_pb2.ERROR_REASON_ALL_LEGS_FAILED


async def test_a_rejected_stream_names_the_field_by_its_path_in_the_request(answers: World) -> None:
    answers.vector.script.acts["HybridSearch"] = fail(
        InvalidFieldError(FieldError("filter.metadata", "must be flat"))
    )
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        _ = [part async for part in stream(answers)]
    error = error_from_rpc(caught.value)
    assert error.fields[0].field == "search.filter.metadata"
    assert error.message == "search.filter.metadata: must be flat"


async def test_canceling_a_stream_cancels_the_remaining_leg(answers: World) -> None:
    answers.vector.script.acts["HybridSearch"] = hang
    call = stream(answers)
    await anext(aiter(call))
    call.cancel()
    await asyncio.wait_for(answers.vector.script.cancelled.wait(), 5)


async def test_the_requested_parts_apply_to_the_last_message_only(answers: World) -> None:
    search = Request(query="q", include=[search_pb2.ANSWER_PART_RESULTS])
    request = search_pb2.StreamComprehensiveSearchRequest(search=search)
    call = answers.search.StreamComprehensiveSearch(request, metadata=ALICE, timeout=5)
    *received, last = [part async for part in call]
    assert sum(len(part.leg.vector_results) for part in received) == 2
    assert [result.id for result in last.final.results] == ["c2", "c1"]
    assert (len(last.final.vector_results), len(last.final.graph_results)) == (0, 0)
