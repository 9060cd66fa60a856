"""A connection in an inconsistent state is discarded, and the database is reported as unavailable."""

from __future__ import annotations

import asyncio
import gc
from typing import cast

import asyncpg
import pytest

from services.postgres.pool import Pool, PoolLimits
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import BraidError, DeadlineError, StoreUnavailableError

# The error of asyncpg if the server was killed between the steps of a statement.
LOST = asyncpg.InternalClientError(
    "cannot switch to state 12; another operation (2) is in progress"
)


class Connection:
    """Fails every statement with an error of the driver."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.terminated = False
        self.discarded = asyncio.Event()

    async def fetchval(self, sql: str, *args: object, timeout: float) -> object:  # noqa: ASYNC109 - asyncpg's signature
        raise self.error

    def terminate(self) -> None:
        self.terminated = True
        self.discarded.set()


class DriverPool:
    """A driver's pool of one connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.released = 0

    def get_idle_size(self) -> int:
        return 1

    def get_size(self) -> int:
        return 0

    async def acquire(self, *, timeout: float | None) -> Connection:  # noqa: ASYNC109 - asyncpg's signature
        return self.connection

    async def release(self, connection: Connection, *, timeout: float) -> None:  # noqa: ASYNC109 - asyncpg's signature
        self.released += 1


def pool_over(connections: DriverPool) -> Pool:
    return Pool(cast("asyncpg.Pool", connections), PoolLimits())


async def test_a_server_that_dies_during_a_statement_is_unavailable() -> None:
    connections = DriverPool(Connection(LOST))
    with pytest.raises(StoreUnavailableError):
        async with pool_over(connections).session() as session:
            await session.value("select 1")
    assert connections.connection.terminated
    assert connections.released == 1


class ReleasedConnection(Connection):
    """A connection that the driver's pool has already released."""

    def terminate(self) -> None:
        raise asyncpg.InterfaceError("cannot call Connection.terminate(): it has been released")


async def test_a_connection_that_the_driver_already_released_is_unavailable() -> None:
    with pytest.raises(StoreUnavailableError):
        async with pool_over(DriverPool(ReleasedConnection(LOST))).session() as session:
            await session.value("select 1")


async def test_an_unexpected_driver_error_is_not_translated() -> None:
    connections = DriverPool(Connection(asyncpg.InternalClientError("unexpected")))
    with pytest.raises(asyncpg.InternalClientError):
        async with pool_over(connections).session() as session:
            await session.value("select 1")
    assert connections.connection.terminated


async def test_a_deadlock_is_retryable_and_keeps_the_connection() -> None:
    connections = DriverPool(Connection(asyncpg.DeadlockDetectedError("deadlock detected")))
    with pytest.raises(StoreUnavailableError):
        async with pool_over(connections).session() as session:
            await session.value("select 1")
    assert not connections.connection.terminated
    assert connections.released == 1


class NeverConnecting(DriverPool):
    """A pool that never connects in time."""

    def get_idle_size(self) -> int:
        return 0

    async def acquire(self, *, timeout: float | None) -> Connection:  # noqa: ASYNC109 - asyncpg's signature
        raise TimeoutError


@pytest.mark.parametrize(("seconds", "error"), [(0.1, DeadlineError), (1, StoreUnavailableError)])
async def test_a_connect_timeout_is_a_deadline_error_if_the_caller_left_too_little_time(
    seconds: float, error: type[BraidError]
) -> None:
    deadline = asyncio.get_running_loop().time() + seconds
    call = CallContext("r", "/m", "s", "u", frozenset(), deadline)
    with call_scope(call), pytest.raises(error):
        async with pool_over(NeverConnecting(Connection(LOST))).session():
            pass


class SlowRelease(DriverPool):
    """A pool that releases a connection only once `allowed` is set, and then finds the server gone."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.reached = asyncio.Event()
        self.allowed = asyncio.Event()

    async def release(self, connection: Connection, *, timeout: float) -> None:  # noqa: ASYNC109 - asyncpg's signature
        await asyncio.shield(self._release())  # as the driver does

    async def _release(self) -> None:
        self.reached.set()
        await self.allowed.wait()
        raise ConnectionResetError


class HangingRelease(DriverPool):
    """A pool of a database that hangs: the rollback of a released connection does not end."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.answers, self.rolled_back = asyncio.Event(), asyncio.Event()

    async def release(self, connection: Connection, *, timeout: float) -> None:  # noqa: ASYNC109 - asyncpg's signature
        await self.answers.wait()
        self.rolled_back.set()


async def test_a_caller_does_not_wait_for_the_rollback_of_a_database_that_hangs() -> None:
    connections = HangingRelease(Connection(TimeoutError()))
    with pytest.raises(DeadlineError):
        async with asyncio.timeout(5), pool_over(connections).session() as session:
            await session.value("select 1")
    connections.answers.set()
    async with asyncio.timeout(5):
        await connections.rolled_back.wait()


async def test_a_caller_cancelled_during_a_release_leaves_no_unhandled_error() -> None:
    unhandled: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, about: unhandled.append(about))
    connections = SlowRelease(Connection(LOST))
    call = asyncio.create_task(fail_within(pool_over(connections)))
    await connections.reached.wait()
    call.cancel()
    await asyncio.wait([call])
    connections.allowed.set()
    await connections.connection.discarded.wait()
    gc.collect()
    assert (call.cancelled(), unhandled) == (True, [])


async def fail_within(pool: Pool) -> None:
    async with pool.session():
        raise LookupError


def test_pool_statistics_are_never_negative() -> None:
    stats = pool_over(DriverPool(Connection(LOST))).stats()
    assert (stats.used, stats.idle) == (0, 1)
