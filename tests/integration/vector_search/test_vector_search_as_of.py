"""Vector searches as of a time find all valid chunks, in either index, where too many pass for an exact comparison."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import asyncpg
import numpy as np
import pytest

from services.runtime.ids import chunk_id, content_sha256
from services.vector_search.domain import (
    Model,
    NewChunk,
    NewDocument,
    QueryVector,
    Search,
    VectorPath,
)
from services.vector_search.postgres_store import PostgresStore
from tests.stores import TestDatabase

SPACE = "past"
MODEL = Model("noise", 16)
# Fewer than an index scan always visits, so its results are exact.
DOCUMENTS = 80
PRECISION = 0.002
# More than 20 chunks are not compared one by one.
CAP = "create or replace function exact_cap() returns integer language sql immutable as 'select 20'"
# As if ten years had passed without a write.
YEARS_LATER = """
update document_version set valid_from = valid_from - interval '10 years',
  valid_until = case valid_until when 'infinity' then valid_until else valid_until - interval '10 years' end;
update space_stats set next_change = next_change - interval '10 years' where next_change < 'infinity'"""
FILTERED = (
    "select * from nearest_hnsw_filtered(1::smallint, $1, $2::text::halfvec, 10, $3, null, null)"
)
SCANS = """
select pg_get_expr(i.indpred, i.indrelid) as of, sum(s.idx_scan)::integer as scans
from pg_stat_user_indexes s join pg_index i using (indexrelid)
where s.relname ~ '^embedding_1_p' and i.indpred is not null group by 1"""
NOW = datetime.now(UTC).year
LONG_AGO, BETWEEN, RECENTLY, SOON = (
    datetime(NOW + years, 1, 1, tzinfo=UTC) for years in (-30, -8, -1, 5)
)
FILTERS: tuple[dict[str, bool], ...] = ({}, {"most": True}, {"some": True})


def version(number: int, valid: datetime) -> NewDocument:
    """A version of a document; all versions of a document with an even number share one chunk and vector."""
    year = valid.year if number % 2 else 0
    text = f"{number} {year}"
    noise = np.random.default_rng([number, year]).normal(size=MODEL.dimension)
    vector = (noise / np.linalg.norm(noise)).astype(np.float32)
    key = chunk_id(SPACE, f"d{number}", content_sha256(text), 0)
    return NewDocument(
        path="document",
        document_id=f"d{number}",
        title="",
        source="",
        content_hash=content_sha256(f"{number} {valid.isoformat()}"),
        metadata={"most": number % 5 > 0, "some": number % 3 == 0},
        valid_time=valid,
        chunks=(NewChunk(key, text, 0, len(text), vector),),
    )


@pytest.fixture
async def vector_database(own_vector_database: TestDatabase) -> TestDatabase:
    """A database of its own: these tests change a stored function."""
    return own_vector_database


@pytest.fixture
async def owner(vector_database: TestDatabase) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(vector_database.dsn("braid_migrator"))
    try:
        await connection.execute(CAP)
        yield connection
    finally:
        await connection.close()


async def scans(owner: asyncpg.Connection) -> dict[str, int]:
    """Returns how often each of the two kinds of vector index was scanned, by the index's predicate."""
    await owner.execute("select pg_stat_force_next_flush()")
    return {row["of"]: row["scans"] for row in await owner.fetch(SCANS)}


