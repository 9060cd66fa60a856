"""A bounded pool of PostgreSQL connections: a short queue, deadlines on every query, translated driver errors."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
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
# A rollback takes milliseconds unless the database hangs.
_GIVE_BACK_SECONDS = 0.25
# After an error, a connection that is not ready in this time is replaced. The server forgets a cancellation that comes
# before its statement: that would run to its end, while calls that have a slot wait for the connection.
_RECOVERY_SECONDS = 1.0

Row = asyncpg.Record
Prepare = Callable[[Any], Coroutine[Any, Any, None]]

_GONE = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    # Too many connections, a full disk, or no memory: temporary, or resolved by an operator.
    asyncpg.InsufficientResourcesError,
    asyncpg.PostgresSystemError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.ReadOnlySQLTransactionError,
)


@dataclass(frozen=True, slots=True)
class PoolLimits(AdmissionLimits):
    """Limits on connections, on the calls that wait for one and for how long, and on the duration of a statement."""

    statement_seconds: float = 30.0


class Session:
    """A borrowed connection. Each statement is limited to the caller's remaining deadline, and canceled with it."""

    def __init__(
        self, connection: Any, statement_seconds: float, meter: StatementMeter | None = None
    ) -> None:
        self._connection = connection
        self._seconds = statement_seconds
        self._meter = meter or StatementMeter(STORE)

    async def fetch(self, sql: str, *args: object) -> list[Row]:
        """Returns all rows."""
        with self._meter.statement(name_of(sql)):
            rows: list[Row] = await self._connection.fetch(
                text_of(sql), *args, timeout=remaining(self._seconds)
            )
        return rows

    async def row(self, sql: str, *args: object) -> Row | None:
        """Returns the first row; None without rows."""
        with self._meter.statement(name_of(sql)):
            row: Row | None = await self._connection.fetchrow(
                text_of(sql), *args, timeout=remaining(self._seconds)
            )
        return row

    async def value(self, sql: str, *args: object) -> Any:
        """Returns the first column of the first row; None without rows."""
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

        Meant for long values: binding them to a statement would copy all into one buffer first and block the event
        loop.
        """
        with self._meter.statement("copy"):
            await self._connection.copy_to_table(
                table,
                source=parts,
                columns=columns,
                format="binary",
                timeout=remaining(self._seconds),
            )


@dataclass(eq=False, slots=True)
class _Unit:
    """An open transaction that all calls of a block share. One task at a time uses its connection."""

    pool: Pool
    session: Session
    connection: Any
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    user: asyncio.Task[Any] | None = None
    after_commit: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    @asynccontextmanager
    async def use(self) -> AsyncIterator[Session]:
        """Lends the connection to the running task, which may borrow it again within the block."""
        task = asyncio.current_task()
        if self.user is task:
            yield self.session
            return
        async with self.lock:
            self.user = task
            try:
                yield self.session
            finally:
                self.user = None


_unit: ContextVar[_Unit | None] = ContextVar("braid_unit", default=None)


class Pool:
    """A connection pool. `open` does not connect: the database may become available or unavailable at any time."""

    def __init__(self, pool: asyncpg.Pool, limits: PoolLimits, name: str = "") -> None:
        self.name = name
        self._pool = pool
        self._limits = limits
        self._meter = StatementMeter(STORE)
        self._slots = AdmissionQueue(limits)
        self._giving_back: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(
        cls, url: str, limits: PoolLimits, *, application: str, prepare: Prepare | None = None
    ) -> Pool:
        """Creates a pool for `url`, identified by `application` in the database and in metrics.

        Connections are opened when needed, and `prepare` runs first on each.
        """
        pool = await asyncpg.create_pool(
            url,
            min_size=0,
            max_size=limits.size,
            timeout=_CONNECT_SECONDS,
            init=prepare,
            # No code here changes a session beyond its transaction, so the reset's round trip is saved.
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
        """Returns the state of the pool and of the queue in front of it."""
        idle = self._pool.get_idle_size()
        # Called from another thread: the two values may be from different moments.
        used = max(0, self._pool.get_size() - idle)
        return PoolStats(self._limits.size, used, idle, self._slots.waiting)

    async def close(self) -> None:
        """Closes all connections, including those in use."""
        self._pool.terminate()
        await self._pool.close()

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Lends a connection for single statements."""
        if (unit := self._open_unit()) is not None:
            async with unit.use() as session:
                yield session
            return
        async with self._slots.slot(), self._connection() as connection:
            with translated_errors():
                yield Session(connection, self._limits.statement_seconds, self._meter)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Session]:
        """Lends a connection within a transaction, which is committed at the end and rolled back on any error."""
        if (unit := self._open_unit()) is not None:
            async with unit.use() as session, unit.connection.transaction():
                yield session
            return
        async with self._slots.slot(), self._connection() as connection:
            with translated_errors():
                async with _transaction(connection):
                    yield Session(connection, self._limits.statement_seconds, self._meter)

    @asynccontextmanager
    async def unit(self) -> AsyncIterator[None]:
        """Makes all sessions and transactions of the block parts of one transaction, committed at its end.

        What `after_commit` was given runs then. The block should be short: it holds a connection and its locks.
        """
        async with self._slots.slot(), self._connection() as connection:
            with translated_errors():
                async with _transaction(connection):
                    session = Session(connection, self._limits.statement_seconds, self._meter)
                    unit = _Unit(self, session, connection)
                    token = _unit.set(unit)
                    try:
                        yield
                    finally:
                        _unit.reset(token)
        for work in unit.after_commit:
            await work()

    async def after_commit(self, work: Callable[[], Awaitable[None]]) -> None:
        """Does work that needs no transaction: once the open unit is committed, or now without one."""
        unit = self._open_unit()
        if unit is None:
            await work()
        else:
            unit.after_commit.append(work)

    def _open_unit(self) -> _Unit | None:
        unit = _unit.get()
        return unit if unit is not None and unit.pool is self else None

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        # This call has a slot, so a wait here is for connecting: a timeout means that the database is unreachable. With
        # an idle connection there is no wait, and the task that a timeout creates is not needed.
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
            await self._give_back_soon(connection)
            raise
        await self._give_back(connection)

    async def _give_back_soon(self, connection: Any) -> None:
        """Gives back a connection that may need a rollback; of a database that hangs, without the caller waiting."""
        work = self._give_back(connection, _RECOVERY_SECONDS)
        giving = asyncio.create_task(work, name="give-back-connection")
        self._giving_back.add(giving)
        giving.add_done_callback(self._giving_back.discard)
        # A task of its own: if the caller is canceled meanwhile, no exception stays unretrieved.
        await asyncio.wait([giving], timeout=_GIVE_BACK_SECONDS)

    async def _give_back(self, connection: Any, seconds: float = _CONNECT_SECONDS) -> None:
        try:
            await self._pool.release(connection, timeout=seconds)
        except (TimeoutError, *_GONE, asyncpg.InterfaceError):
            # The driver has discarded the connection; the call's result is still valid.
            _discard(connection)


