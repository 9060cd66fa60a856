"""Every writer locks rows in the same order, whatever the database's collation, so that none deadlock."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine

import asyncpg
import numpy as np
import pytest
from pgvector.asyncpg import register_vector

from services.postgres.pool import Pool, PoolLimits
from services.runtime.errors import NotFoundError
from services.vector_search.database import load_queries
from services.vector_search.documents.transactions import DocumentDeletion, DocumentWrite
from services.vector_search.domain import ChunkVector, Model
from services.vector_search.postgres_store import PostgresStore
from tests.integration.vector_search.locks import superuser, until_waiting
from tests.store_suite.vector.builders import MODEL, SPACE, document
from tests.stores import TestDatabase

HOLD = "select from document where space = $1 and document_id = $2 for update"
HOLD_NOW = HOLD + " nowait"
DEFINITION = "select pg_get_functiondef($1::regproc)"
CHANGE_MODELS = "select pg_advisory_xact_lock(space_lock($1))"
EXPIRE_DELETION = """
update deletion set deleted_at = now() - interval '31 days' where space = $1 and deletion_id = $2"""
FIRST, NEXT, LAST = (str(uuid.UUID(int=number)) for number in range(3))
SECOND = Model("second", 3)
# In byte order, which differs from dictionary order.
KEYS = ["B", "a", "b", "é"]


async def vectors_of(store: PostgresStore) -> list[ChunkVector]:
    """Returns vectors of the second model for the chunks without one, last chunk first."""
    north = np.array([1.0, 0.0, 0.0], dtype=np.float32)
    found = await store.unembedded_chunks(SPACE, SECOND.name, None, 100)
    return [ChunkVector(one.chunk_id, one.text_sha256, north) for one in reversed(found)]


async def write(store: PostgresStore) -> None:
    changed = [
        document(key, f"{key} changed", path=f"documents[{i}]")
        for i, key in enumerate(reversed(KEYS))
    ]
    await store.upsert(SPACE, MODEL, changed)


async def fill(store: PostgresStore) -> None:
    await store.fill_embeddings(SPACE, SECOND.name, await vectors_of(store))


@pytest.fixture
async def filled(store: PostgresStore) -> PostgresStore:
    """A store with documents whose chunks have no vector of a second model yet."""
    await store.upsert(SPACE, MODEL, [document(key, f"text {key}") for key in KEYS])
    await store.add_model(SPACE, SECOND)
    return store


@pytest.mark.parametrize("change", [write, fill])
async def test_documents_are_locked_in_order_of_id_whatever_the_order_of_the_input(
    filled: PostgresStore,
    vector_database: TestDatabase,
    change: Callable[[PostgresStore], Coroutine[None, None, None]],
) -> None:
    async with (
        superuser(vector_database) as admin,
        asyncio.timeout(10),
        asyncio.TaskGroup() as group,
        admin.transaction(),
    ):
        await admin.execute(HOLD, SPACE, KEYS[0])
        group.create_task(change(filled))
        await until_waiting(admin, 1)
        for key in KEYS[1:]:
            await admin.execute(HOLD_NOW, SPACE, key)  # raises if the change has locked it


async def test_rows_are_locked_in_byte_order_whatever_the_collation_of_the_database(
    vector_database: TestDatabase,
) -> None:
    # The tests' PostgreSQL has no other collation to try, so the plan and the functions' text are checked.
    connection = await asyncpg.connect(vector_database.dsn("braid_writer"))
    try:
        plan = await connection.fetch(
            "explain (verbose) " + load_queries()["lock_documents"], SPACE, KEYS
        )
        assert 'Sort Key: u.document_id COLLATE "C"' in "\n".join(row[0] for row in plan)
        for function, key in (("count_terms", "d.lexeme"), ("fill_embeddings", "d.document_id")):
            assert f'order by {key} collate "C"' in await connection.fetchval(DEFINITION, function)
    finally:
        await connection.close()


async def test_a_document_rewritten_while_its_vectors_wait_for_its_lock_gets_none_of_them(
    filled: PostgresStore, vector_database: TestDatabase
) -> None:
    given = await vectors_of(filled)
    queries = load_queries()
    pool = await Pool.open(
        vector_database.dsn("braid_writer"),
        PoolLimits(),
        application="test",
        prepare=register_vector,
    )
    try:
        async with (
            superuser(vector_database) as admin,
            asyncio.timeout(10),
            asyncio.TaskGroup() as group,
            pool.transaction() as session,
        ):
            await DocumentDeletion(session, queries, SPACE).run("a", None)
            await DocumentWrite(session, queries, SPACE).run(MODEL, [document("a", "text a")])
            filling = group.create_task(filled.fill_embeddings(SPACE, SECOND.name, given))
            await until_waiting(admin, 1)
    finally:
        await pool.close()
    assert filling.result() == len(KEYS) - 1
    assert await filled.fill_embeddings(SPACE, SECOND.name, await vectors_of(filled)) == 1


async def test_a_deletion_waits_for_a_model_change_without_locking_documents(
    filled: PostgresStore, vector_database: TestDatabase
) -> None:
    async with (
        superuser(vector_database) as admin,
        asyncio.timeout(10),
        asyncio.TaskGroup() as group,
        admin.transaction(),
    ):
        await admin.execute(CHANGE_MODELS, SPACE)
        deletion = group.create_task(filled.delete_document(SPACE, "a"))
        await until_waiting(admin, 1)
        for key in KEYS:
            await admin.execute(HOLD_NOW, SPACE, key)  # raises if the deletion has locked it
    assert deletion.result().versions == 1


async def test_deletions_purge_expired_deletion_records_without_waiting_for_each_other(
    filled: PostgresStore, vector_database: TestDatabase
) -> None:
    await filled.delete_document(SPACE, "a", FIRST)
    async with superuser(vector_database) as admin:
        await admin.execute(EXPIRE_DELETION, SPACE, FIRST)
        async with asyncio.timeout(10), admin.transaction():
            await admin.execute(EXPIRE_DELETION, SPACE, FIRST)
            await filled.delete_document(SPACE, "b", NEXT)
        assert (await filled.delete_document(SPACE, "a", FIRST)).versions == 1
        await filled.delete_document(SPACE, "B", LAST)
        with pytest.raises(NotFoundError):
            await filled.delete_document(SPACE, "a", FIRST)
