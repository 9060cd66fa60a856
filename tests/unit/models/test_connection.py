"""A client is built once, off the event loop, and is closed whenever its owner closes."""

from __future__ import annotations

import asyncio
import threading

import pytest

from services.models.connection import Connection


class Client:
    """Records the thread that built it, and how often it was closed."""

    def __init__(self) -> None:
        self.thread = threading.current_thread()
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


class ClientFactory:
    """Builds clients once `allowed` is set; sets `started` when the first build begins."""

    def __init__(self) -> None:
        self.created: list[Client] = []
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
        self.created.append(Client())
        return self.created[-1]


@pytest.fixture
async def factory() -> ClientFactory:
    return ClientFactory()


@pytest.fixture
async def connection(factory: ClientFactory) -> Connection[Client]:
    return Connection(factory.connect, lambda client: client.close())


async def test_a_client_is_built_once_and_off_the_event_loop(
    factory: ClientFactory, connection: Connection[Client]
) -> None:
    factory.allowed.set()
    found = [await connection.client(), await connection.client()]
    [client] = factory.created
    assert found == [client, client]
    assert client.thread is not threading.current_thread()


async def test_concurrent_first_callers_share_one_client(
    factory: ClientFactory, connection: Connection[Client]
) -> None:
    callers = [asyncio.create_task(connection.client()) for _ in range(2)]
    await factory.started.wait()
    factory.allowed.set()
    found = await asyncio.gather(*callers)
    assert found == factory.created * 2


async def test_a_client_under_construction_is_also_closed(
    factory: ClientFactory, connection: Connection[Client]
) -> None:
    caller = asyncio.create_task(connection.client())
    await factory.started.wait()
    closing = asyncio.create_task(connection.close())
    await asyncio.sleep(0)
    factory.allowed.set()
    await closing
    assert await caller is None
    assert [client.closed for client in factory.created] == [1]


async def test_a_client_built_for_a_cancelled_caller_is_used_for_the_next_one(
    factory: ClientFactory, connection: Connection[Client]
) -> None:
    caller = asyncio.create_task(connection.client())
    await factory.started.wait()
    caller.cancel()
    await asyncio.wait([caller])
    factory.allowed.set()
    assert [await connection.client()] == factory.created
    assert caller.cancelled()


async def test_a_failed_build_is_retried_by_the_next_call(
    factory: ClientFactory, connection: Connection[Client]
) -> None:
    factory.allowed.set()
    factory.failures = 1
    with pytest.raises(OSError, match="no certificates"):
        await connection.client()
    assert [await connection.client()] == factory.created


async def test_closing_after_a_failed_build_does_nothing(
    factory: ClientFactory, connection: Connection[Client]
) -> None:
    factory.allowed.set()
    factory.failures = 1
    with pytest.raises(OSError, match="no certificates"):
        await connection.client()
    await connection.close()
    assert factory.created == []


async def test_a_closed_connection_builds_no_client(
    factory: ClientFactory, connection: Connection[Client]
) -> None:
    factory.allowed.set()
    await connection.close()
    await connection.close()
    assert await connection.client() is None
    assert factory.created == []
