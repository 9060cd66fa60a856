"""The proxy that stands for broken networks and stuck processes does what each fault is called."""

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
    """In front of a server that sends back what it is sent."""
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    target = Endpoint("127.0.0.1", server.sockets[0].getsockname()[1])
    async with FaultyProxy(target, slow_seconds=SLOW_SECONDS).listening(LOOPBACK) as proxy:
        yield proxy
    server.close()


class Caller:
    """Connections through the proxy, closed at the end."""

    def __init__(self) -> None:
        self._opened: list[asyncio.StreamWriter] = []

    async def connect(self, at: Endpoint) -> Connection:
        """One connection to a TCP address or a Unix socket."""
        if at.path:
            reader, writer = await asyncio.open_unix_connection(at.path)
        else:
            reader, writer = await asyncio.open_connection(at.host, at.port)
        self._opened.append(writer)
        return Connection(reader, writer)

    def close(self) -> None:
        """Closes what was opened."""
        for writer in self._opened:
            writer.close()


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    caller = Caller()
    yield caller
    caller.close()


class Connection:
    """One connection; a peer that has closed it is a ConnectionResetError."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def ask(self, text: bytes) -> bytes:
        """What comes back first."""
        self._writer.write(text)
        answer = await asyncio.wait_for(self._reader.read(1024), 5)
        if not answer:
            raise ConnectionResetError
        return answer


async def test_a_healthy_one_carries_everything(proxy: FaultyProxy, caller: Caller) -> None:
    assert await (await caller.connect(proxy.at)).ask(b"hello") == b"hello"


async def test_a_slow_one_delays_both_ways(proxy: FaultyProxy, caller: Caller) -> None:
    connection = await caller.connect(proxy.at)
    await proxy.break_as(Fault.SLOW)
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert await connection.ask(b"hello") == b"hello"
    assert loop.time() - began >= 2 * SLOW_SECONDS


async def test_a_refusing_one_ends_connections_and_takes_none_until_it_is_healed(
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


async def test_a_cut_one_ends_in_the_middle_of_an_answer(
    proxy: FaultyProxy, caller: Caller
) -> None:
    connection = await caller.connect(proxy.at)
    await proxy.break_as(Fault.CUT)
    assert await connection.ask(b"123456") == b"123"
    with pytest.raises(ConnectionResetError):
        await connection.ask(b"more")


async def test_a_hanging_one_keeps_what_it_was_sent_until_it_is_healed(
    proxy: FaultyProxy, caller: Caller
) -> None:
    connection = await caller.connect(proxy.at)
    await proxy.break_as(Fault.BLACKHOLE)
    asked = asyncio.create_task(connection.ask(b"hello"))
    connected = await caller.connect(proxy.at)  # connections are accepted, as by a stopped process
    done, _ = await asyncio.wait({asked}, timeout=0.2)
    assert not done
    await proxy.heal()
    assert await asked == b"hello"
    assert await connected.ask(b"too") == b"too"


async def test_it_also_stands_before_a_unix_socket(tmp_path: Path, caller: Caller) -> None:
    server = await asyncio.start_unix_server(echo, tmp_path / "there")
    target = Endpoint(path=str(tmp_path / "there"))
    async with FaultyProxy(target).listening(Endpoint(path=str(tmp_path / "here"))) as proxy:
        await proxy.break_as(Fault.REFUSE)
        with pytest.raises(FileNotFoundError):
            await caller.connect(proxy.at)
        await proxy.heal()
        assert await (await caller.connect(proxy.at)).ask(b"hello") == b"hello"
    server.close()
