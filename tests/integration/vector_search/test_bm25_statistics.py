"""BM25 statistics are exact after concurrent writes, and no writer deadlocks."""

from __future__ import annotations

import asyncio
import random

import asyncpg
import pytest

from services.vector_search.domain import NewDocument
from services.vector_search.postgres_store import PostgresStore
from tests.store_suite.vector.builders import MODEL, SPACE, document, words
from tests.stores import TestDatabase

WORDS = [f"word{i}" for i in range(40)]

KEPT = """
select lexeme, df, postings from term where space = $1 order by lexeme"""
COUNTED = """
select u.lexeme, count(*) filter (where c.current) as df, count(*) as postings
from chunk c cross join lateral unnest(c.tsv) u where c.space = $1
group by u.lexeme order by u.lexeme"""
TOTALS = """
select s.n = count(*) filter (where c.current) and s.chunks = count(*)
   and s.total = coalesce(sum(c.length) filter (where c.current), 0)
   and s.documents = (select count(*) from document d where d.space = s.space)
from space_stats s left join chunk c on c.space = s.space
where s.space = $1 group by s.space"""
STALE_FLAGS = """
with vectors as (select * from embedding_1 union all select * from embedding_1_unindexed)
select count(*) from chunk c join posting p on p.space = c.space and p.chunk_id = c.id
join vectors e on e.space = c.space and e.chunk_id = c.id
where c.space = $1 and (p.current <> c.current or e.current <> c.current)"""

WRONG_POSTINGS = """
select count(*) from (
  select p.chunk_id, p.lexeme, p.tf::integer, p.length, p.current from posting p where p.space = $1) p
full join (
  select c.id, u.lexeme, cardinality(u.positions) as tf, c.length, c.current
  from chunk c cross join lateral unnest(c.tsv) u where c.space = $1) c
  on (c.id, c.lexeme, c.tf, c.length, c.current) = (p.chunk_id, p.lexeme, p.tf, p.length, p.current)
where p.chunk_id is null or c.id is null"""
WRONG_TITLES = """
select count(*) from chunk c where c.space = $1 and (
  c.tsv <> to_tsvector('english', c.title || E'\n' || c.content) or c.title <> (
    select v.title from version_chunk vc join document_version v
      on v.space = vc.space and v.document_id = vc.document_id and v.version = vc.version
    where vc.space = c.space and vc.chunk_id = c.id order by v.valid_from desc limit 1))"""
UNEMBEDDED = """
with vectors as (select * from embedding_1 union all select * from embedding_1_unindexed)
select count(*) from chunk c where c.space = $1 and (
  select count(*) from vectors e where e.space = c.space and e.chunk_id = c.id) <> 1"""
CAP = "create or replace function exact_cap() returns integer language sql immutable as 'select 5'"


def text(dice: random.Random) -> str:
    return " ".join(dice.choices(WORDS, k=12))


@pytest.fixture
async def vector_database(own_vector_database: TestDatabase) -> TestDatabase:
    """A database of its own: these tests change a stored function."""
    return own_vector_database


async def writer(store: PostgresStore, seed: int) -> None:
    """Writes, rewrites and deletes documents that other writers also change."""
    dice = random.Random(seed)  # noqa: S311
    for _ in range(12):
        keys = dice.sample(range(20), k=4)
        batch: list[NewDocument] = [
            document(
                f"d{key}",
                text(dice),
                f"{dice.choice(WORDS)} again",
                title=dice.choice(WORDS),
                path=f"documents[{i}]",
            )
            for i, key in enumerate(keys)
        ]
        await store.upsert(SPACE, MODEL, batch)
        if dice.random() < 0.4:
            await asyncio.gather(
                store.delete_document(SPACE, f"d{dice.randrange(20)}"), return_exceptions=True
            )


async def indexer(store: PostgresStore, stop: asyncio.Event) -> int:
    """Indexes queued vectors until stopped. Returns how many it indexed."""
    moved = 0
    while not stop.is_set():
        moved += await store.index_vectors(SPACE, 3)
    return moved


async def test_statistics_and_vectors_equal_a_recount_after_concurrent_writers(
    store: PostgresStore, vector_database: TestDatabase
) -> None:
    owner = await asyncpg.connect(vector_database.dsn("braid_migrator"))
    await owner.execute(CAP)
    await owner.close()
    stop = asyncio.Event()
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        indexing = [group.create_task(indexer(store, stop)) for _ in range(2)]
        await asyncio.gather(*(group.create_task(writer(store, seed)) for seed in range(8)))
        stop.set()
    assert sum(task.result() for task in indexing)
    connection = await asyncpg.connect(vector_database.dsn("braid_reader"))
    try:
        counted = await connection.fetch(COUNTED, SPACE)
        kept = await connection.fetch(KEPT, SPACE)
        assert [tuple(row) for row in kept if row["postings"]] == [tuple(row) for row in counted]
        assert all(row["df"] == 0 for row in kept if not row["postings"])
        assert await connection.fetchval(TOTALS, SPACE)
        for wrong in (STALE_FLAGS, WRONG_POSTINGS, WRONG_TITLES, UNEMBEDDED):
            assert await connection.fetchval(wrong, SPACE) == 0, wrong
    finally:
        await connection.close()


async def test_concurrent_writers_of_one_document_are_serialized(store: PostgresStore) -> None:
    new = [document("d", f"text number {i}") for i in range(10)]
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        for version in new:
            group.create_task(store.upsert(SPACE, MODEL, [version]))
    found, _ = await store.get_document(SPACE, "d")
    assert found.version == 10
    assert len((await store.search(SPACE, words("text number"))).hits) == 1
    assert (await store.stats(SPACE)).revision == 10


async def test_concurrent_identical_writes_create_one_version(store: PostgresStore) -> None:
    same = document("d", "text")
    async with asyncio.timeout(60):
        results = await asyncio.gather(*(store.upsert(SPACE, MODEL, [same]) for _ in range(6)))
    assert sorted(result.outcomes[0].unchanged for result in results) == [False] + [True] * 5
    assert (await store.stats(SPACE)).revision == 1
