"""A gateway on a free port over scripted services, asked by a real HTTP client."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from starlette.routing import BaseRoute

from gateway import serving
from gateway.rest.app import ROUTERS, create_app
from gateway.serving import gateway_server
from gateway.settings import GatewaySettings
from tests.integration.gateway.scripted import (
    AGENT,
    GRAPH,
    LOOPBACK,
    VECTOR,
    Script,
    start_scripted,
)

KEYS: dict[str, dict[str, Any]] = {
    "gateway": {"space": None, "scopes": ["read", "write", "admin", "delegate"]},
    "reader": {"space": "team-a", "user": "ann", "scopes": ["read"]},
    "writer": {"space": "team-b", "user": "bob", "scopes": ["read", "write"]},
}


@pytest.fixture(scope="session", autouse=True)
def prepared_routes() -> Iterator[None]:
    """All gateways of a run share the routes of REST: preparing them takes longer than what is tested."""
    # By identity: routers are equal where their routes are.
    shared: dict[int, BaseRoute | None] = dict.fromkeys(map(id, ROUTERS))

    def prepared(*parts: Any) -> FastAPI:
        app = create_app(*parts)
        routes = []
        for route in app.router.routes:
            router = id(getattr(route, "original_router", None))
            if router in shared:  # others, as of MCP, belong to their gateway
                shared[router] = shared[router] or route
            routes.append(shared.get(router) or route)
        app.router.routes = routes
        return app

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving, "create_app", prepared)
        yield


@dataclass
class Served:
    """A running gateway: a client of it, its address, and the script of what is behind it."""

    http: httpx.AsyncClient
    url: str
    script: Script


@asynccontextmanager
async def serve_gateway(settings: GatewaySettings, script: Script) -> AsyncIterator[Served]:
    """Serves a gateway with these settings for the time of a block."""
    async with gateway_server(settings) as (server, listener):
        running = asyncio.create_task(server.serve(sockets=[listener]))
        url = f"http://{LOOPBACK}:{listener.getsockname()[1]}"
        async with asyncio.timeout(10):
            while not server.started:  # noqa: ASYNC110 - the server has no event to wait for
                await asyncio.sleep(0.005)
        try:
            # Without certificates, which take long to read: there is no TLS here.
            async with httpx.AsyncClient(base_url=url, timeout=60, verify=False) as http:  # noqa: S501
                yield Served(http, url, script)
        finally:
            server.should_exit = True
            await running


@pytest.fixture
async def script() -> Script:
    """What the services behind the gateway do."""
    return Script()


@pytest.fixture
async def settings_of(
    script: Script,
) -> AsyncIterator[Callable[..., Awaitable[GatewaySettings]]]:
    """Makes settings of a gateway over the scripted services; they know the keys of `key_file`, if it is given."""
    servers = []

    async def start(keys: Path | None) -> dict[str, Any]:
        told = {"api_keys_file": keys} if keys else {}
        # One server for all three: a third of the time to start, and the gateway sees three targets all the same.
        server = await start_scripted((*AGENT, *VECTOR, *GRAPH), script, **told)
        servers.append(server)
        target = f"{LOOPBACK}:{server.port}"
        return dict.fromkeys(("agent_target", "vector_target", "graph_target"), target)

    async def settings(keys: Path | None = None, **more: Any) -> GatewaySettings:
        told = {"api_keys_file": keys, "service_key": SecretStr("gateway")} if keys else {}
        return GatewaySettings(
            _env_file=None,
            gateway_listen=f"{LOOPBACK}:0",
            log_level="error",
            drain_seconds=1,
            **{**await start(keys), **told, **more},
        )

    yield settings
    await asyncio.gather(*(server.stop() for server in servers))


@pytest.fixture
async def served(settings_of: Any, script: Script) -> AsyncIterator[Served]:
    """A gateway without keys: its callers are space `local`."""
    async with serve_gateway(await settings_of(), script) as running:
        yield running


@pytest.fixture
async def guarded(settings_of: Any, script: Script, key_file: Path) -> AsyncIterator[Served]:
    """A gateway that needs a key."""
    settings = await settings_of(keys=key_file, allow_local=False)
    async with serve_gateway(settings, script) as running:
        yield running


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """A file of the keys above; a key is its own name."""
    keys = [
        {"id": name, "hash": f"sha256:{hashlib.sha256(name.encode()).hexdigest()}", **record}
        for name, record in KEYS.items()
    ]
    path = tmp_path / "api_keys.json"
    path.write_text(json.dumps({"keys": keys}))
    return path
