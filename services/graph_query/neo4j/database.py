"""The Neo4j driver behind named queries: a short queue, deadlines on every call, and translation of driver errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import neo4j
from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncResult, AsyncTransaction, Query
from neo4j.exceptions import ClientError, DriverError, Neo4jError, TransientError
from pydantic import SecretStr

from services.graph_query.neo4j.warm_up import PendingPlans
from services.runtime.admission import AdmissionLimits, AdmissionQueue
from services.runtime.context import remaining
from services.runtime.errors import BraidError, DeadlineError, StoreUnavailableError
from services.runtime.pool_metrics import PoolStats
from services.runtime.queries import Queries
from services.runtime.security.certificates import Certificates, ReloadingContext
from services.runtime.statement_metrics import StatementMeter

T = TypeVar("T")


Rows = list[dict[str, Any]]


READ_LIMIT = 30.0


# Callers have shorter deadlines of their own, except jobs on a slow machine.
WRITE_LIMIT = 960.0


_STORE = "neo4j"


_LIMITS = AdmissionLimits()


_POPULATING = (
    "51N63",
    "IndexNotFound",
    "POPULATING",
    "populating",
    "no such fulltext schema index",
    "no such vector schema index",
)


_TIMED_OUT = ("TransactionTimedOut", "LockClientStopped", "Terminated")


# The start of a query that is not in the server's default language.
_VERSIONED = "\nCYPHER 25"


# Another transaction has deleted what a query was about to read: it finds the graph as it is when it runs again.
_DELETED_MEANWHILE = "EntityNotFound"


_READ_ATTEMPTS = 3


_WRITE_ATTEMPTS = 3


def open_driver(
    uri: str,
    user: str,
    password: SecretStr,
    connections: int = _LIMITS.size,
    *,
    certificates: Certificates | None = None,
) -> AsyncDriver:
    """Creates a driver that fails at once when the server is lost; it does not connect yet.

    With `certificates` it uses TLS and follows them, whatever scheme the address has. Raises CertificateError if they
    cannot be used.
    """
    tls: dict[str, Any] = {}
    if certificates is not None:
        # The driver accepts an SSL context only with addresses whose scheme does not mention TLS.
        uri = uri.replace("+ssc://", "://", 1).replace("+s://", "://", 1)
        tls["ssl_context"] = ReloadingContext(certificates, server=False)
    return AsyncGraphDatabase.driver(
        uri,
        **tls,
        auth=(user, password.get_secret_value()),
        max_connection_pool_size=connections,
        connection_timeout=2.0,
        # `Database` admits a call only when a connection is free, so this is the time to open one.
        connection_acquisition_timeout=5.0,
        max_transaction_retry_time=0.0,
        keep_alive=True,
        notifications_min_severity="OFF",
        telemetry_disabled=True,
    )


class Transaction:
    """An open transaction that runs named queries."""

    def __init__(
        self, transaction: AsyncTransaction, queries: Mapping[str, str], meter: StatementMeter
    ) -> None:
        self._transaction = transaction
        self._queries = queries
        self._meter = meter

    async def run(self, name: str, **parameters: Any) -> Rows:
        """Returns all rows of a named query."""
        text = self._queries[name]
        with self._meter.statement(name):
            return await _rows(await self._transaction.run(text, _single_parameter(parameters)))


class Database:
    """Runs named queries and transactions; raises only Braid's own errors.

    Raises OverloadedError if too many calls wait for a connection, or one has waited too long.
    """

    name = "braid-graph"

    def __init__(
        self, driver: AsyncDriver, queries: Queries, limits: AdmissionLimits = _LIMITS
    ) -> None:
        """The driver must have as many connections as `limits` allow."""
        self._driver = driver
        self._limits = limits
        self._slots = AdmissionQueue(limits)
        self._answered = float("-inf")
        self._meter = StatementMeter(_STORE)
        self.pending_plans = PendingPlans()
        self._queries = {name: _with_fixed_plan(queries[name]) for name in queries.names()}

    def stats(self) -> PoolStats:
        """Returns the state of the pool and of the queue in front of it."""
        return PoolStats(self._limits.size, self._slots.active, None, self._slots.waiting)

    def answered_since(self, when: float) -> bool:
        """Returns whether Neo4j has answered a query since `when`, on the event loop's clock."""
        return self._answered >= when

    async def read(self, name: str, **parameters: Any) -> Rows:
        """Returns all rows of a read-only named query, in one round trip; waits for its plan while that is pending."""
        if name in self.pending_plans:
            async with _braid_errors(READ_LIMIT):
                await self.pending_plans.wait(name)
        async with self._slots.slot(), _braid_errors(READ_LIMIT) as limit:
            query = Query(self._queries[name], timeout=limit)
            for attempt in range(1, _READ_ATTEMPTS + 1):
                try:
                    with self._meter.statement(name):
                        return await self._read_once(query, _single_parameter(parameters))
                except (DriverError, Neo4jError) as error:
                    again = _is_lost_connection(error) or _is_deleted_meanwhile(error)
                    if attempt == _READ_ATTEMPTS or not again:
                        raise
        raise AssertionError("unreachable")

    async def write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Runs `work` in one transaction, which is repeated if another one stood in its way."""
        async with self._slots.slot(), _braid_errors(WRITE_LIMIT) as limit:
            for attempt in range(1, _WRITE_ATTEMPTS + 1):
                try:
                    return await self._write_once(work, limit)
                except Neo4jError as error:
                    again = "Deadlock" in str(error.code) or _is_deleted_meanwhile(error)
                    if attempt == _WRITE_ATTEMPTS or not again:
                        raise
        raise AssertionError("unreachable")

    async def connect(self) -> None:
        """Raises a BraidError while Neo4j takes no connections; nothing has to be planned for it."""
        async with self._slots.slot(), _braid_errors(READ_LIMIT):
            await self._driver.verify_connectivity()

    async def probe(self) -> None:
        """Raises a BraidError unless Neo4j begins a transaction, for which nothing has to be planned."""
        async with self._rolled_back():
            self._answered = asyncio.get_running_loop().time()

    async def warm_up(self, name: str, **parameters: Any) -> None:
        """Runs a named query and rolls it back, so that Neo4j caches its plan."""
        async with self._rolled_back() as transaction:
            await Transaction(transaction, self._queries, self._meter).run(name, **parameters)

    async def run_text(self, text: str, **parameters: Any) -> Rows:
        """Runs one statement that is not a named query, such as the schema's."""
        async with (
            self._slots.slot(),
            _braid_errors(WRITE_LIMIT),
            self._driver.session() as session,
        ):
            return await _rows(await session.run(text, parameters))

    async def close(self) -> None:
        """Closes all connections."""
        await self._driver.close()

    @asynccontextmanager
    async def _rolled_back(self) -> AsyncIterator[AsyncTransaction]:
        """Begins a transaction, and rolls it back at the end."""
        async with (
            self._slots.slot(),
            _braid_errors(READ_LIMIT) as limit,
            self._driver.session() as session,
            await session.begin_transaction(timeout=limit) as transaction,
        ):
            yield transaction
            await transaction.rollback()

    async def _write_once(self, work: Callable[[Transaction], Awaitable[T]], limit: float) -> T:
        async with (
            self._driver.session() as session,
            await session.begin_transaction(timeout=limit) as transaction,
        ):
            result = await work(Transaction(transaction, self._queries, self._meter))
            await transaction.commit()
        self._answered = asyncio.get_running_loop().time()
        return result

    async def _read_once(self, query: Query, parameters: dict[str, Any]) -> Rows:
        async with self._driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
            rows = await _rows(await session.run(query, parameters))
        self._answered = asyncio.get_running_loop().time()
        return rows


