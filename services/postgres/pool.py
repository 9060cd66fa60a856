"""A bounded pool of PostgreSQL connections: a short queue in front, deadlines on every query, errors translated."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import asyncpg

from services.runtime.admission import AdmissionLimits, AdmissionQueue
from services.runtime.context import is_short_timeout, remaining
from services.runtime.errors import DeadlineError, StoreUnavailableError
from services.runtime.pool_metrics import PoolStats
from services.runtime.queries import name_of, text_of
from services.runtime.security import events
from services.runtime.security.events import SecurityEvents
from services.runtime.statement_metrics import StatementMeter

STORE = "postgresql"
_CONNECT_SECONDS = 5.0

Row = asyncpg.Record
Prepare = Callable[[Any], Coroutine[Any, Any, None]]

_GONE = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    # Too many connections, a full disk, no memory: it passes, or somebody frees some.
    asyncpg.InsufficientResourcesError,
    asyncpg.PostgresSystemError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.ReadOnlySQLTransactionError,
)


@dataclass(frozen=True, slots=True)
class PoolLimits(AdmissionLimits):
    """How many connections, how many calls may wait for one and how long, how long a statement may run."""

    statement_seconds: float = 30.0


class Session:
    """A borrowed connection. Each statement is bound to the caller's remaining deadline, and cancelled with it."""

    def __init__(
        self, connection: Any, statement_seconds: float, meter: StatementMeter | None = None
    ) -> None:
        self._connection = connection
        self._seconds = statement_seconds
        self._meter = meter or StatementMeter(STORE)

    async def fetch(self, sql: str, *args: object) -> list[Row]:
        """All rows."""
        with self._meter.statement(name_of(sql)):
            rows: list[Row] = await self._connection.fetch(
                text_of(sql), *args, timeout=remaining(self._seconds)
            )
        return rows

    async def row(self, sql: str, *args: object) -> Row | None:
        """The first row, if any."""
        with self._meter.statement(name_of(sql)):
            row: Row | None = await self._connection.fetchrow(
                text_of(sql), *args, timeout=remaining(self._seconds)
            )
        return row

    async def value(self, sql: str, *args: object) -> Any:
        """The first column of the first row; None without rows."""
        with self._meter.statement(name_of(sql)):
            return await self._connection.fetchval(
                text_of(sql), *args, timeout=remaining(self._seconds)
            )

    async def execute(self, sql: str, *args: object) -> None:
        """Runs a statement for its effect."""
        with self._meter.statement(name_of(sql)):
            await self._connection.execute(text_of(sql), *args, timeout=remaining(self._seconds))

    async def copy(
        self, table: str, columns: Sequence[str], parts: AsyncIterator[bytes | memoryview]
    ) -> None:
        """Adds rows given in PostgreSQL's binary format for COPY, in parts of any length.

        For long values: what is bound to a statement is put into one buffer first, for which everything else waits.
        """
        with self._meter.statement("copy"):
            await self._connection.copy_to_table(
                table,
                source=parts,
                columns=columns,
                format="binary",
                timeout=remaining(self._seconds),
            )


