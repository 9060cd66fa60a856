"""Limits of the gateway on rates, concurrent requests and connections; and its shutdown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from socket import socket

import httpx2
import pytest

from braid.vector.v1 import documents_pb2
from gateway.http_server import gateway_server
from gateway.settings import GatewaySettings
from services.runtime.errors import StoreUnavailableError
from services.runtime.server import start_server
from services.runtime.settings import RuntimeSettings
from tests.integration.gateway.conftest import Served, serve_gateway
from tests.integration.gateway.scripted import (
    AGENT,
    GRAPH,
    LOOPBACK,
    VECTOR,
    Script,
    scripted,
    start_scripted,
)

DOCUMENTS = documents_pb2.ListDocumentsResponse()
SettingsOf = Callable[..., Awaitable[GatewaySettings]]


@pytest.fixture(autouse=True)
def documents(script: Script) -> None:
    """Scripts an empty list of documents."""
    script.answer("ListDocuments", DOCUMENTS)


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


@asynccontextmanager
async def connected(
    served: Served,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Opens a connection to a gateway."""
    reader, writer = await asyncio.open_connection(LOOPBACK, httpx2.URL(served.url).port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def test_a_key_beyond_its_rate_limit_gets_429_with_a_retry_time(
    settings_of: SettingsOf, script: Script, key_file: Path
) -> None:
    settings = await settings_of(keys=key_file, allow_local=False, rate_limit_per_key="2/hour")
    async with serve_gateway(settings, script) as served:
        for _ in range(2):
            response = await served.http.get("/api/documents", headers=bearer("reader"))
            assert response.status_code == 200
        refused = await served.http.get("/api/documents", headers=bearer("reader"))
        other = await served.http.get("/api/documents", headers=bearer("writer"))
    assert (refused.status_code, other.status_code) == (429, 200)
    assert refused.json()["reason"] == "OVERLOADED"
    assert refused.json()["detail"].startswith("The rate limit of this API key is reached")
    assert 1 <= int(refused.headers["retry-after"]) <= 3600


async def test_a_request_counts_once_although_the_services_count_it_too(
    settings_of: SettingsOf, script: Script, key_file: Path
) -> None:
    settings = await settings_of(keys=key_file, allow_local=False, rate_limit_per_space="3/hour")
    async with serve_gateway(settings, script) as served:
        answers = [
            (await served.http.get("/api/documents", headers=bearer("reader"))).status_code
            for _ in range(4)
        ]
    assert answers == [200, 200, 200, 429]


async def test_probes_are_not_rate_limited(settings_of: SettingsOf, script: Script) -> None:
    settings = await settings_of(rate_limit_per_space="1/hour", max_concurrent_calls=1)
    async with serve_gateway(settings, script) as served:
        answers = {(await served.http.get("/healthz")).status_code for _ in range(5)}
        ready = {(await served.http.get("/readyz")).status_code for _ in range(5)}
    assert (answers, ready) == ({200}, {200})


async def test_a_request_beyond_the_concurrency_limit_is_refused_at_once(
    settings_of: SettingsOf, script: Script
) -> None:
    script.hang("ListDocuments")
    async with serve_gateway(await settings_of(max_concurrent_calls=1), script) as served:
        hanging = asyncio.create_task(served.http.get("/api/documents"))
        await script.reached.wait()
        refused = await served.http.get("/api/documents")
        hanging.cancel()
        await script.cancelled.wait()
        script.answer("ListDocuments", DOCUMENTS)
        answered = await served.http.get("/api/documents")
    assert (refused.status_code, answered.status_code) == (429, 200)
    assert refused.headers["retry-after"] == "1"


async def test_silent_connections_block_no_request_and_are_closed(
    settings_of: SettingsOf, script: Script
) -> None:
    loop = asyncio.get_running_loop()
    settings = await settings_of(handshake_seconds=0.5)
    async with serve_gateway(settings, script) as served:
        with ExitStack() as stack:
            silent = [stack.enter_context(socket()) for _ in range(300)]
            for one in silent:
                one.setblocking(False)
                await loop.sock_connect(one, (LOOPBACK, httpx2.URL(served.url).port))
            assert (await served.http.get("/api/documents")).status_code == 200
            async with asyncio.timeout(10):
                ends = [await loop.sock_recv(one, 100) for one in silent]
    assert set(ends) == {b""}


async def test_a_new_connection_replaces_the_one_that_was_idle_longest(
    settings_of: SettingsOf, script: Script
) -> None:
    async with (
        serve_gateway(await settings_of(max_connections=2), script) as served,
        connected(served) as (oldest, _),
        connected(served) as (newer, writer),
    ):
        assert (await served.http.get("/healthz")).status_code == 200
        assert await asyncio.wait_for(oldest.read(), 5) == b""
        writer.write(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
        assert (await newer.readline()).startswith(b"HTTP/1.1 200 ")


async def test_a_connection_with_incomplete_headers_is_closed_after_a_timeout(
    settings_of: SettingsOf, script: Script
) -> None:
    async with (
        serve_gateway(await settings_of(handshake_seconds=0.1), script) as served,
        connected(served) as (reader, writer),
    ):
        writer.write(b"GET /healthz HTTP/1.1\r\nhost: x\r\n")
        assert await asyncio.wait_for(reader.read(), 5) == b""


async def test_headers_of_a_megabyte_are_refused(served: Served) -> None:
    async with connected(served) as (reader, writer):
        writer.write(b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-large: ")
        for _ in range(16):
            writer.write(b"a" * 65_536)
        answer = await asyncio.wait_for(reader.readline(), 5)
    assert answer.startswith(b"HTTP/1.1 431 ")


async def test_a_connection_serves_several_requests_in_sequence(served: Served) -> None:
    async with connected(served) as (reader, writer):
        for _ in range(3):
            writer.write(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
            assert head.startswith(b"HTTP/1.1 200 ")
            assert await reader.readexactly(15) == b'{"status":"ok"}'


async def test_a_draining_gateway_is_not_ready_and_still_answers(
    settings_of: SettingsOf, script: Script
) -> None:
    settings = await settings_of(drain_delay_seconds=60)
    async with gateway_server(settings) as (server, listener):
        running = asyncio.create_task(server.serve(sockets=[listener]))
        url = f"http://{LOOPBACK}:{listener.getsockname()[1]}"
        async with httpx2.AsyncClient(base_url=url, timeout=10) as http:
            before = await http.get("/readyz")
            server.begin_drain()
            ready, alive, answer = [
                await http.get(path) for path in ("/readyz", "/healthz", "/api/documents")
            ]
            server.begin_drain()  # the second signal
            await asyncio.wait_for(running, 10)
    assert (before.status_code, ready.status_code, alive.status_code) == (200, 503, 200)
    assert ready.json()["detail"] == "The gateway is shutting down."
    assert (answer.status_code, answer.headers["connection"]) == (200, "close")
    assert "connection" not in before.headers


async def test_readiness_reports_what_a_service_waits_for(script: Script) -> None:
    async def populating() -> None:
        raise StoreUnavailableError("neo4j", message="neo4j is still building an index.")

    servers = [await start_scripted(names, script) for names in (AGENT, VECTOR)]
    servers.append(
        await start_server(
            settings=RuntimeSettings(_env_file=None, drain_seconds=0),
            listen=f"{LOOPBACK}:0",
            services=[scripted(name, script) for name in GRAPH],
            probes={"neo4j": populating},
        )
    )
    agent, vector, graph = (f"{LOOPBACK}:{server.port}" for server in servers)
    settings = GatewaySettings(
        _env_file=None,
        gateway_listen=f"{LOOPBACK}:0",
        agent_target=agent,
        vector_target=vector,
        graph_target=graph,
    )
    async with serve_gateway(settings, script) as served:
        response = await served.http.get("/readyz")
    for server in servers:
        await server.stop()
    assert (response.status_code, response.json()["status"]) == (200, "degraded")
    assert response.json()["reasons"] == {"graph_query": "neo4j is still building an index."}
    assert response.json()["services"]["graph_query"] == "NOT_SERVING"
