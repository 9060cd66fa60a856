"""Query embeddings are reported with their source and, where enabled, stored in PostgreSQL per space."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import asyncpg
import numpy as np
import pytest

from braid.common.v1 import retrieval_pb2
from braid.vector.v1 import search_pb2
from services.models.embedding.cache import CachedEmbedder
from services.models.embedding.query_embedder import QueryEmbedder
from services.models.embedding.vectors import unit_rows
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import StoreUnavailableError
from services.vector_search.embedding_models.postgres import StoredEmbeddings
from services.vector_search.embedding_models.query_embedders import QueryEmbedders
from services.vector_search.postgres_store import PostgresStore
from tests.integration.vector_search.conftest import Tier
from tests.integration.vector_search.messages import NORTH, embedding
from tests.stores import TestDatabase
from tests.unit.vector_search.embedder import CompassEmbedder

OURS, THEIRS = Tier.credential("ours"), Tier.credential("theirs")
GIVEN = retrieval_pb2.EMBEDDING_SOURCE_GIVEN
COMPUTED = retrieval_pb2.EMBEDDING_SOURCE_COMPUTED
MEMORY = retrieval_pb2.EMBEDDING_SOURCE_MEMORY
STORED = retrieval_pb2.EMBEDDING_SOURCE_STORED
NONE = retrieval_pb2.EMBEDDING_SOURCE_UNSPECIFIED
BYPASS = retrieval_pb2.CACHE_MODE_BYPASS


@pytest.fixture
async def queries(store: PostgresStore, embedder: CompassEmbedder) -> AsyncIterator[QueryEmbedders]:
    """The tier's query embedders, with a cache in memory and a store of two vectors per space."""
    queries = QueryEmbedders(QueryEmbedder(CachedEmbedder(embedder, 10), store.query_embeddings(2)))
    yield queries
    await queries.close()


async def source(tier: Tier, query: str, **more: object) -> int:
    """Returns where the query vector of a search came from."""
    metadata = more.pop("metadata", OURS)
    request = search_pb2.HybridSearchRequest(query=query, **more)  # type: ignore[arg-type]
    return (await tier.search.HybridSearch(request, metadata=metadata)).embedding_source  # type: ignore[arg-type]


async def test_a_response_reports_the_source_of_the_query_vector(filled: Tier) -> None:
    assert await source(filled, "north") == COMPUTED
    assert await source(filled, "north") == MEMORY
    assert await source(filled, "north", cache=BYPASS) == COMPUTED
    assert await source(filled, "north", query_embedding=embedding(NORTH)) == GIVEN
    assert await source(filled, "north", text_only=True) == NONE
    assert filled.embedder.texts == ["north", "north"]
    vector = search_pb2.VectorSearchRequest(query="north")
    assert (await filled.search.VectorSearch(vector, metadata=OURS)).embedding_source == MEMORY


async def test_another_replica_finds_a_query_vector_in_postgresql_only_for_its_space(
    filled: Tier, queries: QueryEmbedders, store: PostgresStore
) -> None:
    await source(filled, "north")
    await queries.close()
    other = CompassEmbedder()
    replica = QueryEmbedder(CachedEmbedder(other, 10), store.query_embeddings(2))
    for space, expected in (("theirs", COMPUTED), ("ours", STORED)):
        with call_scope(CallContext("r", "m", space, "u", frozenset())):
            assert (await replica.embed("north")).source.value == expected
    await replica.close()
    assert other.texts == ["north"]


async def test_a_query_vector_cached_for_one_space_is_not_used_for_another(filled: Tier) -> None:
    assert await source(filled, "north") == COMPUTED
    assert await source(filled, "north", metadata=THEIRS) == COMPUTED


class TestStore:
    """Query embeddings stored in PostgreSQL."""

    @pytest.fixture(autouse=True)
    def call(self) -> Iterator[None]:
        with call_scope(CallContext("r", "m", "ours", "u", frozenset())):
            yield

    @pytest.fixture
    def stored(self, store: PostgresStore) -> StoredEmbeddings:
        return store.query_embeddings(2)

    async def test_a_stored_vector_is_returned_bit_for_bit(self, stored: StoredEmbeddings) -> None:
        [row] = unit_rows([[1.0, -2.0, 1e-8, 0.1]])
        await stored.remember(digest(1), row)
        found = await stored.recall(digest(1))
        assert found is not None
        np.testing.assert_array_equal(found, row)
        assert await stored.recall(digest(2)) is None

    async def test_the_most_recently_used_vectors_are_kept(
        self, stored: StoredEmbeddings, vector_database: TestDatabase
    ) -> None:
        [row] = unit_rows([[1.0, 2.0]])
        for number in (1, 2):
            await stored.remember(digest(number), row)
        await pass_hours(vector_database, 2)
        assert await stored.recall(digest(1)) is not None
        await stored.remember(digest(3), row)
        kept = [number for number in (1, 2, 3) if await stored.recall(digest(number)) is not None]
        assert kept == [1, 3]

    async def test_the_reader_role_cannot_read_query_embeddings(
        self, vector_database: TestDatabase
    ) -> None:
        connection = await asyncpg.connect(vector_database.dsn("braid_reader"))
        try:
            for statement in (
                "select * from query_embedding",
                "select * from query_embedding_p0",
            ):
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    await connection.fetch(statement)
        finally:
            await connection.close()

    async def test_an_unreachable_database_is_reported_as_unavailable(
        self, store: PostgresStore
    ) -> None:
        unreachable = await PostgresStore.open(
            read_url="postgresql://x@127.0.0.1:9/x", write_url="postgresql://x@127.0.0.1:9/x"
        )
        with pytest.raises(StoreUnavailableError):
            await unreachable.query_embeddings(2).recall(digest(1))
        await unreachable.close()


def digest(number: int) -> bytes:
    return bytes([number]) * 32


async def pass_hours(database: TestDatabase, hours: int) -> None:
    """Moves the last use of the stored vectors into the past."""
    connection = await asyncpg.connect(database.dsn("braid_writer"))
    try:
        await connection.execute(
            "update query_embedding set used_at = used_at - make_interval(hours => $1)", hours
        )
    finally:
        await connection.close()
