"""Chunks with other characters than ASCII's that were stored by programs of before get the words of today."""

from __future__ import annotations

import asyncpg
import pytest

from services.vector_search.database import load_schema
from services.vector_search.domain import TextMatch
from services.vector_search.postgres import PostgresStore
from tests.integration.vector_search.test_statistics import (
    COUNTED,
    KEPT,
    TOTALS,
    WRONG_POSTINGS,
)
from tests.store_suite.vector.builders import MODEL, SPACE, document, words
from tests.stores import TestDatabase

NUMBER = 24
# Words as they were before: with their accents, and a run without spaces as one.
BEFORE = """
update chunk set tsv = to_tsvector('english', title || E'\\n' || content);
update chunk c set length = (select coalesce(sum(cardinality(w.positions)), 0) from unnest(c.tsv) w);
delete from posting;
insert into posting (space, lexeme, chunk_id, tf, length, current)
  select c.space, w.lexeme, c.id, cardinality(w.positions), c.length, c.current
  from chunk c cross join lateral unnest(c.tsv) w;
delete from term;
insert into term (space, lexeme, df, postings)
  select space, lexeme, count(*) filter (where current), count(*) from posting group by 1, 2;
update space_stats s set total = (
  select coalesce(sum(c.length), 0) from chunk c where c.space = s.space and c.current)"""


async def respell(database: TestDatabase) -> None:
    [migration] = [one for one in load_schema().migrations if one.number == NUMBER]
    connection = await asyncpg.connect(database.dsn("braid_migrator"))
    try:
        async with connection.transaction():
            await connection.execute(migration.text)
    finally:
        await connection.close()


async def found(store: PostgresStore, query: str, match: TextMatch = TextMatch.ANY) -> list[str]:
    result = await store.search(SPACE, words(query, match=match))
    return sorted(hit.chunk.document_id for hit in result.hits)


async def test_chunks_of_before_are_found_regardless_of_accents_and_within_sentences(
    store: PostgresStore, vector_database: TestDatabase
) -> None:
    texts = {"a": "the caf\u00e9", "b": "the cafe", "c": "\u65e5\u672c\u306e\u8239", "d": "plain"}
    await store.upsert(SPACE, MODEL, [document(key, text) for key, text in texts.items()])
    await store.upsert(SPACE, MODEL, [document("a", "the caf\u00e9 lamp")])
    expected = await found(store, "cafe"), await found(store, "\u65e5\u672c")
    async with store.pools[1].transaction() as session:
        await session.execute(BEFORE)
    revision = (await store.stats(SPACE)).revision
    await respell(vector_database)
    assert (
        (await found(store, "cafe"), await found(store, "\u65e5\u672c"))
        == expected
        == (["a", "b"], ["c"])
    )
    assert await found(store, "the caf\u00e9 lamp", TextMatch.PHRASE) == ["a"]
    assert (await store.stats(SPACE)).revision == revision + 1
    connection = await asyncpg.connect(vector_database.dsn("braid_reader"))
    try:
        counted = await connection.fetch(COUNTED, SPACE)
        kept = await connection.fetch(KEPT, SPACE)
        assert [tuple(row) for row in kept if row["postings"]] == [tuple(row) for row in counted]
        assert await connection.fetchval(TOTALS, SPACE)
        assert await connection.fetchval(WRONG_POSTINGS, SPACE) == 0
    finally:
        await connection.close()


@pytest.mark.parametrize("times", [1, 2])
async def test_what_has_todays_words_stays_as_it_is(
    store: PostgresStore, vector_database: TestDatabase, times: int
) -> None:
    await store.upsert(
        SPACE, MODEL, [document("a", "caf\u00e9 \u2014 th\u00e9"), document("b", "plain")]
    )
    before = await store.stats(SPACE)
    for _ in range(times):
        await respell(vector_database)
    assert await store.stats(SPACE) == before