class Pool:
    """Opened by `open`, which does not connect: the database may come up, go away and come back at any time."""

    def __init__(self, pool: asyncpg.Pool, limits: PoolLimits, name: str = "") -> None:
        self.name = name
        self._pool = pool
        self._limits = limits
        self._meter = StatementMeter(STORE)
        self._slots = AdmissionQueue(limits)

    @classmethod
    async def open(
        cls, url: str, limits: PoolLimits, *, application: str, prepare: Prepare | None = None
    ) -> Pool:
        """A pool for `url`, named by its `application` in the database and in measures.

        Connections are made when they are needed, and each is given to `prepare` first.
        """
        pool = await asyncpg.create_pool(
            url,
            min_size=0,
            max_size=limits.size,
            timeout=_CONNECT_SECONDS,
            init=prepare,
            # Nothing here changes a session beyond its transaction, so the reset's round trip is saved.
            reset=_keep_session,
            server_settings={
                "application_name": application,
                "statement_timeout": str(int(limits.statement_seconds * 1000)),
                "idle_in_transaction_session_timeout": "60000",
                "jit": "off",
            },
        )
        return cls(pool, limits, application)

    def stats(self) -> PoolStats:
        """How full the pool and the queue in front of it are."""
        idle = self._pool.get_idle_size()
        # Read from another thread, the two may be of different moments.
        used = max(0, self._pool.get_size() - idle)
        return PoolStats(self._limits.size, used, idle, self._slots.waiting)

    async def close(self) -> None:
        """Closes all connections, those in use as well."""
        self._pool.terminate()
        await self._pool.close()

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """A connection for single statements."""
        async with self._slots.slot(), self._connection() as connection:
            with translated_errors():
                yield Session(connection, self._limits.statement_seconds, self._meter)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Session]:
        """A connection within a transaction: committed at the end, rolled back on any error."""
        async with self._slots.slot(), self._connection() as connection:
            with translated_errors():
                async with _transaction(connection):
                    yield Session(connection, self._limits.statement_seconds, self._meter)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        # This call has a slot, so waiting here is connecting: a timeout means that the database is unreachable.
        # With an idle connection there is no waiting, and no need for the task that a timeout makes.
        limit = None if self._pool.get_idle_size() else remaining(_CONNECT_SECONDS)
        try:
            connection = await self._pool.acquire(timeout=limit)
        except TimeoutError as error:
            if is_short_timeout(limit):
                raise DeadlineError from None
            raise StoreUnavailableError(STORE) from error
        except _GONE as error:
            _note_handshake(error)
            raise StoreUnavailableError(STORE) from error
        try:
            yield connection
        except BaseException as error:
            if _lost(error):
                _discard(connection)
            # A task, as there may be something to roll back: a caller who goes meanwhile leaves no exception behind.
            await asyncio.shield(asyncio.create_task(self._give_back(connection)))
            raise
        await self._give_back(connection)

    async def _give_back(self, connection: Any) -> None:
        try:
            await self._pool.release(connection, timeout=_CONNECT_SECONDS)
        except (TimeoutError, *_GONE, asyncpg.InterfaceError):
            # The driver has thrown the connection away; what the call found out stands.
            _discard(connection)


@asynccontextmanager
async def _transaction(connection: Any) -> AsyncIterator[None]:
    """Commits at the end. What is left open by any error is rolled back when the connection is given back.

    Nothing interrupts that, as it would the driver's own: a caller's deadline ends a statement, and then the call.
    """
    transaction = connection.transaction()
    await transaction.__aenter__()
    yield
    await transaction.__aexit__(None, None, None)


def _lost(error: BaseException) -> bool:
    """Whether the connection is gone, or the driver has lost count of it."""
    if not isinstance(error, StoreUnavailableError | asyncpg.InternalClientError):
        return False
    return not isinstance(error.__cause__, asyncpg.DeadlockDetectedError)


def _discard(connection: Any) -> None:
    with suppress(asyncpg.InterfaceError):  # the driver's pool has taken it back already
        connection.terminate()


@contextmanager
def translated_errors() -> Iterator[None]:
    """Driver errors become the project's own; what is neither an outage nor a timeout passes as it is."""
    try:
        yield
    except (TimeoutError, asyncpg.QueryCanceledError):
        raise DeadlineError from None
    except _GONE as error:
        raise StoreUnavailableError(STORE) from error
    except (asyncpg.DeadlockDetectedError, asyncpg.SerializationError) as error:
        # Nothing was done, and may be tried again: the same to a caller as a server that is away for a moment. The
        # second is a replica's, which ended a statement to go on replaying.
        raise StoreUnavailableError(STORE) from error
    except asyncpg.InternalClientError as error:
        # A server that dies between the steps of a statement: the driver finds the connection in no state to go on.
        if "cannot switch to state" in str(error):
            raise StoreUnavailableError(STORE) from error
        raise
    except asyncpg.InterfaceError as error:
        # The driver's word for a connection or pool that closed under the call.
        if "clos" in str(error) or "acquire" in str(error):
            raise StoreUnavailableError(STORE) from error
        raise


async def _keep_session(_connection: object) -> None:
    return


def _note_handshake(error: Exception) -> None:
    """Records a connection that TLS did not allow: callers see a store that is away, like any other."""
    refused = "rejected SSL" in str(error)
    if refused or isinstance(error, ssl.SSLError):
        reason = "server without TLS" if refused else getattr(error, "reason", None) or "TLS error"
        SecurityEvents().record(events.TLS_HANDSHAKE_FAILED, reason=reason, peer=STORE)
