"""A late leg returns its partial results; a leg whose backend is known to be unavailable is not waited for."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from braid.agent.v1 import search_pb2
from braid.common.v1 import errors_pb2, legs_pb2, retrieval_pb2
from braid.graph.v1 import query_pb2, query_pb2_grpc
from braid.vector.v1 import search_pb2 as vector_pb2
from services.agent_orchestrator.clients.health_watch import CHECKS, HealthWatch
from services.runtime.errors import OverloadedError, StoreUnavailableError
from services.runtime.server import RunningServer, Service, start_server
from services.runtime.status import error_from_rpc
from tests.integration.agent_orchestrator.conftest import ALICE, World
from tests.integration.agent_orchestrator.searches import Request, legs
from tests.stubs.graph_tier import fact_hit
from tests.stubs.script import fail, hang
from tests.stubs.vector_tier import chunk_hit

TEXT_ONLY = legs_pb2.LegReport(
    status=legs_pb2.LEG_STATUS_DEGRADED, reason=legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE
)
LATE = legs_pb2.LegReport(
    status=legs_pb2.LEG_STATUS_TIMED_OUT, reason=legs_pb2.LEG_REASON_BUDGET_EXCEEDED
)


@pytest.fixture
def answers(world: World) -> World:
    """A world in which both tiers return results."""
    world.vector.answer = vector_pb2.HybridSearchResponse(
        hits=[chunk_hit("c1", 0.9)], leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK)
    )
    world.graph.answer = query_pb2.SearchFactsResponse(
        hits=[fact_hit("f1", ["c1"])], leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK)
    )
    return world


async def ask(
    world: World, seconds: float = 5, **more: object
) -> search_pb2.ComprehensiveSearchResponse:
    request = Request(query="who owns it", **more)  # type: ignore[arg-type]
    return await world.search.ComprehensiveSearch(request, metadata=ALICE, timeout=seconds)


async def test_a_late_leg_returns_its_partial_results(answers: World) -> None:
    answers.vector.answer.MergeFrom(vector_pb2.HybridSearchResponse(leg=LATE))
    answer = await ask(answers)
    assert legs(answer.legs)["vector"] == ("TIMED_OUT", "BUDGET_EXCEEDED")
    assert [hit.chunk.id for hit in answer.vector_results] == ["c1"]
    assert [contribution.leg for contribution in answer.results[0].contributions] == [
        legs_pb2.LEG_VECTOR,
        legs_pb2.LEG_GRAPH,
    ]


async def test_two_late_legs_with_partial_results_are_an_answer(answers: World) -> None:
    answers.vector.answer.MergeFrom(vector_pb2.HybridSearchResponse(leg=LATE))
    answers.graph.answer.MergeFrom(query_pb2.SearchFactsResponse(leg=LATE))
    answer = await ask(answers)
    assert set(legs(answer.legs).values()) == {("TIMED_OUT", "BUDGET_EXCEEDED")}
    assert answer.result_count == 2


async def test_late_legs_without_results_fail_the_search(answers: World) -> None:
    """An empty answer would mean that nothing matches."""
    answers.vector.answer = vector_pb2.HybridSearchResponse(leg=LATE)
    answers.graph.answer = query_pb2.SearchFactsResponse(leg=LATE)
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await ask(answers)
    error = error_from_rpc(failed.value)
    assert error.reason == errors_pb2.ERROR_REASON_ALL_LEGS_FAILED
    assert (error.metadata["vector"], error.metadata["graph"]) == ("TIMED_OUT", "TIMED_OUT")


async def test_a_word_search_in_time_is_an_answer_although_the_embedder_was_late(
    answers: World,
) -> None:
    answers.embedder.stuck = True
    answers.vector.answer = vector_pb2.HybridSearchResponse(leg=TEXT_ONLY)
    answers.graph.answer = query_pb2.SearchFactsResponse(leg=TEXT_ONLY)
    answer = await ask(answers, seconds=0.45)
    assert set(legs(answer.legs).values()) == {("TIMED_OUT", "BUDGET_EXCEEDED")}


async def test_a_short_deadline_is_not_reported_as_an_unavailable_embedder(
    answers: World,
) -> None:
    answers.embedder.stuck = True
    answers.vector.answer.MergeFrom(vector_pb2.HybridSearchResponse(leg=TEXT_ONLY))
    answer = await ask(answers, seconds=0.45)
    assert legs(answer.legs)["vector"] == ("TIMED_OUT", "BUDGET_EXCEEDED")
    assert [hit.chunk.id for hit in answer.vector_results] == ["c1"]


async def test_an_answer_reports_cache_hits_and_the_source_of_the_query_vector(
    answers: World,
) -> None:
    answers.vector.answer.leg.cached = True
    answers.vector.answer.embedding_source = retrieval_pb2.EMBEDDING_SOURCE_GIVEN
    answers.graph.answer.vector_path = retrieval_pb2.VECTOR_PATH_INDEX
    answer = await ask(answers)
    assert [report.cached for report in answer.legs] == [True, False]
    assert answer.embedding_source == retrieval_pb2.EMBEDDING_SOURCE_COMPUTED


async def test_the_embedding_source_that_a_tier_reports_is_passed_through(answers: World) -> None:
    answers.vector.answer.embedding_source = retrieval_pb2.EMBEDDING_SOURCE_STORED
    answer = await ask(answers, use_graph=False)
    assert answer.embedding_source == retrieval_pb2.EMBEDDING_SOURCE_STORED


async def test_a_caller_can_bypass_the_caches(answers: World) -> None:
    mode = retrieval_pb2.CACHE_MODE_BYPASS
    await ask(answers, cache=mode)
    [asked] = answers.vector.script.requests["HybridSearch"]
    assert asked.cache == mode


async def hung_leg_status(world: World, seconds: float = 30) -> tuple[str, str]:
    """The status of the hung graph leg, which must end well before the caller's deadline."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    answer = await ask(world, seconds)
    assert loop.time() - started < seconds / 3
    assert legs(answer.legs)["vector"] == ("OK", "UNSPECIFIED")
    return legs(answer.legs)["graph"]


