"""Large spaces are searched through the index, small spaces and selective filters exactly, with high recall."""

from __future__ import annotations

import random
from dataclasses import replace

import asyncpg
import numpy as np
import pytest

from services.runtime.ids import chunk_id, content_sha256
from services.vector_search.domain import (
    FusionKind,
    Model,
    NewChunk,
    NewDocument,
    QueryVector,
    Search,
    TextMatch,
    VectorPath,
)
from services.vector_search.postgres_store import PostgresStore
from tests.oracles.vector.bm25 import ranked
from tests.stores import TestDatabase

SPACE = "large"
SIZE = 4_600
CHUNKS_A_DOCUMENT = 50
MODEL = Model("noise", 16)
EXHAUSTIVE = """
with s as (select n, total::float8 / n as avgdl from space_stats where space = $1)
select p.chunk_id::text as id,
       sum(ln(1 + (s.n - t.df + .5) / (t.df + .5)) * p.tf * 2.5
           / (p.tf + 1.5 * (.25 + .75 * p.length / s.avgdl))) as score
from unnest(to_tsvector('english', $2)) u
join term t on t.space = $1 and t.lexeme = u.lexeme
join posting p on p.space = $1 and p.lexeme = u.lexeme and p.current, s
group by p.chunk_id order by score desc, p.chunk_id limit 10"""


