"""A full pool, a late query and a lost database raise different errors, and the tier recovers by itself."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from services.postgres.pool import Pool, PoolLimits
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import DeadlineError, OverloadedError, StoreUnavailableError
from services.runtime.pool_metrics import PoolStats
from services.vector_search.postgres_store import PostgresStore
from tests.store_suite.vector.builders import MODEL, SPACE, document, words
from tests.stores import TestDatabase, open_vector_store


@pytest.fixture
async def vector_database(own_vector_database: TestDatabase) -> TestDatabase:
    """A database of its own: these tests change the database."""
    return own_vector_database


async def test_calls_beyond_the_queue_are_refused_at_once_and_queued_calls_after_a_timeout(
    vector_database: TestDatabase,
) -> None:
    limits = PoolLimits(size=1, queue_size=1, queue_seconds=0.2)
    pool = await Pool.open(vector_database.dsn("braid_reader"), limits, application="test")
    assert pool.stats() == PoolStats(max=1, used=0, idle=0, waiting=0)
    async with pool.session() as busy:
        assert await busy.value("select 1") == 1
        waiting = asyncio.create_task(_one(pool))
        await asyncio.sleep(0)
        assert pool.stats() == PoolStats(max=1, used=1, idle=0, waiting=1)
        with pytest.raises(OverloadedError) as refused:
            await _one(pool)
        assert refused.value.retry_after is not None
        with pytest.raises(OverloadedError):
            await waiting
    assert await _one(pool) == 1
    assert pool.stats() == PoolStats(max=1, used=0, idle=1, waiting=0)
    await pool.close()


async def test_the_health_probe_does_not_wait_behind_callers(vector_database: TestDatabase) -> None:
    limits = PoolLimits(size=1, queue_size=0)
    async with open_vector_store(vector_database, limits) as store:
        async with store.pools[0].session() as busy:
            assert await busy.value("select 1") == 1
            await store.ping()
            with pytest.raises(OverloadedError):
                await store.search(SPACE, words("copper"))
        assert (await store.search(SPACE, words("copper"))).hits == []


async def test_a_query_ends_at_its_callers_deadline_and_frees_its_connection(
    vector_database: TestDatabase,
) -> None:
    limits = PoolLimits(size=1)
    pool = await Pool.open(vector_database.dsn("braid_reader"), limits, application="test")
    loop = asyncio.get_running_loop()
    call = CallContext("r", "m", SPACE, "u", frozenset(), deadline=loop.time() + 0.2)
    started = loop.time()
    with call_scope(call), pytest.raises(DeadlineError):
        async with pool.session() as session:
            await session.value("select pg_sleep(20)")
    assert loop.time() - started < 5
    assert await _one(pool) == 1
    await pool.close()


async def test_a_call_canceled_within_a_transaction_leaves_its_connection_unchanged(
    vector_database: TestDatabase,
) -> None:
    """Even if it is canceled again during the rollback. Nothing is logged."""
    unhandled: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, about: unhandled.append(about))
    dsn = vector_database.dsn("braid_reader")
    pool = await Pool.open(dsn, PoolLimits(size=1), application="test")
    reached = asyncio.Event()
    call = asyncio.create_task(_change_and_wait(pool, reached))
    await reached.wait()
    for _ in range(3):
        call.cancel()
        await asyncio.sleep(0)
    await asyncio.wait([call])
    assert call.cancelled()
    async with pool.session() as session:
        assert await session.value("show application_name") == "test"
    assert unhandled == []
    await pool.close()


async def test_a_cancellation_that_the_server_forgets_does_not_keep_the_connection_from_others(
    vector_database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does if the cancellation arrives before the statement. The driver waits for the statement's end."""

    def forget(_connection: asyncpg.Connection, waiter: asyncio.Future[None]) -> None:
        waiter.set_result(None)

    pool = await Pool.open(
        vector_database.dsn("braid_reader"), PoolLimits(size=1), application="test"
    )
    monkeypatch.setattr(asyncpg.Connection, "_cancel_current_command", forget)
    reached = asyncio.Event()
    call = asyncio.create_task(_change_and_wait(pool, reached))
    await reached.wait()
    call.cancel()
    await asyncio.wait([call])
    # Well before another call would take the database for unreachable, which is after 5 seconds.
    async with asyncio.timeout(4), pool.session() as session:
        assert await session.value("show application_name") == "test"
    await pool.close()


async def _change_and_wait(pool: Pool, reached: asyncio.Event) -> None:
    async with pool.transaction() as session:
        await session.execute("set application_name = 'left behind'")
        reached.set()
        await session.execute("select pg_sleep(20)")


async def test_a_lost_database_is_unavailable_and_usable_again_without_a_restart(
    store: PostgresStore, vector_database: TestDatabase
) -> None:
    await store.upsert(SPACE, MODEL, [document("d", "copper")])
    admin = await asyncpg.connect(vector_database.stores.postgres.admin_dsn)
    name = vector_database.name
    try:
        await admin.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", name
        )
        await admin.execute(f"alter database {name} rename to {name}_away")
        for call in (
            store.search(SPACE, words("copper")),
            store.upsert(SPACE, MODEL, [document("e", "zinc")]),
            store.ping(),
        ):
            with pytest.raises(StoreUnavailableError):
                await call
        await admin.execute(f"alter database {name}_away rename to {name}")
    finally:
        await admin.close()
    assert len((await store.search(SPACE, words("copper"))).hits) == 1


async def test_the_reader_cannot_write_and_the_writer_cannot_change_the_schema(
    vector_database: TestDatabase,
) -> None:
    forbidden = [
        ("braid_reader", "delete from chunk"),
        ("braid_reader", "select register_model('x', 3, 's')"),
        ("braid_writer", "drop table chunk"),
        ("braid_writer", "create table mine (x integer)"),
        ("braid_writer", "update schema_migration set checksum = ''"),
        ("braid_writer", "insert into model (name, dimension) values ('x', 3)"),
    ]
    for role, statement in forbidden:
        connection = await asyncpg.connect(vector_database.dsn(role))
        try:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)
        finally:
            await connection.close()


async def _one(pool: Pool) -> object:
    async with pool.session() as session:
        return await session.value("select 1")
