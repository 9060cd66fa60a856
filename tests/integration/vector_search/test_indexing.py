"""Vectors of a large space are queued when written and indexed later, whatever happens to them in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import asyncpg
import numpy as np
import pytest

from services.runtime.ids import chunk_id, content_sha256
from services.vector_search.domain import (
    ChunkVector,
    Model,
    NewChunk,
    NewDocument,
    QueryVector,
    Search,
)
from services.vector_search.indexing.index_queue import IndexQueue
from services.vector_search.postgres_store import PostgresStore
from tests.integration.vector_search.locks import superuser, until_waiting
from tests.stores import TestDatabase

SPACE = "large"
MODEL = Model("noise", 8)
SECOND = Model("second", 8)
DOCUMENTS = 30
CAP = "create or replace function exact_cap() returns integer language sql immutable as 'select 20'"
FLAGS = """
select chunk_id::text, current from embedding_1 where space = $1
union all select chunk_id::text, current from embedding_1_unindexed where space = $1"""
HOLD_VECTOR = "select from embedding_2 where space = $1 and chunk_id = $2 for update"
HOLD = "select from document where space = $1 and document_id = $2 for update"


def document(number: int, text: str = "") -> NewDocument:
    """A document of one chunk; another text makes another version."""
    content = f"{number} {text}"
    vector = np.random.default_rng([number, len(text)]).normal(size=MODEL.dimension)
    unit = (vector / np.linalg.norm(vector)).astype(np.float32)
    key = chunk_id(SPACE, f"d{number}", content_sha256(content), 0)
    return NewDocument(
        path="document",
        document_id=f"d{number}",
        title="",
        source="",
        content_hash=content_sha256(content),
        metadata={},
        valid_time=None,
        chunks=(NewChunk(key, content, 0, len(content), unit),),
    )


@pytest.fixture
async def vector_database(own_vector_database: TestDatabase) -> TestDatabase:
    """A database of its own: these tests change a stored function."""
    return own_vector_database


@pytest.fixture
async def owner(vector_database: TestDatabase) -> AsyncIterator[asyncpg.Connection]:
    """A connection of the schema's owner. It makes spaces of more than 20 chunks large."""
    connection = await asyncpg.connect(vector_database.dsn("braid_migrator"))
    try:
        await connection.execute(CAP)
        yield connection
    finally:
        await connection.close()


@pytest.fixture
async def large(store: PostgresStore, owner: asyncpg.Connection) -> PostgresStore:
    """A store with a large space, none of whose vectors is indexed yet."""
    assert owner
    await store.upsert(SPACE, MODEL, [document(number) for number in range(DOCUMENTS)])
    return store


async def counts(store: PostgresStore, model: Model = MODEL) -> tuple[int, int]:
    """Returns how many vectors of a model the space has, and how many of them are queued."""
    found = await store.list_models(SPACE)
    [status] = [one for one in found.models if one.model == model]
    return status.embedded, status.unindexed


async def test_a_small_space_queues_no_vectors(store: PostgresStore) -> None:
    await store.upsert(SPACE, MODEL, [document(number) for number in range(DOCUMENTS)])
    assert await store.unindexed_count(SPACE, 100) == 0
    assert await store.spaces_to_index() == []
    assert await store.index_vectors(SPACE, 100) == 0
    assert await counts(store) == (DOCUMENTS, 0)


async def test_vectors_of_a_large_space_are_queued_and_then_indexed(large: PostgresStore) -> None:
    assert await large.spaces_to_index() == [SPACE]
    assert await large.unindexed_count(SPACE, 100) == DOCUMENTS
    assert await large.unindexed_count(SPACE, 7) == 7
    assert await large.index_vectors(SPACE, 12) == 12
    assert await counts(large) == (DOCUMENTS, DOCUMENTS - 12)
    assert await large.index_vectors(SPACE, 100) == DOCUMENTS - 12
    assert await counts(large) == (DOCUMENTS, 0)
    assert await large.spaces_to_index() == []


async def test_concurrent_indexers_index_different_vectors(large: PostgresStore) -> None:
    moved = await asyncio.gather(*(large.index_vectors(SPACE, 10) for _ in range(4)))
    left = await large.index_vectors(SPACE, 100)
    assert sum(moved) + left == DOCUMENTS
    assert await counts(large) == (DOCUMENTS, 0)


@pytest.mark.parametrize("as_of", [None, datetime(2100, 1, 1, tzinfo=UTC)])
async def test_searches_find_the_same_results_while_vectors_are_indexed(
    large: PostgresStore, as_of: datetime | None
) -> None:
    await large.upsert(SPACE, MODEL, [document(number) for number in range(DOCUMENTS, 100)])
    query = QueryVector(MODEL.name, np.full(8, 8**-0.5, dtype=np.float32))
    search = Search(vector=query, limit=10, as_of=as_of)

    async def found() -> list[str]:
        return [hit.chunk.document_id for hit in (await large.search(SPACE, search)).hits]

    async def move() -> None:
        while await large.index_vectors(SPACE, 1):
            assert await found() == nearest

    nearest = await found()
    assert len(nearest) == 10
    await asyncio.gather(*(move() for _ in range(4)))
    assert await large.unindexed_count(SPACE, 1) == 0
    assert await found() == nearest


