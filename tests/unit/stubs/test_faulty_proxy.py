"""The proxy that simulates broken networks and hung processes implements each fault."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.stubs.faulty_proxy import Endpoint, Fault, FaultyProxy

SLOW_SECONDS = 0.1
LOOPBACK = Endpoint("127.0.0.1", 0)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1024):
        writer.write(data)
        await writer.drain()
    writer.close()


@pytest.fixture
async def proxy() -> AsyncIterator[FaultyProxy]:
    """A proxy in front of an echo server."""
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    target = Endpoint("127.0.0.1", server.sockets[0].getsockname()[1])
    async with FaultyProxy(target, slow_seconds=SLOW_SECONDS).listening(LOOPBACK) as proxy:
        yield proxy
    server.close()


class Caller:
    """Opens connections through the proxy, and closes them at the end."""

    def __init__(self) -> None:
        self._opened: list[asyncio.StreamWriter] = []

    async def connect(self, at: Endpoint) -> Connection:
        """Opens a connection to a TCP address or a Unix socket."""
        if at.path:
            reader, writer = await asyncio.open_unix_connection(at.path)
        else:
            reader, writer = await asyncio.open_connection(at.host, at.port)
        self._opened.append(writer)
        return Connection(reader, writer)

    def close(self) -> None:
        """Closes all connections."""
        for writer in self._opened:
            writer.close()


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    caller = Caller()
    yield caller
    caller.close()


class Connection:
    """One connection; raises ConnectionResetError if the peer closed it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def ask(self, text: bytes) -> bytes:
        """Sends the text and returns the first bytes of the response."""
        self._writer.write(text)
        answer = await asyncio.wait_for(self._reader.read(1024), 5)
        if not answer:
            raise ConnectionResetError
        return answer


async def test_a_healthy_proxy_forwards_everything(proxy: FaultyProxy, caller: Caller) -> None:
    assert await (await caller.connect(proxy.at)).ask(b"hello") == b"hello"


async def test_a_slow_proxy_delays_both_directions(proxy: FaultyProxy, caller: Caller) -> None:
    connection = await caller.connect(proxy.at)
    await proxy.break_as(Fault.SLOW)
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert await connection.ask(b"hello") == b"hello"
    assert loop.time() - began >= 2 * SLOW_SECONDS


async def test_a_refusing_proxy_ends_connections_and_accepts_none_until_it_is_healed(
    proxy: FaultyProxy, caller: Caller
) -> None:
    connection = await caller.connect(proxy.at)
    await connection.ask(b"hello")
    await proxy.break_as(Fault.REFUSE)
    with pytest.raises(ConnectionResetError):
        await connection.ask(b"again")
    with pytest.raises(ConnectionRefusedError):
        await caller.connect(proxy.at)
    await proxy.heal()
    assert await (await caller.connect(proxy.at)).ask(b"hello") == b"hello"


async def test_a_cutting_proxy_ends_connections_in_the_middle_of_a_response(
    proxy: FaultyProxy, caller: Caller
) -> None:
    connection = await caller.connect(proxy.at)
    await proxy.break_as(Fault.CUT)
    assert await connection.ask(b"123456") == b"123"
    with pytest.raises(ConnectionResetError):
        await connection.ask(b"more")


async def test_a_hanging_proxy_holds_data_until_it_is_healed(
    proxy: FaultyProxy, caller: Caller
) -> None:
    connection = await caller.connect(proxy.at)
    await proxy.break_as(Fault.BLACKHOLE)
    pending = asyncio.create_task(connection.ask(b"hello"))
    connected = await caller.connect(proxy.at)  # connections are accepted, as by a stopped process
    done, _ = await asyncio.wait({pending}, timeout=0.2)
    assert not done
    await proxy.heal()
    assert await pending == b"hello"
    assert await connected.ask(b"too") == b"too"


async def test_the_proxy_also_works_for_unix_sockets(tmp_path: Path, caller: Caller) -> None:
    server = await asyncio.start_unix_server(echo, tmp_path / "there")
    target = Endpoint(path=str(tmp_path / "there"))
    async with FaultyProxy(target).listening(Endpoint(path=str(tmp_path / "here"))) as proxy:
        await proxy.break_as(Fault.REFUSE)
        with pytest.raises(FileNotFoundError):
            await caller.connect(proxy.at)
        await proxy.heal()
        assert await (await caller.connect(proxy.at)).ask(b"hello") == b"hello"
    server.close()
