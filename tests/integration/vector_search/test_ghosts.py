"""Documents without a version, which programs of before left, are removed, and wrong counts of documents mended."""

from __future__ import annotations

import asyncio

import asyncpg
from pgvector.asyncpg import register_vector

from services.postgres.pool import Pool, PoolLimits
from services.vector_search.database import load_queries, load_schema
from services.vector_search.documents.transactions import DocumentWrite
from services.vector_search.domain import SpaceStats
from services.vector_search.postgres import PostgresStore
from tests.integration.vector_search.locks import superuser, until_waiting
from tests.store_suite.vector.builders import MODEL, document
from tests.stores import TestDatabase

GHOST = "insert into document (space, document_id, written_at) values ($1, 'ghost', now())"
MISCOUNT = "update space_stats set documents = documents - 1 where space = $1"


async def mend(database: TestDatabase, *before: tuple[str, str]) -> None:
    """Brings about what is wrong by statements, each with its space, and runs the migration once more."""
    [migration] = [one for one in load_schema().migrations if one.number == 20]
    # By this name `until_waiting` finds it.
    settings = {"application_name": "braid-vector-migrate"}
    connection = await asyncpg.connect(database.dsn("braid_migrator"), server_settings=settings)
    try:
        for statement, space in before:
            await connection.execute(statement, space)
        async with connection.transaction():
            await connection.execute(migration.text)
    finally:
        await connection.close()


async def stats_of(store: PostgresStore, *spaces: str) -> list[SpaceStats]:
    return [await store.stats(space) for space in spaces]


async def test_ghosts_are_removed_and_the_counts_that_they_spoilt_are_right_again(
    store: PostgresStore, vector_database: TestDatabase
) -> None:
    spaces = ("right", "haunted", "miscounted", "both")
    for space in spaces:
        await store.upsert(space, MODEL, [document(key, key, space=space) for key in ("a", "b")])
    await mend(
        vector_database,
        (GHOST, "haunted"),
        (MISCOUNT, "miscounted"),
        (GHOST, "both"),
        (MISCOUNT, "both"),
    )
    assert await stats_of(store, *spaces) == [
        SpaceStats(2, 2, MODEL, revision) for revision in (1, 1, 2, 2)
    ]
    for space in spaces:
        assert await store.find_documents(space, ["a", "b", "ghost"]) == ["a", "b"]


async def test_a_space_that_holds_nothing_counts_nothing(
    store: PostgresStore, vector_database: TestDatabase
) -> None:
    await store.upsert("emptied", MODEL, [document("a", "a", space="emptied")])
    await store.delete_document("emptied", "a")
    await mend(vector_database, (MISCOUNT, "emptied"))
    assert await store.stats("emptied") == SpaceStats(0, 0, None, 3)


async def test_a_ghost_that_is_being_written_again_is_a_document_then(
    store: PostgresStore, vector_database: TestDatabase
) -> None:
    await store.upsert("haunted", MODEL, [document("a", "a", space="haunted")])
    async with superuser(vector_database) as admin:
        await admin.execute(GHOST, "haunted")
        pool = await Pool.open(
            vector_database.dsn("braid_writer"),
            PoolLimits(),
            application="test",
            prepare=register_vector,
        )
        try:
            async with (
                asyncio.timeout(10),
                asyncio.TaskGroup() as group,
                pool.transaction() as session,
            ):
                new = document("ghost", "alive", space="haunted")
                await DocumentWrite(session, load_queries(), "haunted").run(MODEL, [new])
                group.create_task(mend(vector_database))
                await until_waiting(admin, 1)
        finally:
            await pool.close()
    assert await store.find_documents("haunted", ["a", "ghost"]) == ["a", "ghost"]
    assert (await store.stats("haunted")).documents == 2