class SpaceUnderTest:
    """A space whose searches are compared with an exact calculation over the written documents."""

    def __init__(self, store: PostgresStore, indexed: float = 1.0) -> None:
        """`indexed` is the share of written vectors that is indexed; the rest stays queued."""
        self._store = store
        self._indexed = indexed
        self.years_passed = 0
        self._written: list[NewDocument] = []

    async def write(self, documents: list[NewDocument]) -> None:
        """Adds versions."""
        await self._store.upsert(SPACE, MODEL, documents)
        waiting = await self._store.unindexed_count(SPACE, len(documents))
        await self._store.index_vectors(SPACE, round(waiting * self._indexed))
        self._written += documents

    async def assert_nearest_are_found(self, at: datetime | None) -> set[VectorPath]:
        """Asserts that searches return the nearest chunks valid at that time. Returns the vector paths used."""
        paths = set()
        for metadata in FILTERS:
            for seed in range(4):
                query = np.random.default_rng(seed).normal(size=MODEL.dimension).astype(np.float32)
                vector = QueryVector(MODEL.name, query / np.linalg.norm(query))
                search = Search(vector=vector, as_of=at, metadata=metadata, use_cache=False)
                found = await self._store.search(SPACE, search)
                scores = self._scores(vector, at, metadata)
                # Vectors are stored in half precision: neighbors that are about equally near may swap places.
                nearest = sorted(scores.values(), reverse=True)[:10]
                cosines = [hit.scores.vector for hit in found.hits]
                assert cosines == pytest.approx(nearest, abs=PRECISION)
                assert {hit.chunk.id for hit in found.hits} <= scores.keys()
                paths.add(found.path)
        return paths

    def _scores(
        self, query: QueryVector, at: datetime | None, metadata: dict[str, bool]
    ) -> dict[str, float]:
        moment = at or datetime.now(UTC)
        latest: dict[str, NewDocument] = {}
        for one in sorted(self._written, key=self._begins):
            if self._begins(one) <= moment:
                latest[one.document_id] = one
        chunks = [
            one.chunks[0] for one in latest.values() if metadata.items() <= one.metadata.items()
        ]
        return {
            chunk.id: float(chunk.vector @ query.values)
            for chunk in chunks
            if chunk.vector is not None and (chunk.valid_time or moment) <= moment
        }

    def _begins(self, one: NewDocument) -> datetime:
        assert one.valid_time is not None
        return one.valid_time.replace(year=one.valid_time.year - self.years_passed)


@pytest.mark.parametrize("indexed", [1.0, 0.75, 0.0])
@pytest.mark.parametrize("changed", [DOCUMENTS // 40, DOCUMENTS // 2, DOCUMENTS])
async def test_chunks_valid_at_a_past_time_are_found_however_many_of_them_are_still_valid(
    store: PostgresStore, owner: asyncpg.Connection, changed: int, indexed: float
) -> None:
    space = SpaceUnderTest(store, indexed)
    await space.write([version(n, LONG_AGO) for n in range(DOCUMENTS)])
    await space.write([version(n, RECENTLY) for n in range(changed)])
    await space.write([version(n, SOON) for n in range(DOCUMENTS - changed, DOCUMENTS)])
    for at in (LONG_AGO, RECENTLY, None, SOON):
        paths = await space.assert_nearest_are_found(at)
        assert VectorPath.HNSW in paths or not indexed
    await owner.execute(YEARS_LATER)
    space.years_passed = 10
    for at in (LONG_AGO, BETWEEN, RECENTLY, None):
        await space.assert_nearest_are_found(at)


async def test_an_index_without_a_matching_chunk_is_not_scanned(
    store: PostgresStore, owner: asyncpg.Connection
) -> None:
    space = SpaceUnderTest(store)
    await space.write([version(n, LONG_AGO) for n in range(DOCUMENTS)])
    await space.write([version(n, RECENTLY) for n in range(DOCUMENTS // 2)])
    query = str([1.0] * MODEL.dimension)
    for at, expected in ((BETWEEN, {"current", "(NOT current)"}), (datetime.now(UTC), {"current"})):
        before = await scans(owner)
        assert await owner.fetch(FILTERED, SPACE, query, at)
        after = await scans(owner)
        assert {index for index in after if after[index] > before[index]} == expected


def dated(number: int) -> NewDocument:
    """A document of long ago; the chunk of a document with an odd number became valid only recently."""
    one = version(number, LONG_AGO)
    own = RECENTLY if number % 2 else LONG_AGO
    return replace(one, chunks=(replace(one.chunks[0], valid_time=own),))


@pytest.mark.parametrize("indexed", [1.0, 0.5])
async def test_chunks_with_their_own_valid_time_are_found_from_that_time_on(
    store: PostgresStore, owner: asyncpg.Connection, indexed: float
) -> None:
    assert await owner.fetchval("select exact_cap()") == 20
    space = SpaceUnderTest(store, indexed)
    await space.write([dated(number) for number in range(DOCUMENTS)])
    for at in (LONG_AGO, BETWEEN, RECENTLY, None):
        assert await space.assert_nearest_are_found(at)
