"""Reads from a real streaming replica are never older than the caller's writes, and succeed without the replica."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import TypeVar

import asyncpg
import numpy as np
import psutil
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from deploy.local.stores import LocalStores
from services.postgres.pool import Session
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import StoreUnavailableError
from services.runtime.ids import chunk_id, content_sha256
from services.vector_search.database import load_queries
from services.vector_search.domain import Model, NewChunk, NewDocument, Search
from services.vector_search.postgres_store import PostgresStore
from services.vector_search.replicas.monitor import ReplicaMonitor
from services.vector_search.replicas.readers import Replica
from tests.conftest import LoopThread
from tests.standby import Standby
from tests.stores import TestDatabase, data_folder

COMPASS = Model("compass", 3)
CALL = CallContext(
    request_id="r1", method="/m", space="ours", user="ann", scopes=frozenset({"read"})
)
T = TypeVar("T")
NORTH = np.array([1, 0, 0], dtype=np.float32)


@pytest.fixture(scope="module")
def standby(stores: LocalStores, stores_loop: LoopThread) -> Iterator[Standby]:
    """A replica of the tests' PostgreSQL."""
    with data_folder("braid-standby-") as folder:
        replica = Standby(stores.postgres, folder)
        stores_loop.run(replica.start())
        yield replica
        stores_loop.run(replica.stop())


@pytest.fixture
async def store(vector_database: TestDatabase, standby: Standby) -> AsyncIterator[PostgresStore]:
    """The tier's store with a replica that has replayed all writes so far."""
    await caught_up(vector_database, standby)
    async with opened(vector_database, standby) as store:
        await monitor_of(store).check_all()
        assert replica_of(store).usable
        yield store


@asynccontextmanager
async def opened(database: TestDatabase, standby: Standby) -> AsyncIterator[PostgresStore]:
    store = await PostgresStore.open(
        read_url=database.dsn("braid_reader"),
        write_url=database.dsn("braid_writer"),
        replica_urls=[standby.dsn("braid_reader", database.name)],
    )
    try:
        yield store
    finally:
        await store.close()


def replica_of(store: PostgresStore) -> Replica:
    [replica] = store._readers.replicas
    return replica