async def _rows(result: AsyncResult) -> Rows:
    """Returns all rows. Queries return values, not nodes, so the driver's slower conversion `data` is not needed."""
    keys = result.keys()
    return [dict(zip(keys, record.values(), strict=True)) async for record in result]


def _with_fixed_plan(text: str) -> str:
    """Returns a named query with a plan that is never replaced; the query must begin with a comment.

    Otherwise Neo4j would replan the query when the graph has grown, and a caller would wait 0.3 s. These queries state
    their indexes, so the first plan is right at any size.
    """
    if _VERSIONED in text:
        return text.replace(_VERSIONED, f"{_VERSIONED} replan=skip", 1)
    said, _, query = text.partition("\n")
    return f"{said}\nCYPHER replan=skip\n{query}"


def _single_parameter(parameters: dict[str, Any]) -> dict[str, Any]:
    """Wraps parameters in one map, `$p`.

    Neo4j makes a new plan for every type, length class and number of elements of its parameters, but does not inspect
    maps.
    """
    return {"p": parameters}


@asynccontextmanager
async def _braid_errors(limit: float) -> AsyncIterator[float]:
    seconds = remaining(limit)
    try:
        async with asyncio.timeout(seconds):
            yield seconds
    except BraidError:
        raise
    except TimeoutError:
        raise DeadlineError from None
    except (DriverError, Neo4jError) as error:
        raise _as_braid(error) from error


def _is_lost_connection(error: Exception) -> bool:
    """Returns whether a pooled connection was dead: another attempt opens a new one."""
    return isinstance(error, neo4j.exceptions.ServiceUnavailable | neo4j.exceptions.SessionExpired)


def _is_deleted_meanwhile(error: Exception) -> bool:
    return isinstance(error, Neo4jError) and _DELETED_MEANWHILE in str(error.code)


def _as_braid(error: DriverError | Neo4jError) -> BraidError:
    text = f"{getattr(error, 'code', '')} {getattr(error, 'gql_status', '')} {error}"
    if any(mark in text for mark in _POPULATING):
        return StoreUnavailableError(_STORE, 5.0, message="neo4j is still building an index.")
    if any(mark in text for mark in _TIMED_OUT):
        return DeadlineError()
    if _is_deleted_meanwhile(error):
        return StoreUnavailableError(_STORE)
    if isinstance(error, ClientError) and not isinstance(error, TransientError):
        if "Security" not in (error.code or ""):
            raise error
        return StoreUnavailableError(_STORE, 5.0)
    return StoreUnavailableError(_STORE)
