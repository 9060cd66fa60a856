"""Waits until statements of the tier wait for a lock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from tests.stores import TestDatabase


@asynccontextmanager
async def superuser(database: TestDatabase) -> AsyncIterator[asyncpg.Connection]:
    """Yields a connection that sees what the tier's statements wait for."""
    connection = await asyncpg.connect(database.stores.postgres.admin_dsn, database=database.name)
    try:
        yield connection
    finally:
        await connection.close()


async def waiting(admin: asyncpg.Connection) -> int:
    """Returns how many of the tier's statements wait for a lock."""
    # Otherwise a transaction keeps the activity that it read first.
    await admin.execute("select pg_stat_clear_snapshot()")
    found: int = await admin.fetchval(
        "select count(*) from pg_stat_activity where datname = current_database()"
        " and wait_event_type = 'Lock' and application_name like 'braid-vector%'"
    )
    return found


async def until_waiting(admin: asyncpg.Connection, count: int) -> None:
    async with asyncio.timeout(5):
        while await waiting(admin) != count:  # noqa: ASYNC110 - the database has no event for it
            await asyncio.sleep(0.01)
