"""A tier that hangs costs a search its leg's budget once; as long as it is known to hang, it costs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from braid.agent.v1 import search_pb2
from braid.graph.v1 import query_pb2, query_pb2_grpc
from deploy.local.ports import free_ports
from services.agent_orchestrator.clients.health_watch import (
    CHECK_LIMIT_SECONDS,
    CHECKS,
    PATIENCE_SECONDS,
    HealthWatch,
)
from services.agent_orchestrator.settings import AgentSettings
from services.runtime.channels import open_channel
from services.runtime.health import PROBE_INTERVAL, PROBE_TIMEOUT
from services.runtime.settings import RuntimeSettings
from tests.integration.agent_orchestrator.conftest import ALICE, World
from tests.integration.agent_orchestrator.questions import Request, legs
from tests.stubs.faulty_proxy import Endpoint, Fault, FaultyProxy
from tests.stubs.graph_tier import GraphStub, serve_graph
from tests.stubs.script import hang

BUDGET = AgentSettings(_env_file=None).leg_seconds
# What a busy machine adds to it.
SLACK = 1.0


@pytest.fixture
async def relay(answers: World) -> AsyncIterator[FaultyProxy]:
    """Between the orchestrator and the graph tier."""
    port = answers.graph_server.port
    await answers.stop_graph()
    answers.graph_server = await serve_graph(answers.graph, answers.runtime)
    tier = Endpoint("127.0.0.1", answers.graph_server.port)
    async with FaultyProxy(tier).listening(Endpoint("127.0.0.1", port)) as relay:
        await until(answers, ("OK", "UNSPECIFIED"))
        yield relay


async def ask(world: World) -> tuple[search_pb2.ComprehensiveSearchResponse, float]:
    """The answer to a caller who sets no deadline, and after how many seconds it came."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    answer = await world.search.ComprehensiveSearch(Request(query="who owns it"), metadata=ALICE)
    return answer, loop.time() - began


async def until(world: World, ending: tuple[str, str]) -> None:
    """Asks until the graph leg ends so."""
    async with asyncio.timeout(10):
        while legs((await ask(world))[0].legs)["graph"] != ending:  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0.05)


def test_a_leg_has_two_seconds_and_what_hangs_is_found_within_them() -> None:
    assert BUDGET == 2.0
    assert PATIENCE_SECONDS + CHECKS * CHECK_LIMIT_SECONDS < BUDGET  # a process
    assert PROBE_INTERVAL + PROBE_TIMEOUT < BUDGET  # a store, by its tier
    assert RuntimeSettings(_env_file=None).search_queue_seconds < BUDGET


@pytest.mark.parametrize(("leg", "method"), [("vector", "HybridSearch"), ("graph", "SearchFacts")])
async def test_without_a_callers_deadline_a_leg_that_hangs_costs_its_budget_and_no_more(
    answers: World, leg: str, method: str
) -> None:
    """Its process is healthy: it is the call that does not end."""
    tier = answers.vector if leg == "vector" else answers.graph
    tier.script.acts[method] = hang
    answer, seconds = await ask(answers)
    assert seconds < BUDGET + SLACK
    ended = legs(answer.legs)
    assert ended.pop(leg) == ("TIMED_OUT", "BUDGET_EXCEEDED")
    assert set(ended.values()) == {("OK", "UNSPECIFIED")}
    assert answer.result_count > 0
    await asyncio.wait_for(tier.script.cancelled.wait(), 5)


async def test_a_tier_whose_process_hangs_is_late_once_then_away_until_it_answers(
    answers: World, relay: FaultyProxy
) -> None:
    await relay.break_as(Fault.BLACKHOLE)
    answer, seconds = await ask(answers)
    assert seconds < BUDGET + SLACK
    assert legs(answer.legs)["graph"][0] == "TIMED_OUT"
    assert [hit.chunk.id for hit in answer.vector_results] == ["c1", "c2"]
    await until(answers, ("UNAVAILABLE", "SERVICE_UNAVAILABLE"))
    for _ in range(5):
        answer, seconds = await ask(answers)
        assert legs(answer.legs)["graph"] == ("UNAVAILABLE", "SERVICE_UNAVAILABLE")
        assert seconds < SLACK
    await relay.heal()
    await until(answers, ("OK", "UNSPECIFIED"))


async def test_what_hangs_is_found_though_no_caller_waits_for_that(
    answers: World, relay: FaultyProxy
) -> None:
    await relay.break_as(Fault.BLACKHOLE)
    request = Request(query="who owns it")
    answer = await answers.search.ComprehensiveSearch(request, metadata=ALICE, timeout=0.6)
    assert legs(answer.legs)["graph"] == ("TIMED_OUT", "BUDGET_EXCEEDED")
    await asyncio.sleep(CHECKS * CHECK_LIMIT_SECONDS)
    await until(answers, ("UNAVAILABLE", "SERVICE_UNAVAILABLE"))


class TestWithALargerBudget:
    """A tier that is known to hang is not waited for, whatever a leg may take."""

    @pytest.fixture
    def settings(self) -> dict[str, object]:
        return {"leg_seconds": 30, "search_seconds": 60}

    async def test_a_leg_is_given_up_as_soon_as_its_process_is_found_to_hang(
        self, answers: World, relay: FaultyProxy
    ) -> None:
        await relay.break_as(Fault.BLACKHOLE)
        answer, seconds = await ask(answers)
        assert seconds < BUDGET + 5 * SLACK
        assert legs(answer.legs)["graph"] == ("TIMED_OUT", "SERVICE_UNAVAILABLE")


async def test_a_replica_that_hangs_is_not_the_tier(answers: World) -> None:
    """Replicas take turns: every other question goes to the one that hangs."""
    other = GraphStub()  # type: ignore[abstract] # what the tests call
    hung = await serve_graph(other, answers.runtime)
    proxy = FaultyProxy(Endpoint("127.0.0.1", hung.port))
    (port,) = free_ports(1)
    target = f"ipv4:127.0.0.1:{answers.graph_server.port},127.0.0.1:{port}"
    async with (
        proxy.listening(Endpoint("127.0.0.1", port)),
        open_channel(target, retry=False) as channel,
        HealthWatch(channel) as watch,
    ):
        stub = query_pb2_grpc.GraphQueryServiceStub(channel)
        request = query_pb2.SearchFactsRequest(query="who owns it")
        async with asyncio.timeout(10):
            while not (answers.graph.script.requests and other.script.requests):
                await stub.SearchFacts(request, metadata=ALICE)
        await proxy.break_as(Fault.BLACKHOLE)
        found = [await watch.check() for _ in range(4)]
        await proxy.heal()
    await hung.stop()
    assert found == [None] * 4
