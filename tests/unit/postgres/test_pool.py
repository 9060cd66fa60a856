"""A connection that the driver has lost count of is thrown away, and told as a database that is away."""

from __future__ import annotations

import asyncio
import gc
from typing import cast

import asyncpg
import pytest

from services.postgres.pool import Pool, PoolLimits
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import BraidError, DeadlineError, StoreUnavailableError

# What asyncpg says when the server was killed between the steps of a statement.
LOST = asyncpg.InternalClientError(
    "cannot switch to state 12; another operation (2) is in progress"
)


class Connection:
    """Fails every statement with an error of the driver's own."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.terminated = False
        self.thrown_away = asyncio.Event()

    async def fetchval(self, sql: str, *args: object, timeout: float) -> object:  # noqa: ASYNC109 - asyncpg's shape
        raise self.error

    def terminate(self) -> None:
        self.terminated = True
        self.thrown_away.set()


class Connections:
    """A driver's pool of one connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.released = 0

    def get_idle_size(self) -> int:
        return 1

    def get_size(self) -> int:
        return 0

    async def acquire(self, *, timeout: float | None) -> Connection:  # noqa: ASYNC109 - asyncpg's shape
        return self.connection

    async def release(self, connection: Connection, *, timeout: float) -> None:  # noqa: ASYNC109 - asyncpg's shape
        self.released += 1


def pool_over(connections: Connections) -> Pool:
    return Pool(cast("asyncpg.Pool", connections), PoolLimits())


async def test_a_server_that_dies_within_a_statement_is_unavailable() -> None:
    connections = Connections(Connection(LOST))
    with pytest.raises(StoreUnavailableError):
        async with pool_over(connections).session() as session:
            await session.value("select 1")
    assert connections.connection.terminated
    assert connections.released == 1


class Gone(Connection):
    """The driver's pool took it back when it was lost."""

    def terminate(self) -> None:
        raise asyncpg.InterfaceError("cannot call Connection.terminate(): it has been released")


async def test_a_connection_that_the_driver_took_back_itself_is_no_defect() -> None:
    with pytest.raises(StoreUnavailableError):
        async with pool_over(Connections(Gone(LOST))).session() as session:
            await session.value("select 1")


async def test_another_defect_of_the_driver_stays_a_defect() -> None:
    connections = Connections(Connection(asyncpg.InternalClientError("unexpected")))
    with pytest.raises(asyncpg.InternalClientError):
        async with pool_over(connections).session() as session:
            await session.value("select 1")
    assert connections.connection.terminated


async def test_a_deadlocks_victim_may_try_again_on_the_same_connection() -> None:
    connections = Connections(Connection(asyncpg.DeadlockDetectedError("deadlock detected")))
    with pytest.raises(StoreUnavailableError):
        async with pool_over(connections).session() as session:
            await session.value("select 1")
    assert not connections.connection.terminated
    assert connections.released == 1


class Connecting(Connections):
    """No connection comes before the time for it is over."""

    def get_idle_size(self) -> int:
        return 0

    async def acquire(self, *, timeout: float | None) -> Connection:  # noqa: ASYNC109 - asyncpg's shape
        raise TimeoutError


@pytest.mark.parametrize(("seconds", "error"), [(0.1, DeadlineError), (1, StoreUnavailableError)])
async def test_who_leaves_no_time_to_connect_is_late_and_only_others_find_the_database_away(
    seconds: float, error: type[BraidError]
) -> None:
    deadline = asyncio.get_running_loop().time() + seconds
    call = CallContext("r", "/m", "s", "u", frozenset(), deadline)
    with call_scope(call), pytest.raises(error):
        async with pool_over(Connecting(Connection(LOST))).session():
            pass


class Stuck(Connections):
    """Gives connections back only when it is let, and then finds the server gone."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.reached = asyncio.Event()
        self.let = asyncio.Event()

    async def release(self, connection: Connection, *, timeout: float) -> None:  # noqa: ASYNC109 - asyncpg's shape
        await asyncio.shield(self._release())  # as the driver does

    async def _release(self) -> None:
        self.reached.set()
        await self.let.wait()
        raise ConnectionResetError


async def test_a_caller_who_goes_while_a_connection_is_given_back_leaves_nobodys_error() -> None:
    told: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, about: told.append(about))
    connections = Stuck(Connection(LOST))
    call = asyncio.create_task(fail_within(pool_over(connections)))
    await connections.reached.wait()
    call.cancel()
    await asyncio.wait([call])
    connections.let.set()
    await connections.connection.thrown_away.wait()
    gc.collect()
    assert (call.cancelled(), told) == (True, [])


async def fail_within(pool: Pool) -> None:
    async with pool.session():
        raise LookupError


def test_a_connection_that_goes_while_a_pool_is_counted_makes_nothing_negative() -> None:
    stats = pool_over(Connections(Connection(LOST))).stats()
    assert (stats.used, stats.idle) == (0, 1)
