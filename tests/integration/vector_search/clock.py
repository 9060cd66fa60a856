"""Lets time pass in a test's database without waiting."""

from __future__ import annotations

import asyncpg

from tests.stores import TestDatabase


async def make_due(database: TestDatabase) -> None:
    """Moves current and future versions one day into the past, as if a day had passed."""
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
