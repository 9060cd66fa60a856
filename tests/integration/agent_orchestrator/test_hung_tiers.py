"""A hung tier costs a search its leg's budget once, and nothing while it is known to hang."""

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
from tests.integration.agent_orchestrator.searches import Request, legs
from tests.stubs.faulty_proxy import Endpoint, Fault, FaultyProxy
from tests.stubs.graph_tier import GraphStub, serve_graph
from tests.stubs.script import hang

BUDGET = AgentSettings(_env_file=None).leg_seconds
# Allowance for a busy machine.
SLACK = 1.0


@pytest.fixture
async def relay(answers: World) -> AsyncIterator[FaultyProxy]:
    """A proxy between the orchestrator and the graph tier."""
    port = answers.graph_server.port
    await answers.stop_graph()
    answers.graph_server = await serve_graph(answers.graph, answers.runtime)
    tier = Endpoint("127.0.0.1", answers.graph_server.port)
    async with FaultyProxy(tier).listening(Endpoint("127.0.0.1", port)) as relay:
        await until(answers, ("OK", "UNSPECIFIED"))
        yield relay


async def ask(world: World) -> tuple[search_pb2.ComprehensiveSearchResponse, float]:
    """The answer to a call without a deadline, and its latency in seconds."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    answer = await world.search.ComprehensiveSearch(Request(query="who owns it"), metadata=ALICE)
    return answer, loop.time() - began


async def until(world: World, ending: tuple[str, str]) -> None:
    """Searches until the graph leg ends with the given status and reason."""
    async with asyncio.timeout(10):
        while legs((await ask(world))[0].legs)["graph"] != ending:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.05)


def test_a_leg_has_a_budget_of_two_seconds_and_hangs_are_detected_within_it() -> None:
    assert BUDGET == 2.0
    assert PATIENCE_SECONDS + CHECKS * CHECK_LIMIT_SECONDS < BUDGET  # a process
    assert PROBE_INTERVAL + PROBE_TIMEOUT < BUDGET  # a store, by its tier
    assert RuntimeSettings(_env_file=None).search_queue_seconds < BUDGET


@pytest.mark.parametrize(("leg", "method"), [("vector", "HybridSearch"), ("graph", "SearchFacts")])
async def test_without_a_deadline_a_hung_leg_costs_only_its_budget(
    answers: World, leg: str, method: str
) -> None:
    """The process is healthy; only the call hangs."""
    tier = answers.vector if leg == "vector" else answers.graph
    tier.script.acts[method] = hang
    answer, seconds = await ask(answers)
    assert seconds < BUDGET + SLACK
    ended = legs(answer.legs)
    assert ended.pop(leg) == ("TIMED_OUT", "BUDGET_EXCEEDED")
    assert set(ended.values()) == {("OK", "UNSPECIFIED")}
    assert answer.result_count > 0
    await asyncio.wait_for(tier.script.cancelled.wait(), 5)


async def test_a_hung_tier_times_out_once_and_is_unavailable_until_it_responds(
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


async def test_a_hung_tier_is_detected_although_no_caller_waits_for_it(
    answers: World, relay: FaultyProxy
) -> None:
    await relay.break_as(Fault.BLACKHOLE)
    request = Request(query="who owns it")
    answer = await answers.search.ComprehensiveSearch(request, metadata=ALICE, timeout=0.6)
    assert legs(answer.legs)["graph"] == ("TIMED_OUT", "BUDGET_EXCEEDED")
    await asyncio.sleep(CHECKS * CHECK_LIMIT_SECONDS)
    await until(answers, ("UNAVAILABLE", "SERVICE_UNAVAILABLE"))


class TestWithALargerBudget:
    """A tier that is known to hang is not waited for, however large the leg's budget is."""

    @pytest.fixture
    def settings(self) -> dict[str, object]:
        return {"leg_seconds": 30, "search_seconds": 60}

    async def test_a_leg_is_abandoned_as_soon_as_its_process_is_found_to_hang(
        self, answers: World, relay: FaultyProxy
    ) -> None:
        await relay.break_as(Fault.BLACKHOLE)
        answer, seconds = await ask(answers)
        assert seconds < BUDGET + 5 * SLACK
        assert legs(answer.legs)["graph"] == ("TIMED_OUT", "SERVICE_UNAVAILABLE")


async def test_one_hung_replica_does_not_make_the_tier_unavailable(answers: World) -> None:
    """Calls alternate between the replicas, so every other one reaches the hung replica."""
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
