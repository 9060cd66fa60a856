"""The benchmark's direct writer, against which the tier is measured, stores the same rows as the tier."""

from __future__ import annotations

import asyncpg
import numpy as np
from pgvector.asyncpg import register_vector

from services.runtime.ids import chunk_id, content_sha256
from services.vector_search.domain import Model, NewChunk, NewDocument, QueryVector, Search
from services.vector_search.postgres_store import PostgresStore
from tests.benchmarks.loading import Passage
from tests.benchmarks.writing import DirectWriter
from tests.stores import TestDatabase

MODEL = Model("given", 4)
TEXTS = ("The harbour opened in spring.", "Nova owns the ledger.", "The ledger was closed.")
NORTH, EAST = np.eye(4, dtype=np.float32)[:2]


def through_the_tier(space: str, name: str, text: str) -> NewDocument:
    key = chunk_id(space, name, content_sha256(text), 0)
    chunk = NewChunk(key, text, 0, len(text), NORTH)
    return NewDocument(
        path="document",
        document_id=name,
        title="",
        source="",
        content_hash=content_sha256(text),
        metadata={},
        valid_time=None,
        chunks=(chunk,),
    )


async def test_directly_written_documents_are_found_with_the_same_scores_as_the_tiers(
    store: PostgresStore, vector_database: TestDatabase
) -> None:
    for space in ("tier", "direct"):
        await store.upsert(space, MODEL, [through_the_tier(space, "first", "opens the space")])
    await store.upsert(
        "tier", MODEL, [through_the_tier("tier", f"d{n}", text) for n, text in enumerate(TEXTS)]
    )
    async with asyncpg.create_pool(
        vector_database.dsn("braid_writer"), min_size=1, init=register_vector
    ) as pool:
        direct = await DirectWriter.open(pool, "direct", MODEL.name)
        await direct.write([Passage(f"d{n}", "", text, NORTH) for n, text in enumerate(TEXTS)])
    found = {}
    for space in ("tier", "direct"):
        search = Search(text="who owns the ledger", vector=QueryVector(MODEL.name, EAST))
        hits = (await store.search(space, search)).hits
        found[space] = {hit.chunk.document_id: (hit.chunk.content, hit.score) for hit in hits}
    assert len(found["tier"]) == len(TEXTS) + 1
    assert found["direct"] == found["tier"]