def corpus() -> list[NewDocument]:
    """Random vectors, and texts whose word frequencies are as uneven as in a natural language."""
    noise = np.random.default_rng(7)
    dice = random.Random(7)  # noqa: S311
    vectors = noise.normal(size=(SIZE, MODEL.dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vocabulary = [f"term{i}" for i in range(800)]
    weights = [1 / (i + 1) for i in range(800)]
    chunks = []
    for i in range(SIZE):
        text = " ".join(dice.choices(vocabulary, weights, k=dice.randrange(5, 25)))
        owner = f"d{i // CHUNKS_A_DOCUMENT}"
        key = chunk_id(SPACE, owner, content_sha256(text), i)
        chunks.append(NewChunk(key, text, 0, len(text), vectors[i]))
    return [
        NewDocument(
            path="document",
            document_id=f"d{i}",
            title="",
            source="",
            content_hash=content_sha256(str(i)),
            metadata={"even": i % 2 == 0, "most": i >= 5},
            valid_time=None,
            chunks=tuple(chunks[i * CHUNKS_A_DOCUMENT : (i + 1) * CHUNKS_A_DOCUMENT]),
        )
        for i in range(SIZE // CHUNKS_A_DOCUMENT)
    ]


def recall(found: list[str], documents: list[NewDocument], query: np.ndarray) -> float:
    """Returns the share of the exact ten nearest chunks that were found."""
    scores = {
        chunk.id: float(chunk.vector @ query)
        for document in documents
        for chunk in document.chunks
        if chunk.vector is not None
    }
    return len(set(found) & set(ranked(scores, 10))) / 10


@pytest.fixture
async def documents(store: PostgresStore) -> list[NewDocument]:
    made = corpus()
    await store.upsert(SPACE, MODEL, made)
    await store.upsert("small", MODEL, made[:1])
    return made


async def test_the_vector_path_depends_on_the_number_of_candidates_and_recall_stays_high(
    store: PostgresStore, documents: list[NewDocument], vector_database: TestDatabase
) -> None:
    queries = np.random.default_rng(8).normal(size=(10, MODEL.dimension)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    even = [d for d in documents if d.metadata["even"]]
    # Queued vectors are found as well, whether all or some vectors of the space are queued.
    for indexed, plain in (
        (0, VectorPath.EXACT),
        (4_100, VectorPath.HNSW),
        (SIZE, VectorPath.HNSW),
    ):
        await store.index_vectors(SPACE, indexed)
        cases = [
            (SPACE, {}, plain, documents, 0.95),
            (SPACE, {"metadata": {"even": True}}, VectorPath.EXACT, even, 1.0),
            (SPACE, {"document_ids": ("d3",)}, VectorPath.EXACT, documents[3:4], 1.0),
            ("small", {}, VectorPath.EXACT, documents[:1], 1.0),
        ]
        for space, given, path, among, least in cases:
            shares = []
            for query in queries:
                search = Search(vector=QueryVector(MODEL.name, query), use_cache=False, **given)  # type: ignore[arg-type]
                found = await store.search(space, search)
                assert found.path is path
                shares.append(recall([hit.chunk.id for hit in found.hits], among, query))
            assert np.mean(shares) >= least
    await assert_hits_are_the_first_of_a_longer_list(store, queries[:4])
    await assert_filters_hold_for_words_where_most_chunks_pass(store)
    await assert_same_as_exhaustive_bm25(store, vector_database)


async def assert_hits_are_the_first_of_a_longer_list(
    store: PostgresStore, queries: np.ndarray
) -> None:
    """Whether they come from the index or from an exact comparison, and for every kind of search."""
    paths = set()
    for number, query in enumerate(queries):
        vector = QueryVector(MODEL.name, query)
        # For two words every posting is read; for so many frequent words only as many as needed.
        frequent = " ".join(f"term{i}" for i in range(number, number + 14))
        for search in [
            *searches(f"term{3 * number + 5} term40", vector),
            *searches(frequent, vector),
        ]:
            longest = await store.search(SPACE, replace(search, limit=50))
            assert longest.hits
            assert all(0 <= hit.score <= 1 for hit in longest.hits)
            for limit in (1, 10, 23):
                found = await store.search(SPACE, replace(search, limit=limit))
                assert found.hits == longest.hits[:limit]
                paths.add(found.path)
    assert paths == set(VectorPath)


def searches(text: str, vector: QueryVector) -> list[Search]:
    """Returns searches of each kind, with filters that all, most or half of the chunks pass."""
    kinds = [
        {"vector": vector},
        {"text": text},
        {"text": text, "match": TextMatch.PREFIX},
        *(
            {"text": text, "vector": vector, "text_weight": weight, "fusion": fusion}
            for weight in (0.3, 0.5)
            for fusion in (FusionKind.WEIGHTED_SCORE, FusionKind.RECIPROCAL_RANK)
        ),
    ]
    filters = [{}, {"most": True}, {"even": True}]
    return [
        Search(**kind, metadata=metadata, use_cache=False)  # type: ignore[arg-type]
        for kind in kinds
        for metadata in filters
    ]


async def assert_filters_hold_for_words_where_most_chunks_pass(store: PostgresStore) -> None:
    """So many chunks pass that they are not listed first; the other chunks are excluded all the same."""
    for match in TextMatch:
        asked = {"text": "term3 term4", "limit": 50, "match": match}
        found = await store.search(SPACE, Search(**asked, metadata={"most": True}))  # type: ignore[arg-type]
        everything = await store.search(SPACE, Search(**asked))  # type: ignore[arg-type]
        owners = {hit.chunk.document_id for hit in everything.hits}
        assert owners & {f"d{i}" for i in range(5)}
        assert len(found.hits) == 50
        assert all(hit.chunk.metadata["most"] for hit in found.hits)


async def assert_same_as_exhaustive_bm25(store: PostgresStore, database: TestDatabase) -> None:
    """Queries of frequent and rare words return the scores of reading every posting: this corpus is small enough."""
    dice = random.Random(9)  # noqa: S311
    connection = await asyncpg.connect(database.dsn("braid_reader"))
    try:
        for _ in range(40):
            query = " ".join(f"term{int(800 ** dice.random()) - 1}" for _ in range(5))
            expected = await connection.fetch(EXHAUSTIVE, SPACE, query)
            found = (await store.search(SPACE, Search(text=query))).hits
            assert [hit.scores.text for hit in found] == pytest.approx(
                [r["score"] for r in expected]
            )
        await assert_only_the_rarest_words_yield_candidates_when_postings_are_many(connection)
        await assert_a_search_from_the_rarest_word_finds_the_same(connection)
    finally:
        await connection.close()


async def assert_only_the_rarest_words_yield_candidates_when_postings_are_many(
    connection: asyncpg.Connection,
) -> None:
    """All words yield candidates while their postings are few in total, otherwise only the rarest words."""
    words = ["term0", "term9", "term700"]
    sql = "select lexemes, head from weighted_terms($1, $2, $3, $4, $5)"
    for cap, reach, head in ((1, 0, 1), (3_000, 0, 2), (1, 25_000, 3), (25_000, 0, 3)):
        terms = await connection.fetchrow(sql, SPACE, words, SIZE, cap, reach)
        assert terms is not None
        assert (terms["lexemes"], terms["head"]) == (["term700", "term9", "term0"], head)


async def assert_a_search_from_the_rarest_word_finds_the_same(
    connection: asyncpg.Connection,
) -> None:
    """A search from the rarest word continues until no other chunk can be a hit, or until its limit of postings."""
    dice = random.Random(10)  # noqa: S311
    sql = """
    with s as (select n, total::float8 / n as average from space_stats where space = $1)
    select l.score
    from s, weighted_terms($1, tsvector_to_array(to_tsvector('english', $2)), s.n, 1) t,
         text_leg($1, t.lexemes, t.weights, t.head, t.costs, t.rests, $3, s.average, null, 10,
                  true, now(), null, null, null) l
    order by l.score desc"""
    for _ in range(40):
        query = " ".join(f"term{int(800 ** dice.random()) - 1}" for _ in range(5))
        expected = [row["score"] for row in await connection.fetch(EXHAUSTIVE, SPACE, query)]
        exact = [row["score"] for row in await connection.fetch(sql, SPACE, query, 5 * SIZE)]
        assert exact == pytest.approx(expected)
        quick = [row["score"] for row in await connection.fetch(sql, SPACE, query, 0)]
        assert len(quick) == len(expected)
        assert all(mine <= best + 1e-9 for mine, best in zip(quick, expected, strict=True))