@asynccontextmanager
async def _transaction(connection: Any) -> AsyncIterator[None]:
    """Commits at the end. On any error the open transaction is rolled back when the connection is released.

    Unlike with the driver's own context manager, nothing interrupts the rollback: a caller's deadline ends a statement,
    and then the call.
    """
    transaction = connection.transaction()
    await transaction.__aenter__()
    yield
    await transaction.__aexit__(None, None, None)


def _lost(error: BaseException) -> bool:
    """Returns whether the connection is lost, or the driver has lost track of its state."""
    if not isinstance(error, StoreUnavailableError | asyncpg.InternalClientError):
        return False
    return not isinstance(error.__cause__, asyncpg.DeadlockDetectedError)


def _discard(connection: Any) -> None:
    with suppress(asyncpg.InterfaceError):  # The driver's pool has already reclaimed it.
        connection.terminate()


@contextmanager
def translated_errors() -> Iterator[None]:
    """Translates driver errors to the project's own; errors that are neither outage nor timeout pass unchanged."""
    try:
        yield
    except (TimeoutError, asyncpg.QueryCanceledError):
        raise DeadlineError from None
    except _GONE as error:
        raise StoreUnavailableError(STORE) from error
    except (asyncpg.DeadlockDetectedError, asyncpg.SerializationError) as error:
        # Nothing was changed, and a retry may succeed: to the caller it is like a brief outage. The second error comes
        # from a replica that canceled a statement to continue replaying.
        raise StoreUnavailableError(STORE) from error
    except asyncpg.InternalClientError as error:
        # The server died between the steps of a statement: the driver finds the connection in an unexpected state.
        if "cannot switch to state" in str(error):
            raise StoreUnavailableError(STORE) from error
        raise
    except asyncpg.InterfaceError as error:
        # Raised by the driver for a connection or pool that was closed during the call.
        if "clos" in str(error) or "acquire" in str(error):
            raise StoreUnavailableError(STORE) from error
        raise


async def _keep_session(_connection: object) -> None:
    return


def _note_handshake(error: Exception) -> None:
    """Records a connection that TLS did not allow; callers see an unavailable store, as for any other failure."""
    refused = "rejected SSL" in str(error)
    if refused or isinstance(error, ssl.SSLError):
        reason = "server without TLS" if refused else getattr(error, "reason", None) or "TLS error"
        SecurityEvents().record(events.TLS_HANDSHAKE_FAILED, reason=reason, peer=STORE)
