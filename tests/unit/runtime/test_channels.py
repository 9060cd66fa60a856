"""The metadata of calls to other services, and how their channels connect."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from braid.agent.v1 import search_pb2_grpc
from services.runtime.channels import OutgoingMetadata, ServiceKeyError, open_channel
from services.runtime.context import CallContext, call_scope
from services.runtime.settings import RuntimeSettings
from tests.unit.runtime.conftest import QUESTION, Harness

CALL = CallContext(
    request_id="r1", method="/m", space="acme", user="ann", scopes=frozenset({"read"})
)


def settings(**given: object) -> RuntimeSettings:
    return RuntimeSettings.model_validate(given)


def test_space_and_user_are_sent_with_the_service_key() -> None:
    with call_scope(CALL):
        carried = dict(OutgoingMetadata.of(settings(service_key="k")).metadata())
    assert carried["authorization"] == "Bearer k"
    assert (carried["braid-space"], carried["braid-user"]) == ("acme", "ann")
    assert carried["x-request-id"] == "r1"


def test_without_a_service_key_no_space_or_user_is_sent() -> None:
    with call_scope(CALL):
        carried = dict(OutgoingMetadata.of(settings()).metadata())
    assert not {"authorization", "braid-space", "braid-user"} & set(carried)


def test_a_process_that_authenticates_callers_needs_a_service_key(tmp_path: Path) -> None:
    """Otherwise the other service would serve every caller as space `local`."""
    with pytest.raises(ServiceKeyError, match="BRAID_SERVICE_KEY"):
        OutgoingMetadata.of(settings(api_keys_file=tmp_path / "keys.json"))


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def listening(serve: Serve) -> tuple[asyncio.Server, str]:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    return server, f"{host}:{port}"


async def test_an_unavailable_server_is_tried_several_times_per_second() -> None:
    """A rollout continues a few seconds after a replica is ready; by then all clients must be connected to it."""
    tried_at: asyncio.Queue[float] = asyncio.Queue()

    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tried_at.put_nowait(asyncio.get_running_loop().time())
        writer.close()

    server, address = await listening(refuse)
    async with server, open_channel(f"ipv4:{address}") as channel:
        channel.get_state(try_to_connect=True)
        async with asyncio.timeout(20):
            times = [await tried_at.get() for _ in range(12)]
    later = [after - before for before, after in pairwise(times)][4:]
    assert median(later) < 0.4


async def test_a_connection_attempt_may_take_longer_than_the_retry_interval(
    harness: Harness,
) -> None:
    """A TLS handshake takes this long on a busy machine."""
    connections = 0

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await asyncio.sleep(0.5)
        upstream, downstream = await asyncio.open_connection("127.0.0.1", harness.server.port)
        await asyncio.gather(copy(reader, downstream), copy(upstream, writer))

    server, address = await listening(relay)
    async with server, open_channel(f"ipv4:{address}", retry=False) as channel:
        stub = search_pb2_grpc.SearchServiceStub(channel)
        answer = await stub.ComprehensiveSearch(QUESTION, timeout=10)
    assert answer.result_count == 1
    assert connections == 1


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
