"""A gateway in front of a running orchestrator between scripted tiers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import SecretStr

from gateway.settings import GatewaySettings
from services.agent_orchestrator.agent.settings import AgentOptions, AnswerSettings
from tests.integration.agent_orchestrator.conftest import World
from tests.integration.agent_orchestrator.conftest import answers as answers  # noqa: PLC0414 - a fixture
from tests.integration.agent_orchestrator.conftest import settings as settings  # noqa: PLC0414 - as above
from tests.integration.agent_orchestrator.conftest import world as world  # noqa: PLC0414 - as above
from tests.integration.gateway.conftest import Served, serve_gateway
from tests.integration.gateway.scripted import LOOPBACK, Script


@pytest.fixture
def agent_options() -> AgentOptions:
    """Runs that nobody reads are stopped soon."""
    return AgentOptions(AnswerSettings.model_construct(resume_seconds=0.3))


ALICE = {"authorization": "Bearer alice-key"}
BOB = {"authorization": "Bearer bob-key"}


@pytest.fixture
async def gateway(world: World) -> AsyncIterator[Served]:
    """The gateway; its callers need a key."""
    agent_port = world.agent_port
    told: dict[str, Any] = {
        "gateway_listen": f"{LOOPBACK}:0",
        "agent_target": f"{LOOPBACK}:{agent_port}",
        "vector_target": f"{LOOPBACK}:{world.vector_server.port}",
        "graph_target": f"{LOOPBACK}:{world.graph_server.port}",
        "api_keys_file": world.runtime.api_keys_file,
        "service_key": SecretStr("service-key"),
        "heartbeat_seconds": 0.2,
        "drain_seconds": 1,
        "log_level": "error",
    }
    async with serve_gateway(GatewaySettings(_env_file=None, **told), Script()) as served:
        served.http.headers.update(ALICE)
        yield served
