"""The cache computes a text once, evicts the least recently used text, and isolates its callers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from services.models.embedding.cache import CachedEmbedder, CacheStats
from services.models.embedding.vectors import Matrix, unit_rows
from services.models.errors import EmbedderUnavailable
from services.runtime.context import CallContext, call_scope, current_call_or_none, remaining
from services.runtime.errors import DeadlineError
from tests.stubs.openai_server import vector_of


class Inner:
    """An embedder that counts its calls, and that waits for `gate`."""

    model = "counting"
    dimension = 4

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.contexts: list[CallContext | None] = []
        self._called = asyncio.Condition()
        self.gate = asyncio.Event()
        self.gate.set()
        self.failing = False
        self.cancelled = 0
        self.closed = False

    async def embed(self, texts: Sequence[str]) -> Matrix:
        self.calls.append(list(texts))
        self.contexts.append(current_call_or_none())
        async with self._called:
            self._called.notify_all()
        try:
            async with asyncio.timeout(remaining(60)):
                await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        except TimeoutError:
            raise EmbedderUnavailable("no answer in time") from None
        if self.failing:
            raise EmbedderUnavailable("down")
        return unit_rows([vector_of(text, self.dimension) for text in texts])

    async def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """Embeds queries like texts."""
        return await self.embed(queries)

    async def close(self) -> None:
        self.closed = True

    async def wait_for_calls(self, times: int) -> None:
        """Returns once `embed` was called this many times."""
        async with asyncio.timeout(5), self._called:
            await self._called.wait_for(lambda: len(self.calls) >= times)


@pytest.fixture
async def inner() -> Inner:
    return Inner()


async def embed_within(seconds: float, cache: CachedEmbedder) -> Matrix:
    """Returns the vector of "a", requested by a call with this much time left."""
    deadline = asyncio.get_running_loop().time() + seconds
    with call_scope(CallContext("r", "m", "s", "u", frozenset(), deadline)):
        return await cache.embed(["a"])


async def test_a_text_is_computed_once(inner: Inner) -> None:
    cache = CachedEmbedder(inner, 10)
    first = await cache.embed(["a", "b", "a"])
    second = await cache.embed(["b", "c", "a"])
    assert inner.calls == [["a", "b"], ["c"]]
    np.testing.assert_array_equal(first[[1, 0]], second[[0, 2]])
    np.testing.assert_array_equal(first[0], first[2])
    assert cache.stats == CacheStats(hits=3, misses=3, entries=3)


async def test_no_texts_give_an_empty_matrix(inner: Inner) -> None:
    assert (await CachedEmbedder(inner).embed([])).shape == (0, 4)
    assert inner.calls == []


async def test_the_least_recently_used_text_is_evicted_first(inner: Inner) -> None:
    cache = CachedEmbedder(inner, 2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await cache.embed([text])
    assert inner.calls == [["a"], ["b"], ["c"], ["b"]]
    assert cache.stats.entries == 2


async def test_concurrent_callers_share_one_call(inner: Inner) -> None:
    cache = CachedEmbedder(inner, 10)
    inner.gate.clear()
    first = asyncio.create_task(cache.embed(["a", "b"]))
    await inner.wait_for_calls(1)
    second = asyncio.create_task(cache.embed(["b", "c"]))
    await inner.wait_for_calls(2)
    inner.gate.set()
    np.testing.assert_array_equal((await first)[1], (await second)[0])
    assert inner.calls == [["a", "b"], ["c"]]


async def test_a_cancelled_caller_does_not_cancel_the_others(inner: Inner) -> None:
    cache = CachedEmbedder(inner, 10)
    inner.gate.clear()
    leader = asyncio.create_task(cache.embed(["a"]))
    await inner.wait_for_calls(1)
    follower = asyncio.create_task(cache.embed(["a"]))
    await asyncio.sleep(0)
    leader.cancel()
    await asyncio.wait([leader])
    inner.gate.set()
    assert (await follower).shape == (1, 4)
    assert leader.cancelled()
    assert (len(inner.calls), inner.cancelled) == (1, 0)


async def test_the_short_deadline_of_one_caller_does_not_end_the_call_of_another(
    inner: Inner,
) -> None:
    cache = CachedEmbedder(inner, 10)
    inner.gate.clear()
    hurried = asyncio.create_task(embed_within(0.3, cache))
    await inner.wait_for_calls(1)
    patient = asyncio.create_task(embed_within(60, cache))
    await asyncio.wait([hurried])
    inner.gate.set()
    assert (await patient).shape == (1, 4)
    assert isinstance(hurried.exception(), EmbedderUnavailable)


async def test_work_stops_when_its_only_caller_reaches_its_deadline(inner: Inner) -> None:
    cache = CachedEmbedder(inner, 10)
    inner.gate.clear()
    with pytest.raises(EmbedderUnavailable):
        await embed_within(0.3, cache)
    again = asyncio.create_task(cache.embed(["a"]))
    await inner.wait_for_calls(2)
    inner.gate.set()
    assert (await again).shape == (1, 4)
    assert inner.cancelled == 1


async def test_shared_work_has_the_context_of_its_first_caller_without_the_deadline(
    inner: Inner,
) -> None:
    await embed_within(60, CachedEmbedder(inner, 10))
    assert inner.contexts == [CallContext("r", "m", "s", "u", frozenset())]


async def test_an_expired_call_computes_nothing_but_gets_cached_vectors(
    inner: Inner,
) -> None:
    cache = CachedEmbedder(inner, 10)
    with pytest.raises(DeadlineError):
        await embed_within(-1, cache)
    assert inner.calls == []
    await embed_within(60, cache)
    assert (await embed_within(-1, cache)).shape == (1, 4)


async def test_work_without_callers_stops_and_can_be_requested_again(inner: Inner) -> None:
    cache = CachedEmbedder(inner, 10)
    inner.gate.clear()
    caller = asyncio.create_task(cache.embed(["a"]))
    await inner.wait_for_calls(1)
    caller.cancel()
    again = asyncio.create_task(cache.embed(["a"]))
    await inner.wait_for_calls(2)
    inner.gate.set()
    assert (await again).shape == (1, 4)
    assert inner.cancelled == 1


async def test_a_failure_reaches_every_caller_and_is_not_cached(inner: Inner) -> None:
    cache = CachedEmbedder(inner, 10)
    inner.failing = True
    answers = await asyncio.gather(
        cache.embed(["a"]), cache.embed(["a", "b"]), return_exceptions=True
    )
    assert all(isinstance(answer, EmbedderUnavailable) for answer in answers)
    inner.failing = False
    assert (await cache.embed(["a", "b"])).shape == (2, 4)


async def test_changes_of_a_caller_to_its_rows_do_not_affect_the_cache(inner: Inner) -> None:
    cache = CachedEmbedder(inner, 10)
    rows = await cache.embed(["a"])
    rows[:] = 0
    assert np.linalg.norm(await cache.embed(["a"])) == pytest.approx(1)


async def test_closing_the_cache_closes_the_wrapped_embedder(inner: Inner) -> None:
    cache = CachedEmbedder(inner, 10)
    await cache.close()
    assert inner.closed
    assert (cache.model, cache.dimension) == ("counting", 4)


async def test_hits_and_misses_are_counted_by_model(inner: Inner) -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    cache = CachedEmbedder(inner, 10, provider.get_meter("test"))
    await cache.embed(["a", "b"])
    await cache.embed(["b", "c", "b"])
    data: Any = reader.get_metrics_data()
    counted = {
        (metric.name, point.attributes["model"]): point.value
        for metric in data.resource_metrics[0].scope_metrics[0].metrics
        for point in metric.data.data_points
    }
    assert counted == {
        ("braid.embedding_cache.hits", "counting"): 2,
        ("braid.embedding_cache.misses", "counting"): 3,
    }
    provider.shutdown()


async def test_a_space_does_not_get_cached_vectors_of_another(inner: Inner) -> None:
    cache = CachedEmbedder(inner, 10)
    for space in ("a", "b", "a"):
        with call_scope(CallContext("r", "m", space, "u", frozenset())):
            await cache.embed(["q"])
    assert inner.calls == [["q"], ["q"]]