async def test_vectors_of_a_document_that_is_being_written_are_indexed_later(
    large: PostgresStore, owner: asyncpg.Connection
) -> None:
    async with owner.transaction():
        await owner.execute(HOLD, SPACE, "d3")
        assert await large.index_vectors(SPACE, 100) == DOCUMENTS - 1
    assert await counts(large) == (DOCUMENTS, 1)
    assert await large.index_vectors(SPACE, 100) == 1


@pytest.mark.parametrize("indexed", [0, 15, DOCUMENTS])
async def test_vectors_of_former_versions_lose_the_current_flag_whether_queued_or_indexed(
    large: PostgresStore, owner: asyncpg.Connection, indexed: int
) -> None:
    await large.index_vectors(SPACE, indexed)
    changed = [document(number, "changed") for number in range(0, DOCUMENTS, 2)]
    await large.upsert(SPACE, MODEL, changed)
    flags = {row["chunk_id"]: row["current"] for row in await owner.fetch(FLAGS, SPACE)}
    former = {document(number).chunks[0].id for number in range(0, DOCUMENTS, 2)}
    assert {key for key, current in flags.items() if not current} == former
    assert len(flags) == DOCUMENTS + len(changed)


@pytest.mark.parametrize("indexed", [0, 15, DOCUMENTS])
async def test_a_deleted_document_leaves_no_vector(large: PostgresStore, indexed: int) -> None:
    await large.index_vectors(SPACE, indexed)
    for number in range(5):
        await large.delete_document(SPACE, f"d{number}")
    assert (await counts(large))[0] == DOCUMENTS - 5


async def test_vectors_of_a_second_model_are_filled_in_and_indexed(large: PostgresStore) -> None:
    await large.add_model(SPACE, SECOND)
    found = await large.unembedded_chunks(SPACE, SECOND.name, None, 100)
    north = np.eye(8, dtype=np.float32)[0]
    vectors = [ChunkVector(one.chunk_id, one.text_sha256, north) for one in found]
    for indexed in (10, 100):
        # The second time every chunk has a vector: those in the index are replaced there.
        assert await large.fill_embeddings(SPACE, SECOND.name, vectors) == DOCUMENTS
        assert (await counts(large, SECOND))[0] == DOCUMENTS
        assert await large.unembedded_chunks(SPACE, SECOND.name, None, 100) == []
        await large.index_vectors(SPACE, DOCUMENTS + indexed)
    assert await counts(large, SECOND) == (DOCUMENTS, 0)
    assert await large.remove_model(SPACE, SECOND.name) == DOCUMENTS


async def test_two_fills_of_the_same_chunks_in_opposite_orders_do_not_deadlock(
    large: PostgresStore, vector_database: TestDatabase
) -> None:
    await large.add_model(SPACE, SECOND)
    found = await large.unembedded_chunks(SPACE, SECOND.name, None, 100)
    north = np.eye(8, dtype=np.float32)[0]
    vectors = [ChunkVector(one.chunk_id, one.text_sha256, north) for one in found]
    await large.fill_embeddings(SPACE, SECOND.name, vectors)
    await large.index_vectors(SPACE, 2 * DOCUMENTS)
    async with (
        superuser(vector_database) as admin,
        asyncio.TaskGroup() as group,
        admin.transaction(),
    ):
        # Each locks the vectors before this one, and then waits for it.
        await admin.execute(HOLD_VECTOR, SPACE, vectors[DOCUMENTS // 2].chunk_id)
        fills = [
            group.create_task(large.fill_embeddings(SPACE, SECOND.name, given))
            for given in (vectors, vectors[::-1])
        ]
        await until_waiting(admin, len(fills))
    assert [fill.result() for fill in fills] == [DOCUMENTS, DOCUMENTS]


async def test_a_process_indexes_vectors_that_other_processes_queued(large: PostgresStore) -> None:
    await IndexQueue(large, idle_seconds=0).round()
    assert await counts(large) == (DOCUMENTS, 0)


async def test_written_vectors_stay_queued_until_a_turn_indexes_them(
    large: PostgresStore,
) -> None:
    indexing = IndexQueue(large, idle_seconds=0)
    await indexing.written(SPACE, DOCUMENTS)
    assert await counts(large) == (DOCUMENTS, DOCUMENTS)
    await indexing.turn()
    assert await counts(large) == (DOCUMENTS, 0)
