"""Fixtures: a gateway on a free port over scripted services, called by a real HTTP client."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from starlette.routing import BaseRoute

from gateway import http_server
from gateway.http_server import gateway_server
from gateway.rest.app import ROUTERS, create_app
from gateway.settings import GatewaySettings
from tests.integration.gateway.scripted import (
    AGENT,
    GRAPH,
    LOOPBACK,
    VECTOR,
    Script,
    ScriptInTurn,
    start_scripted,
)

KEYS: dict[str, dict[str, Any]] = {
    "gateway": {"space": None, "scopes": ["read", "write", "admin", "delegate"]},
    "reader": {"space": "team-a", "user": "ann", "scopes": ["read"]},
    "writer": {"space": "team-b", "user": "bob", "scopes": ["read", "write"]},
}


@pytest.fixture(scope="session", autouse=True)
def prepared_routes() -> Iterator[None]:
    """Shares the REST routes between all gateways of a run: preparing them takes longer than the tests."""
    # By identity: routers with equal routes are equal.
    shared: dict[int, BaseRoute | None] = dict.fromkeys(map(id, ROUTERS))

    def prepared(*parts: Any) -> FastAPI:
        app = create_app(*parts)
        routes = []
        for route in app.router.routes:
            router = id(getattr(route, "original_router", None))
            if router in shared:  # others, such as those of MCP, belong to their gateway
                shared[router] = shared[router] or route
            routes.append(shared.get(router) or route)
        app.router.routes = routes
        return app

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(http_server, "create_app", prepared)
        yield


@dataclass
class Served:
    """A running gateway: a client of it, its address, and the script of the services behind it."""

    http: httpx2.AsyncClient
    url: str
    script: Script


@asynccontextmanager
async def running_gateway(settings: GatewaySettings) -> AsyncIterator[str]:
    """Runs a gateway with these settings within a block. Yields its address."""
    async with gateway_server(settings) as (server, listener):
        running = asyncio.create_task(server.serve(sockets=[listener]))
        async with asyncio.timeout(10):
            while not server.started:  # noqa: ASYNC110 - the server has no event to wait for
                await asyncio.sleep(0.005)
        try:
            yield f"http://{LOOPBACK}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await running


@asynccontextmanager
async def client_of(url: str, script: Script) -> AsyncIterator[Served]:
    """Opens a new client of a running gateway."""
    # Loading certificates takes long, and no TLS is used here.
    async with httpx2.AsyncClient(base_url=url, timeout=60, verify=False) as http:
        yield Served(http, url, script)


@asynccontextmanager
async def serve_gateway(settings: GatewaySettings, script: Script) -> AsyncIterator[Served]:
    """Serves a gateway with these settings within a block."""
    async with running_gateway(settings) as url, client_of(url, script) as served:
        yield served


class SharedGateways:
    """Gateways over scripted services that all tests of a run share; they follow the script of the current test."""

    def __init__(self, folder: Path, tasks: asyncio.TaskGroup) -> None:
        self._folder = folder
        self._tasks = tasks
        self._ended = asyncio.Event()
        self._started: dict[bool, tuple[ScriptInTurn, str]] = {}

    @asynccontextmanager
    async def serve(self, script: Script, *, guarded: bool) -> AsyncIterator[Served]:
        """Opens a client of the gateway with keys, or of the one without. Starts that gateway at its first use."""
        if guarded not in self._started:
            url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            in_turn = ScriptInTurn()
            self._tasks.create_task(self._run(in_turn, url, guarded=guarded))
            self._started[guarded] = in_turn, await url
        in_turn, address = self._started[guarded]
        in_turn.current = script
        async with client_of(address, script) as served:
            yield served

    def end(self) -> None:
        """Stops the gateways."""
        self._ended.set()

    async def _run(self, script: ScriptInTurn, url: asyncio.Future[str], *, guarded: bool) -> None:
        """Starts and stops a gateway in the same task, as its libraries require."""
        keys = write_keys(self._folder) if guarded else None
        async with AsyncExitStack() as exits:
            settings = await scripted_settings(exits, script, keys, allow_local=not guarded)
            url.set_result(await exits.enter_async_context(running_gateway(settings)))
            await self._ended.wait()


async def scripted_settings(
    exits: AsyncExitStack, script: Script | ScriptInTurn, keys: Path | None = None, **more: Any
) -> GatewaySettings:
    """Returns settings of a gateway over scripted services, which `exits` stops; with the keys in a file, if given."""
    known = {"api_keys_file": keys} if keys else {}
    # One server for all three services starts in a third of the time; the gateway still has three targets.
    server = await start_scripted((*AGENT, *VECTOR, *GRAPH), script, **known)
    exits.push_async_callback(server.stop)
    targets = ("agent_target", "vector_target", "graph_target")
    own_key = {"service_key": SecretStr("gateway")} if keys else {}
    return GatewaySettings(
        _env_file=None,
        gateway_listen=f"{LOOPBACK}:0",
        log_level="error",
        drain_seconds=1,
        **{**dict.fromkeys(targets, f"{LOOPBACK}:{server.port}"), **known, **own_key, **more},
    )


@pytest.fixture(scope="session")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SharedGateways]:
    """The gateways that all tests share."""
    async with asyncio.TaskGroup() as tasks:
        gateways = SharedGateways(tmp_path_factory.mktemp("keys"), tasks)
        yield gateways
        gateways.end()


@pytest.fixture
async def script() -> Script:
    """The script of the services behind the gateway."""
    return Script()


@pytest.fixture
async def settings_of(
    script: Script,
) -> AsyncIterator[Callable[..., Awaitable[GatewaySettings]]]:
    """Makes settings of a gateway over the scripted services, with the keys in the file `keys`, if given."""
    async with AsyncExitStack() as exits:

        async def settings(keys: Path | None = None, **more: Any) -> GatewaySettings:
            return await scripted_settings(exits, script, keys, **more)

        yield settings


@pytest.fixture
async def served(shared: SharedGateways, script: Script) -> AsyncIterator[Served]:
    """A gateway without keys: its callers are in the space `local`."""
    async with shared.serve(script, guarded=False) as running:
        yield running


@pytest.fixture
async def guarded(shared: SharedGateways, script: Script) -> AsyncIterator[Served]:
    """A gateway that requires a key."""
    async with shared.serve(script, guarded=True) as running:
        yield running


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """A file with the keys above; the secret of each is its name."""
    return write_keys(tmp_path)


def write_keys(folder: Path) -> Path:
    """Writes the keys above into a file in a folder."""
    keys = [
        {"id": name, "hash": f"sha256:{hashlib.sha256(name.encode()).hexdigest()}", **record}
        for name, record in KEYS.items()
    ]
    path = folder / "api_keys.json"
    path.write_text(json.dumps({"keys": keys}))
    return path
