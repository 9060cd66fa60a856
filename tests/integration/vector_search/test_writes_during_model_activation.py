"""Writes are on hold while a new model's last vectors are filled in, so that no chunk lacks one at its activation."""

from __future__ import annotations

import asyncio

import asyncpg
import numpy as np
import pytest

from services.runtime.errors import OverloadedError, WrongStateError
from services.vector_search.domain import ChunkVector, Model
from services.vector_search.postgres_store import PostgresStore
from services.vector_search.store import SpaceModelError
from tests.store_suite.vector.builders import MODEL, SPACE
from tests.store_suite.vector.builders import document as stored
from tests.stores import TestDatabase

NEWER = Model("newer", 2)
CHUNKS_WITHOUT_VECTOR = """
select count(*) from chunk c where c.space = $1 and not exists (
  select from (select * from embedding_2 union all select * from embedding_2_unindexed) e
  where e.space = c.space and e.chunk_id = c.id)"""


async def catch_up(store: PostgresStore) -> None:
    """Fills in a vector of the new model for every chunk without one."""
    one = np.array([1.0, 0.0], dtype=np.float32)
    while chunks := await store.unembedded_chunks(SPACE, NEWER.name, None, 50):
        vectors = [ChunkVector(chunk.chunk_id, chunk.text_sha256, one) for chunk in chunks]
        await store.fill_embeddings(SPACE, NEWER.name, vectors)


async def keep_writing(store: PostgresStore, number: int, done: asyncio.Event) -> int:
    """Writes documents one by one with the space's current model until `done` is set. Returns how many were written."""
    written = 0
    while not done.is_set():
        model = await store.space_model(SPACE) or MODEL
        at = [(1.0, 0.0, 0.0)] if model == MODEL else [(1.0, 0.0)]
        new = stored(f"w{number}-{written}", f"text {written}", at=at)  # type: ignore[arg-type]
        try:
            await store.upsert(SPACE, model, [new])
            written += 1
        except (OverloadedError, SpaceModelError):  # writes are on hold, or the model has changed
            await asyncio.sleep(0.01)
    return written


async def test_writes_on_hold_are_refused_with_a_retry_time_and_nothing_is_written(
    store: PostgresStore,
) -> None:
    await store.upsert(SPACE, MODEL, [stored("d", "text")])
    await store.hold_writes(SPACE, 30)
    with pytest.raises(OverloadedError) as refused:
        await store.upsert(SPACE, MODEL, [stored("e", "text")])
    assert 0 < (refused.value.retry_after or 0) <= 30
    assert (await store.stats(SPACE)).documents == 1
    unchanged = await store.upsert(SPACE, MODEL, [stored("d", "text")])
    assert unchanged.outcomes[0].unchanged
    await store.upsert("other", MODEL, [stored("e", "text", space="other")])
    await store.hold_writes(SPACE, 0)
    await store.upsert(SPACE, MODEL, [stored("e", "text")])


async def test_activating_a_model_ends_the_hold_on_writes(store: PostgresStore) -> None:
    await store.upsert(SPACE, MODEL, [stored("d", "text")])
    await store.add_model(SPACE, NEWER)
    await store.hold_writes(SPACE, 30)
    await catch_up(store)
    await store.activate_model(SPACE, NEWER.name)
    await store.upsert(SPACE, NEWER, [stored("e", "text", at=[(1.0, 0.0)])])  # type: ignore[list-item]


async def test_a_hold_lets_a_complete_model_be_activated_despite_continuous_writes(
    store: PostgresStore, vector_database: TestDatabase
) -> None:
    await store.upsert(SPACE, MODEL, [stored(f"d{i}", f"text {i}") for i in range(50)])
    await store.add_model(SPACE, NEWER)
    done = asyncio.Event()
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        writers = [group.create_task(keep_writing(store, n, done)) for n in range(3)]
        while (await store.stats(SPACE)).documents < 60:  # noqa: ASYNC110 - the store has no event for it
            await asyncio.sleep(0.01)
        with pytest.raises(WrongStateError):
            await store.activate_model(SPACE, NEWER.name)
        await store.hold_writes(SPACE, 20)
        await catch_up(store)
        await store.activate_model(SPACE, NEWER.name)
        connection = await asyncpg.connect(vector_database.dsn("braid_reader"))
        try:
            assert await connection.fetchval(CHUNKS_WITHOUT_VECTOR, SPACE) == 0
            done.set()
            assert all([await writer for writer in writers])
            assert await connection.fetchval(CHUNKS_WITHOUT_VECTOR, SPACE) == 0
        finally:
            done.set()
            await connection.close()
    assert await store.space_model(SPACE) == NEWER
