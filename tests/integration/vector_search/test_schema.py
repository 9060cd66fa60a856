"""The schema of a real database is installed once; changed functions are reinstalled, changed migrations refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import asyncpg
import pytest

from services.postgres.migrations import MigrationError, Schema, SqlFile, migrate
from services.vector_search.database import load_schema
from tests.stores import TestDatabase

OWNER = "braid_migrator"
LOCK = 1


@pytest.fixture
async def vector_database(own_vector_database: TestDatabase) -> TestDatabase:
    """A database of its own: these tests change the schema."""
    return own_vector_database


@pytest.fixture
async def owner(vector_database: TestDatabase) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(vector_database.dsn(OWNER))
    yield connection
    await connection.close()


async def installed(connection: Any) -> object:
    rows = await connection.fetch("select name, checksum, installed_at from schema_function_file")
    return {row["name"]: tuple(row) for row in rows}


async def test_functions_are_reinstalled_only_when_a_file_changes(
    vector_database: TestDatabase, owner: Any
) -> None:
    url, schema = vector_database.dsn(OWNER), load_schema()
    before = await installed(owner)
    await migrate(url, schema, lock=LOCK)
    assert await installed(owner) == before
    changed = SqlFile(
        "vector.sql",
        "create or replace function exact_cap() returns integer language sql immutable as 'select 7'",
    )
    others = [file for file in schema.functions if file.name != changed.name]
    await migrate(url, replace(schema, functions=[*others, changed]), lock=LOCK)
    assert await owner.fetchval("select exact_cap()") == 7
    assert await installed(owner) != before


async def test_a_function_file_that_fails_leaves_all_functions_unchanged(
    vector_database: TestDatabase, owner: Any
) -> None:
    before = await installed(owner)
    broken = [
        SqlFile("a.sql", "create function made() returns integer language sql as 'select 1'"),
        SqlFile("b.sql", "no sql"),
    ]
    schema = Schema(load_schema().migrations, broken)
    with pytest.raises(asyncpg.PostgresSyntaxError):
        await migrate(vector_database.dsn(OWNER), schema, lock=LOCK)
    assert await installed(owner) == before
    assert await owner.fetchval("select to_regproc('made')") is None


async def test_an_edited_migration_is_refused(vector_database: TestDatabase, owner: Any) -> None:
    schema = load_schema()
    [baseline, *later] = schema.migrations
    edited = [replace(baseline, text=baseline.text + "\n-- edited"), *later]
    with pytest.raises(MigrationError, match=r"0001_baseline\.sql has changed"):
        await migrate(vector_database.dsn(OWNER), replace(schema, migrations=edited), lock=LOCK)


async def test_a_database_from_before_the_baseline_is_refused_with_instructions(
    vector_database: TestDatabase, owner: Any
) -> None:
    await owner.execute("update schema_migration set name = '0001_pre_schema.sql' where number = 1")
    with pytest.raises(MigrationError, match=r"delete its data folder .* ingest your documents"):
        await migrate(vector_database.dsn(OWNER), load_schema(), lock=LOCK)
