"""A gateway in front of a running orchestrator with scripted tiers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from gateway.settings import GatewaySettings
from services.agent_orchestrator.agent.settings import AgentOptions, AnswerSettings
from services.agent_orchestrator.app import Embedders, open_app
from services.runtime.server import start_server
from tests.integration.agent_orchestrator.conftest import World
from tests.integration.agent_orchestrator.conftest import answers as answers  # noqa: PLC0414 - a fixture
from tests.integration.agent_orchestrator.conftest import question_embedder as question_embedder  # noqa: PLC0414 - as above
from tests.integration.agent_orchestrator.conftest import settings as settings  # noqa: PLC0414 - as above
from tests.integration.agent_orchestrator.conftest import world as world  # noqa: PLC0414 - as above
from tests.integration.gateway.conftest import Served, serve_gateway
from tests.integration.gateway.scripted import LOOPBACK, Script


@pytest.fixture
def agent_options() -> AgentOptions:
    """Options that stop a run without readers soon."""
    return AgentOptions(AnswerSettings.model_construct(resume_seconds=0.3))


ALICE = {"authorization": "Bearer alice-key"}
BOB = {"authorization": "Bearer bob-key"}


@asynccontextmanager
async def gateway_to(world: World, agent_port: int) -> AsyncIterator[Served]:
    """A gateway in front of an orchestrator; its callers need a key."""
    values: dict[str, Any] = {
        "gateway_listen": f"{LOOPBACK}:0",
        "agent_target": f"{LOOPBACK}:{agent_port}",
        "vector_target": f"{LOOPBACK}:{world.vector_server.port}",
        "graph_target": f"{LOOPBACK}:{world.graph_server.port}",
        "api_keys_file": world.runtime.api_keys_file,
        "service_key": SecretStr("service-key"),
        "heartbeat_seconds": 5.0,
        "drain_seconds": 1,
        "log_level": "error",
    }
    async with serve_gateway(GatewaySettings(_env_file=None, **values), Script()) as served:
        served.http.headers.update(ALICE)
        yield served


@pytest.fixture
async def gateway(world: World) -> AsyncIterator[Served]:
    """The gateway in front of the orchestrator."""
    async with gateway_to(world, world.agent_port) as served:
        yield served


@pytest.fixture
async def other_gateway(world: World) -> AsyncIterator[Served]:
    """A gateway in front of another replica of the orchestrator, over the same database."""
    async with AsyncExitStack() as stack:
        embedders = Embedders(world.embedder, world.embedder)
        app = await stack.enter_async_context(
            open_app(world.agent, world.runtime, embedders, world.options)
        )
        server = await start_server(
            settings=world.runtime, listen=f"{LOOPBACK}:0", services=app.services, probes=app.probes
        )
        stack.push_async_callback(server.stop)
        yield await stack.enter_async_context(gateway_to(world, server.port))
