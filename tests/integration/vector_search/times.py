"""Time that goes by in a test's database at once."""

from __future__ import annotations

import asyncpg

from tests.stores import TestDatabase


async def make_due(database: TestDatabase) -> None:
    """Lets a day pass for the versions stored: everything moves into the past by it."""
    connection = await asyncpg.connect(database.dsn("braid_writer"))
    try:
        await connection.execute(
            "update document_version set valid_from = valid_from - interval '1 day', "
            "valid_until = valid_until - interval '1 day' where valid_until = 'infinity' or pending"
            " or valid_until > now()"
        )
        await connection.execute(
            "update space_stats set next_change = next_change - interval '1 day'"
        )
    finally:
        await connection.close()
