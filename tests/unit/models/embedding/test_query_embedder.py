"""A query's vector comes from memory, from the store or from the model, and its source is reported."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from structlog.testing import capture_logs

from services.models.embedding.cache import CachedEmbedder
from services.models.embedding.query_embedder import QueryEmbedder, VectorSource
from services.models.embedding.vectors import Matrix
from services.models.errors import EmbedderUnavailable
from services.runtime.errors import StoreUnavailableError
from tests.stubs.embedders import StubEmbedder

COMPUTED, MEMORY, STORED = VectorSource.COMPUTED, VectorSource.MEMORY, VectorSource.STORED


class FakeVectorStore:
    """A vector store in a dict that can simulate failures."""

    def __init__(self) -> None:
        self.rows: dict[bytes, Matrix] = {}
        self.away = False
        self.stuck = False
        self.defects = 0

    async def recall(self, digest: bytes) -> Matrix | None:
        await self._fail_if_set()
        return self.rows.get(digest)

    async def remember(self, digest: bytes, row: Matrix) -> None:
        await self._fail_if_set()
        if self.defects:
            self.defects -= 1
            raise ZeroDivisionError
        self.rows[digest] = row

    async def _fail_if_set(self) -> None:
        if self.away:
            raise StoreUnavailableError("shelf")
        if self.stuck:
            await asyncio.Event().wait()


@pytest.fixture
def store() -> FakeVectorStore:
    return FakeVectorStore()


async def test_a_query_is_computed_then_remembered(store: FakeVectorStore) -> None:
    queries = QueryEmbedder(CachedEmbedder(StubEmbedder(), 10), store)
    first, second = await queries.embed("q"), await queries.embed("q")
    assert (first.source, second.source) == (COMPUTED, MEMORY)
    np.testing.assert_array_equal(first.row, second.row)


async def test_another_process_reads_the_vector_from_the_store_and_remembers_it(
    store: FakeVectorStore,
) -> None:
    before, after = StubEmbedder(), StubEmbedder()
    earlier = QueryEmbedder(CachedEmbedder(before, 10), store)
    original = await earlier.embed("q")
    await earlier.close()
    later = QueryEmbedder(CachedEmbedder(after, 10), store)
    first, second = await later.embed("q"), await later.embed("q")
    assert (first.source, second.source) == (STORED, MEMORY)
    np.testing.assert_array_equal(first.row, original.row)
    assert after.texts == []


async def test_a_call_without_the_cache_neither_reads_nor_stores_a_vector(
    store: FakeVectorStore,
) -> None:
    embedder = StubEmbedder()
    queries = QueryEmbedder(CachedEmbedder(embedder, 10), store)
    for _ in range(2):
        assert (await queries.embed("q", use_cache=False)).source is COMPUTED
    assert embedder.texts == ["q", "q"]
    assert (await queries.embed("q")).source is COMPUTED
    await queries.close()
    assert len(store.rows) == 1


@pytest.mark.parametrize("trouble", ["away", "stuck"])
async def test_an_unavailable_or_hung_store_is_skipped(
    store: FakeVectorStore, trouble: str
) -> None:
    setattr(store, trouble, True)
    queries = QueryEmbedder(CachedEmbedder(StubEmbedder(), 10), store)
    assert (await queries.embed("q")).source is COMPUTED
    await queries.close()


async def test_an_unexpected_error_of_the_store_is_logged_and_affects_only_one_vector(
    store: FakeVectorStore,
) -> None:
    store.defects = 1
    queries = QueryEmbedder(StubEmbedder(), store)
    with capture_logs() as logs:
        await asyncio.gather(*(queries.embed(text) for text in ("a", "b", "c")))
        await queries.close()
    assert len(store.rows) == 2
    assert [type(line["exc_info"]) for line in logs] == [ZeroDivisionError]


async def test_stored_vectors_of_another_dimension_or_model_are_not_used(
    store: FakeVectorStore,
) -> None:
    earlier = QueryEmbedder(StubEmbedder(dimension=4), store)
    await earlier.embed("q")
    await earlier.close()
    for other in (StubEmbedder(dimension=5), StubEmbedder(model="other")):
        queries = QueryEmbedder(other, store)
        assert (await queries.embed("q")).source is COMPUTED
        await queries.close()


async def test_without_cache_and_store_every_query_is_computed() -> None:
    embedder = StubEmbedder()
    queries = QueryEmbedder(embedder)
    assert [(await queries.embed("q")).source for _ in range(2)] == [COMPUTED, COMPUTED]
    assert embedder.texts == ["q", "q"]


async def test_a_failing_model_fails_the_query_and_nothing_is_cached(
    store: FakeVectorStore,
) -> None:
    embedder = StubEmbedder(away=True)
    queries = QueryEmbedder(CachedEmbedder(embedder, 10), store)
    with pytest.raises(EmbedderUnavailable):
        await queries.embed("q")
    embedder.away = False
    assert (await queries.embed("q")).source is COMPUTED
    await queries.close()


async def test_hits_and_misses_of_the_store_are_counted(store: FakeVectorStore) -> None:
    reader = InMemoryMetricReader()
    meter = MeterProvider([reader]).get_meter("test")
    for _ in range(2):
        queries = QueryEmbedder(StubEmbedder(), store, meter)
        await queries.embed("q")
        await queries.close()
    assert counted(reader) == {"braid.embedding_store.hits": 1, "braid.embedding_store.misses": 1}


def counted(reader: InMemoryMetricReader) -> dict[str, int]:
    data: Any = reader.get_metrics_data()
    [resource] = data.resource_metrics
    [scope] = resource.scope_metrics
    return {
        metric.name: sum(int(point.value) for point in metric.data.data_points)
        for metric in scope.metrics
    }
