"""When parts of the system are unavailable, the agent still answers and names them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import asyncpg
import pytest
from pydantic import SecretStr

from braid.agent.v1 import agent_pb2_grpc
from services.agent_orchestrator.app import Embedders, open_app
from services.agent_orchestrator.settings import AgentSettings
from services.runtime.channels import open_channel
from services.runtime.errors import StoreUnavailableError
from services.runtime.server import start_server
from tests.integration.agent_orchestrator.agent.conftest import Agent
from tests.integration.agent_orchestrator.agent.samples import LATER_TEXT, script_ledger_owners
from tests.integration.agent_orchestrator.conftest import World
from tests.stubs.faulty_proxy import Endpoint, Fault, FaultyProxy
from tests.stubs.graph_tier import serve_graph
from tests.stubs.script import fail

QUESTION = "Who owns the Ledger Service?"
LEG_BUDGET = AgentSettings(_env_file=None).leg_seconds
# Allowance for a busy machine.
SLACK = 1.5
NOWHERE = "postgresql://braid_agent@127.0.0.1:1/nowhere"


@pytest.fixture
def story(world: World) -> World:
    script_ledger_owners(world)
    return world


@pytest.mark.parametrize("stops", [True, False])
async def test_without_the_graph_the_answer_comes_from_documents(
    agent: Agent, story: World, stops: bool
) -> None:
    if stops:
        await story.stop_graph()
    else:
        for method in ("SearchFacts", "LinkEntities", "GetEntity", "GetEntityHistory"):
            story.graph.script.acts[method] = fail(StoreUnavailableError("neo4j"))
    asked = await agent.ask(QUESTION)
    assert list(asked.done.unavailable) == ["graph"]
    assert "graph" in asked.done.answer
    assert LATER_TEXT in asked.done.answer


@pytest.mark.parametrize("stops", [True, False])
async def test_without_documents_the_answer_comes_from_the_graph(
    agent: Agent, story: World, stops: bool
) -> None:
    if stops:
        await story.stop_vector()
    else:
        for method in ("HybridSearch", "VectorSearch", "GetChunks", "ScoreChunks"):
            story.vector.script.acts[method] = fail(StoreUnavailableError("postgresql"))
    asked = await agent.ask(QUESTION)
    assert "Jonas Weber" in asked.done.answer


async def test_without_either_tier_the_answer_reports_both_as_unavailable(
    agent: Agent, story: World
) -> None:
    await story.stop_graph()
    await story.stop_vector()
    asked = await agent.ask(QUESTION)
    assert set(asked.done.unavailable) == {"graph", "documents"}
    assert "cannot" in asked.done.answer or "could not" in asked.done.answer


@pytest.fixture
async def hung_graph(story: World) -> AsyncIterator[FaultyProxy]:
    """The graph tier behind a proxy that drops all traffic."""
    port = story.graph_server.port
    await story.stop_graph()
    story.graph_server = await serve_graph(story.graph, story.runtime)
    tier = Endpoint("127.0.0.1", story.graph_server.port)
    async with FaultyProxy(tier).listening(Endpoint("127.0.0.1", port)) as proxy:
        await proxy.break_as(Fault.BLACKHOLE)
        yield proxy


async def test_a_hung_tier_costs_one_leg_budget_and_does_not_delay_later_questions(
    agent: Agent, hung_graph: FaultyProxy
) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    first = await agent.ask(QUESTION)
    known = loop.time()
    second = await agent.ask(QUESTION)
    ended = loop.time()
    for asked in (first, second):
        assert list(asked.done.unavailable) == ["graph"]
        assert LATER_TEXT in asked.done.answer
    assert known - began < LEG_BUDGET + SLACK
    assert ended - known < SLACK
    await hung_graph.heal()
    async with asyncio.timeout(10):
        while list((await agent.ask(QUESTION)).done.unavailable):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.05)


async def test_an_unexpected_database_failure_mid_run_does_not_block_the_reader(
    agent: Agent, story: World
) -> None:
    owner = await asyncpg.connect(story.database.dsn("braid_agent_migrator"))

    async def lose_the_events(_request: object) -> None:
        await owner.execute("alter table agent_run_event rename to agent_run_event_elsewhere")
        story.graph.script.acts.pop("LinkEntities")

    story.graph.script.acts["LinkEntities"] = lose_the_events
    try:
        async with asyncio.timeout(10):
            asked = await agent.ask(QUESTION)
    finally:
        # Later tests use the same database.
        await owner.execute("alter table agent_run_event_elsewhere rename to agent_run_event")
        await owner.close()
    assert "Jonas Weber" in asked.done.answer


@pytest.fixture
async def agent_without_database(story: World) -> AsyncIterator[Agent]:
    """An orchestrator whose own database is unavailable."""
    settings = story.agent.model_copy(update={"database_url": SecretStr(NOWHERE)})
    async with AsyncExitStack() as stack:
        embedders = Embedders(story.embedder, story.embedder)
        app = await stack.enter_async_context(open_app(settings, story.runtime, embedders))
        server = await start_server(
            settings=story.runtime, listen="127.0.0.1:0", services=app.services, probes=app.probes
        )
        stack.push_async_callback(server.stop)
        channel = open_channel(f"127.0.0.1:{server.port}", retry=False)
        stack.push_async_callback(channel.close)
        yield Agent(agent_pb2_grpc.AgentServiceStub(channel))


async def test_without_its_database_the_agent_answers_without_conversations(
    agent_without_database: Agent,
) -> None:
    asked = await agent_without_database.ask(QUESTION)
    assert "Jonas Weber" in asked.done.answer
    kept = await agent_without_database.ask(QUESTION, conversation_id=str(uuid.uuid4()))
    assert "Jonas Weber" in kept.done.answer
    (notice,) = kept.of("notice")
    assert notice.unavailable == "conversations"
    assert notice.message in kept.done.answer
