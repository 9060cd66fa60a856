"""A client is built once and off the event loop, and is closed whenever its owner closes."""

from __future__ import annotations

import asyncio
import threading

import pytest

from services.models.connection import Connection


class Client:
    """Remembers who built it, and how often it was closed."""

    def __init__(self) -> None:
        self.thread = threading.current_thread()
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


class Maker:
    """Builds clients once `allowed`; `started` when the first is being built."""

    def __init__(self) -> None:
        self.made: list[Client] = []
        self.allowed = threading.Event()
        self.started = asyncio.Event()
        self.failures = 0
        self._loop = asyncio.get_running_loop()

    def connect(self) -> Client:
        self._loop.call_soon_threadsafe(self.started.set)
        assert self.allowed.wait(60)
        if self.failures:
            self.failures -= 1
            raise OSError("no certificates")
        self.made.append(Client())
        return self.made[-1]


@pytest.fixture
async def maker() -> Maker:
    return Maker()


@pytest.fixture
async def connection(maker: Maker) -> Connection[Client]:
    return Connection(maker.connect, lambda client: client.close())


async def test_a_client_is_built_once_and_off_the_event_loop(
    maker: Maker, connection: Connection[Client]
) -> None:
    maker.allowed.set()
    found = [await connection.client(), await connection.client()]
    [client] = maker.made
    assert found == [client, client]
    assert client.thread is not threading.current_thread()


async def test_first_callers_at_the_same_time_share_one_client(
    maker: Maker, connection: Connection[Client]
) -> None:
    callers = [asyncio.create_task(connection.client()) for _ in range(2)]
    await maker.started.wait()
    maker.allowed.set()
    found = await asyncio.gather(*callers)
    assert found == maker.made * 2


async def test_a_client_that_is_being_built_is_closed_too(
    maker: Maker, connection: Connection[Client]
) -> None:
    caller = asyncio.create_task(connection.client())
    await maker.started.wait()
    closing = asyncio.create_task(connection.close())
    await asyncio.sleep(0)
    maker.allowed.set()
    await closing
    assert await caller is None
    assert [client.closed for client in maker.made] == [1]


async def test_what_was_built_for_a_caller_that_gave_up_is_for_the_next_one(
    maker: Maker, connection: Connection[Client]
) -> None:
    caller = asyncio.create_task(connection.client())
    await maker.started.wait()
    caller.cancel()
    await asyncio.wait([caller])
    maker.allowed.set()
    assert [await connection.client()] == maker.made
    assert caller.cancelled()


async def test_after_a_failure_it_is_tried_again(
    maker: Maker, connection: Connection[Client]
) -> None:
    maker.allowed.set()
    maker.failures = 1
    with pytest.raises(OSError, match="no certificates"):
        await connection.client()
    assert [await connection.client()] == maker.made


async def test_a_failure_leaves_nothing_to_close(
    maker: Maker, connection: Connection[Client]
) -> None:
    maker.allowed.set()
    maker.failures = 1
    with pytest.raises(OSError, match="no certificates"):
        await connection.client()
    await connection.close()
    assert maker.made == []


async def test_once_closed_it_builds_nothing(maker: Maker, connection: Connection[Client]) -> None:
    maker.allowed.set()
    await connection.close()
    await connection.close()
    assert await connection.client() is None
    assert maker.made == []