def monitor_of(store: PostgresStore, max_lag: float = 10.0) -> ReplicaMonitor:
    return ReplicaMonitor(store._readers, store._probe, load_queries(), max_lag=max_lag)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Waits until a server has reached a state."""
    async with asyncio.timeout(30):
        while not await holds():  # noqa: ASYNC110 - waits for another process
            await asyncio.sleep(0.01)


async def caught_up(database: TestDatabase, standby: Standby) -> None:
    """Waits until the replica has replayed all that the primary has written."""
    admin = await asyncpg.connect(database.stores.postgres.admin_dsn)
    replica = await asyncpg.connect(standby.admin_dsn)
    try:
        # A commit may not be written yet: the tests' PostgreSQL commits asynchronously.
        written = await admin.fetchval("select pg_current_wal_insert_lsn()")
        await until(lambda: replica.fetchval("select pg_last_wal_replay_lsn() >= $1", written))
    finally:
        await admin.close()
        await replica.close()


@asynccontextmanager
async def paused(standby: Standby) -> AsyncIterator[None]:
    """Lets the replica receive the log without replaying it."""
    admin = await asyncpg.connect(standby.admin_dsn)
    try:
        await admin.execute("select pg_wal_replay_pause()")
        await until(
            lambda: admin.fetchval("select pg_get_wal_replay_pause_state() = 'paused'"),
        )
        yield
    finally:
        await admin.execute("select pg_wal_replay_resume()")
        await admin.close()


async def write(store: PostgresStore, word: str) -> None:
    """Writes a document of one word, which is also its id."""
    key = chunk_id("ours", word, content_sha256(word), 0)
    document = NewDocument(
        path="document",
        document_id=word,
        title="",
        source="",
        content_hash=content_sha256(word),
        metadata={},
        valid_time=None,
        chunks=(NewChunk(key, word, 0, len(word), NORTH),),
    )
    await store.upsert("ours", COMPASS, [document])


async def contents(store: PostgresStore, text: str) -> list[str]:
    found = await store.search("ours", Search(text=text, limit=5))
    return [hit.chunk.content for hit in found.hits]


async def read_by(store: PostgresStore) -> str:
    """Returns which server answers a read of the space."""

    async def where(session: Session) -> str:
        return "replica" if await session.value("select pg_is_in_recovery()") else "primary"

    return await store._readers.read("ours", where)


async def test_reads_go_to_the_replica(store: PostgresStore) -> None:
    assert await read_by(store) == "replica"


async def test_a_caller_reads_its_own_writes(
    store: PostgresStore, vector_database: TestDatabase, standby: Standby
) -> None:
    """Whether or not the replica has replayed them, and whichever process wrote them."""
    async with opened(vector_database, standby) as another:
        for turn in range(30):
            word = f"harbour{turn}"
            await write(another if turn % 2 else store, word)
            assert await contents(store, word) == [word]
            document, _ = await store.get_document("ours", word)
            assert document.document_id == word


async def test_a_lagging_replica_is_skipped_for_a_space_that_was_written_to(
    store: PostgresStore, vector_database: TestDatabase, standby: Standby
) -> None:
    async with paused(standby):
        await write(store, "harbour")
        assert await contents(store, "harbour") == ["harbour"]
        assert await read_by(store) == "primary"
    await caught_up(vector_database, standby)
    assert await contents(store, "harbour") == ["harbour"]
    assert await read_by(store) == "replica"


async def test_a_deleted_document_is_not_read_from_a_lagging_replica(
    store: PostgresStore, vector_database: TestDatabase, standby: Standby
) -> None:
    await write(store, "harbour")
    await caught_up(vector_database, standby)
    async with paused(standby):
        await store.delete_document("ours", "harbour")
        assert await contents(store, "harbour") == []


async def test_a_replica_beyond_the_maximum_lag_is_excluded_until_it_catches_up(
    store: PostgresStore, vector_database: TestDatabase, standby: Standby
) -> None:
    reader = InMemoryMetricReader()
    meter = MeterProvider([reader]).get_meter("test")
    monitor = ReplicaMonitor(
        store._readers, store._probe, load_queries(), max_lag=0.05, meter=meter
    )
    await monitor.check_all()
    async with paused(standby):
        await write(store, "harbour")
        await monitor.check_all()

        async def excluded() -> bool:
            await monitor.check_all()
            return not replica_of(store).usable

        await until(excluded)
        lag, usable = numbers(reader)
        assert lag > 0.05
        assert usable == 0
        assert await contents(store, "harbour") == ["harbour"]
    await caught_up(vector_database, standby)
    await monitor.check_all()
    assert replica_of(store).usable
    assert numbers(reader)[1] == 1
    assert await read_by(store) == "replica"


def numbers(reader: InMemoryMetricReader) -> tuple[float, float]:
    """Returns the exported lag and usability of the replica."""
    data = reader.get_metrics_data()
    assert data is not None
    found = {
        metric.name: metric.data.data_points[0].value  # type: ignore[union-attr]
        for metric in data.resource_metrics[0].scope_metrics[0].metrics
    }
    return found["braid.replica.lag"], found["braid.replica.usable"]


async def test_searches_continue_while_the_replica_is_stopped_and_use_it_after_its_restart(
    store: PostgresStore,
    vector_database: TestDatabase,
    standby: Standby,
    stores_loop: LoopThread,
) -> None:
    await write(store, "harbour")
    monitor = monitor_of(store)
    await in_loop(stores_loop, standby.stop)
    try:
        for _ in range(3):
            assert await contents(store, "harbour") == ["harbour"]
        assert not replica_of(store).usable
        await monitor.check_all()
        assert not replica_of(store).usable
    finally:
        await in_loop(stores_loop, standby.start)
    await caught_up(vector_database, standby)
    await monitor.check_all()
    assert replica_of(store).usable
    assert await contents(store, "harbour") == ["harbour"]
    assert await read_by(store) == "replica"


async def test_a_hung_replica_is_excluded_and_searches_are_still_answered_in_time(
    store: PostgresStore, vector_database: TestDatabase, standby: Standby
) -> None:
    """The replica accepts connections and statements and never answers: only the caller's deadline ends a call."""
    await write(store, "harbour")
    monitor = monitor_of(store)
    clock = asyncio.get_running_loop().time
    with stopped(standby):
        assert replica_of(store).usable
        for _ in range(2):
            assert await within(3.0, contents(store, "harbour")) == ["harbour"]
        patient = asyncio.create_task(contents(store, "harbour"))  # has no deadline
        began = clock()
        await monitor.check_all()
        assert clock() - began < 5.0
        assert not replica_of(store).usable
        assert await within(3.0, patient) == ["harbour"]
        assert await within(3.0, contents(store, "harbour")) == ["harbour"]
        assert await within(3.0, read_by(store)) == "primary"

    async def recovered() -> bool:
        await monitor.check_all()
        return replica_of(store).usable

    await until(recovered)
    await caught_up(vector_database, standby)
    assert await within(3.0, contents(store, "harbour")) == ["harbour"]
    assert await read_by(store) == "replica"


@contextmanager
def stopped(standby: Standby) -> Iterator[None]:
    """Suspends all processes of the replica; its connections stay open."""
    assert standby.pid is not None
    postmaster = psutil.Process(standby.pid)
    processes = [postmaster, *postmaster.children(recursive=True)]
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


async def within(seconds: float, work: Awaitable[T]) -> T:
    """Returns the result of a call with this deadline. Raises DeadlineError after it, as a caller sees it."""
    deadline = asyncio.get_running_loop().time() + seconds
    with call_scope(replace(CALL, deadline=deadline)):
        return await work


async def in_loop(loop: LoopThread, work: Callable[[], object]) -> None:
    await asyncio.to_thread(lambda: loop.run(work()))  # type: ignore[arg-type]


async def test_no_possibly_stale_read_is_answered_without_the_primary(
    store: PostgresStore, vector_database: TestDatabase, standby: Standby
) -> None:
    without_primary = await PostgresStore.open(
        read_url="postgresql://x@127.0.0.1:9/x",
        write_url="postgresql://x@127.0.0.1:9/x",
        replica_urls=[standby.dsn("braid_reader", vector_database.name)],
    )
    replica_of(without_primary).use(usable=True)
    with pytest.raises(StoreUnavailableError):
        await contents(without_primary, "harbour")
    assert replica_of(without_primary).usable
    await without_primary.close()
