"""Cached results are returned only while a search would return the same."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from services.vector_search.domain import FusionKind, Search, SearchResult
from services.vector_search.search.result_cache import ResultCache
from tests.oracles.vector.store import FakeStore
from tests.store_suite.vector.builders import (
    EAST,
    MODEL,
    NORTH,
    SPACE,
    both,
    contents,
    document,
    meaning,
    towards,
    words,
    year,
)

MIB = 1024 * 1024


class Clock:
    """A clock that moves only when it is set."""

    def __init__(self) -> None:
        self.now = year(2020)

    def __call__(self) -> datetime:
        return self.now


class CountingStore(FakeStore):
    """Counts the searches that reach it."""

    searches = 0

    async def search(self, space: str, search: Search) -> SearchResult:
        self.searches += 1
        return await super().search(space, search)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(clock: Clock) -> CountingStore:
    filled = CountingStore(clock)
    for space in (SPACE, "other"):
        new = document("d", "red north", "red east", at=[NORTH, EAST], space=space)
        await filled.upsert(space, MODEL, [new])
    return filled


@pytest.fixture
def reader() -> InMemoryMetricReader:
    return InMemoryMetricReader()


@pytest.fixture
def cache(store: CountingStore, reader: InMemoryMetricReader) -> Iterator[ResultCache]:
    provider = MeterProvider([reader])
    yield ResultCache(store, MIB, provider.get_meter("test"))
    provider.shutdown()


def counted(reader: InMemoryMetricReader) -> dict[str, Any]:
    """Returns the counters by name."""
    data: Any = reader.get_metrics_data()
    found = data.resource_metrics[0].scope_metrics[0].metrics
    return {metric.name.rsplit(".")[-1]: metric.data.data_points[0].value for metric in found}


async def test_a_repeated_search_is_answered_from_the_cache_and_counted(
    cache: ResultCache, store: CountingStore, reader: InMemoryMetricReader
) -> None:
    for search in (words("red"), meaning(NORTH), both("red", NORTH)):
        first = await cache.search(SPACE, search)
        again = await cache.search(SPACE, search)
        assert (first.cached, again.cached) == (False, True)
        assert again.hits == first.hits
    assert store.searches == 3
    assert counted(reader) == {"hits": 3, "misses": 3}


@pytest.mark.parametrize(
    "other",
    [
        both("red east", NORTH),
        both("red", EAST),
        Search(text="red", vector=towards(NORTH, "x"), fusion=FusionKind.WEIGHTED_SCORE),
        both("red", NORTH, limit=1),
        both("red", NORTH, text_weight=0.4),
        both("red", NORTH, fusion=FusionKind.RECIPROCAL_RANK),
        both("red", NORTH, min_score=0.1),
        both("red", NORTH, document_ids=("d",)),
        both("red", NORTH, metadata={"a": 1}),
        both("red", NORTH, as_of=year(2020)),
        words("red"),
        meaning(NORTH),
    ],
)
async def test_any_other_request_is_not_answered_from_the_cache(
    cache: ResultCache, store: CountingStore, other: Search
) -> None:
    await cache.search(SPACE, both("red", NORTH))
    assert not (await cache.search(SPACE, other)).cached
    assert store.searches == 2


async def test_another_space_is_not_answered_from_the_cache(cache: ResultCache) -> None:
    ours = await cache.search(SPACE, words("red"))
    theirs = await cache.search("other", words("red"))
    assert not theirs.cached
    assert {hit.chunk.id for hit in ours.hits}.isdisjoint(hit.chunk.id for hit in theirs.hits)


async def test_any_write_to_the_space_makes_its_results_stale(
    cache: ResultCache, store: CountingStore
) -> None:
    await cache.search(SPACE, words("red"))
    await cache.search("other", words("red"))
    await store.upsert(SPACE, MODEL, [document("e", "red up")])
    found = await cache.search(SPACE, words("red"))
    assert (found.cached, len(found.hits)) == (False, 3)
    await store.delete_document(SPACE, "d")
    found = await cache.search(SPACE, words("red"))
    assert (found.cached, contents(found)) == (False, ["red up"])
    assert (await cache.search("other", words("red"))).cached


async def test_a_version_that_becomes_valid_makes_results_stale_without_a_write(
    cache: ResultCache, store: CountingStore, clock: Clock
) -> None:
    new = document("d", "red later", valid_time=clock.now + timedelta(days=1))
    await store.upsert(SPACE, MODEL, [new])
    now, past = words("red"), words("red", as_of=clock.now)
    for search in (now, past):
        await cache.search(SPACE, search)
    assert (await cache.search(SPACE, now)).cached
    clock.now += timedelta(days=1)
    found = await cache.search(SPACE, now)
    assert (found.cached, contents(found)) == (False, ["red later"])
    assert (await cache.search(SPACE, past)).cached


async def test_a_search_may_bypass_the_cache(cache: ResultCache, store: CountingStore) -> None:
    fresh = words("red", use_cache=False)
    await cache.search(SPACE, fresh)
    assert not (await cache.search(SPACE, words("red"))).cached
    assert not (await cache.search(SPACE, fresh)).cached
    assert store.searches == 3


async def test_a_cache_of_size_0_keeps_nothing(store: CountingStore) -> None:
    cache = ResultCache(store, 0)
    for _ in range(2):
        assert not (await cache.search(SPACE, words("red"))).cached


async def test_the_least_recently_used_results_are_evicted_from_a_full_cache(
    store: CountingStore,
) -> None:
    # Each of these results takes about 4 KB, so that two fit.
    cache = ResultCache(store, 10_000)
    first, second, third = (words("red", limit=limit) for limit in (2, 3, 4))
    for search in (first, second, first, third):
        await cache.search(SPACE, search)
    assert (await cache.search(SPACE, first)).cached
    assert (await cache.search(SPACE, third)).cached
    assert not (await cache.search(SPACE, second)).cached


async def test_a_result_larger_than_the_cache_is_not_kept(store: CountingStore) -> None:
    cache = ResultCache(store, 1_000)
    for _ in range(2):
        assert not (await cache.search(SPACE, words("red"))).cached