async def wait_for_recovery(world: World) -> None:
    """Waits until the graph leg has recovered."""
    async with asyncio.timeout(10):
        while legs((await ask(world)).legs)["graph"] != ("OK", "UNSPECIFIED"):  # noqa: ASYNC110 - its recovery sends no event
            await asyncio.sleep(0.05)


async def test_a_leg_whose_store_is_unavailable_is_abandoned_before_the_deadline(
    answers: World,
) -> None:
    """Its call hangs, as it does while a store starts, and its health check reports the outage."""

    async def unavailable() -> None:
        raise StoreUnavailableError("neo4j")

    await answers.stop_graph()
    answers.graph_server = await serve_unhealthy(answers, unavailable)
    await wait_for_recovery(answers)
    answers.graph.script.acts["SearchFacts"] = hang
    assert await hung_leg_status(answers) == ("UNAVAILABLE", "STORE_UNAVAILABLE")
    await asyncio.wait_for(answers.graph.script.cancelled.wait(), 5)


async def test_a_response_that_is_too_large_fails_only_its_leg(answers: World) -> None:
    answers.vector.answer.hits[0].chunk.content = "x" * 20_000_000
    answer = await ask(answers)
    assert legs(answer.legs) == {
        "vector": ("UNAVAILABLE", "INTERNAL"),
        "graph": ("OK", "UNSPECIFIED"),
    }


@pytest.mark.parametrize(("leg", "method"), [("vector", "HybridSearch"), ("graph", "SearchFacts")])
async def test_an_overloaded_leg_is_reported_as_overloaded(
    answers: World, leg: str, method: str
) -> None:
    tier = answers.vector if leg == "vector" else answers.graph
    tier.script.acts[method] = fail(OverloadedError(1.0))
    ended = legs((await ask(answers)).legs)
    assert ended.pop(leg) == ("UNAVAILABLE", "OVERLOADED")
    assert set(ended.values()) == {("OK", "UNSPECIFIED")}


async def test_a_slow_leg_of_a_healthy_tier_is_waited_for(answers: World) -> None:
    async def slowly(_request: object) -> None:
        await asyncio.sleep(1.5)

    answers.graph.script.acts["SearchFacts"] = slowly
    assert legs((await ask(answers)).legs)["graph"] == ("OK", "UNSPECIFIED")


async def test_a_leg_of_a_tier_that_shuts_down_gracefully_is_waited_for(
    answers: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tier accepts no new calls, not even health checks, and finishes the running ones."""
    await answers.stop_graph()
    patient = answers.runtime.model_copy(update={"drain_seconds": 5.0})
    await answers.start_graph(patient)
    await wait_for_recovery(answers)
    ending: list[asyncio.Task[None]] = []
    checks, looked = HealthWatch.check, asyncio.Semaphore(0)

    async def looking(watch: HealthWatch) -> object:
        found = await checks(watch)
        looked.release()
        return found

    async def slowly(_request: object) -> None:
        ending.append(asyncio.create_task(answers.graph_server.stop()))
        for _ in range(CHECKS + 1):  # by then an unavailable tier would have been abandoned
            await looked.acquire()

    monkeypatch.setattr(HealthWatch, "check", looking)
    answers.graph.script.acts["SearchFacts"] = slowly
    assert legs((await ask(answers)).legs)["graph"] == ("OK", "UNSPECIFIED")
    await asyncio.gather(*ending)


async def test_when_no_leg_answers_the_error_names_both(answers: World) -> None:
    answers.vector.script.acts["HybridSearch"] = fail(StoreUnavailableError("postgresql"))
    await answers.stop_graph()
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await ask(answers)
    error = error_from_rpc(failed.value)
    assert failed.value.code() is grpc.StatusCode.UNAVAILABLE
    assert error.reason == errors_pb2.ERROR_REASON_ALL_LEGS_FAILED
    assert (error.metadata["vector_reason"], error.metadata["graph_reason"]) == (
        "STORE_UNAVAILABLE",
        "SERVICE_UNAVAILABLE",
    )


async def serve_unhealthy(world: World, probe: object) -> RunningServer:
    """The graph tier at the same address, with a store that does not answer."""
    return await start_server(
        settings=world.runtime,
        listen=f"127.0.0.1:{world.graph_server.port}",
        services=[
            Service(
                "braid.graph.v1.GraphQueryService",
                lambda server: query_pb2_grpc.add_GraphQueryServiceServicer_to_server(
                    world.graph, server
                ),
            )
        ],
        probes={"neo4j": probe},  # type: ignore[dict-item]
    )
