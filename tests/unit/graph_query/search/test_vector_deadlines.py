"""A vector list that would exceed the caller's deadline is left out, and the answer reports it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from braid.common.v1 import legs_pb2
from services.graph_query.core.domain import FactFilter
from services.graph_query.core.intervals import OPEN
from services.graph_query.core.store import Hit
from services.graph_query.embeddings.space_models import DegradationReason
from services.graph_query.search.fact_search import FactSearch, FactSearcher
from services.graph_query.servicers.fact_mapping import answer as answer_message
from services.models.embedding.vectors import Matrix
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import DeadlineError
from tests.oracles.graph.store import FakeGraphStore
from tests.store_suite.graph.builders import fact, unit
from tests.unit.graph_query.embedder import CountingEmbedder

SEARCH = FactSearch("who owns payments", 5, FactFilter(-OPEN, OPEN))


class SlowVectors(FakeGraphStore):
    """A store whose vector search can hang, or exceed the store's own time limit."""

    stuck = False
    over = False

    async def search_vector(self, *args: Any, **more: Any) -> list[Hit]:
        if self.stuck:
            await asyncio.Event().wait()
        if self.over:
            raise DeadlineError
        return await super().search_vector(*args, **more)


class StuckEmbedder(CountingEmbedder):
    """An embedder whose provider does not respond."""

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Never returns."""
        await asyncio.Event().wait()
        return await super().embed(texts)


@pytest.fixture
async def store() -> SlowVectors:
    """A space with one fact that has a vector."""
    store = SlowVectors()
    await store.add_facts("s", [fact("Anna Bell", "OWNS", "Payments", embedding=unit(1))], "model")
    return store


def call(seconds: float) -> CallContext:
    deadline = asyncio.get_running_loop().time() + seconds
    return CallContext("r", "m", "s", "u", frozenset(), deadline)


@pytest.mark.parametrize("trouble", ["stuck", "over"])
@pytest.mark.parametrize("known", [True, False])
async def test_a_search_by_words_meets_the_deadline_and_reports_the_missing_vectors(
    store: SlowVectors, trouble: str, known: bool
) -> None:
    searcher = FactSearcher(store, CountingEmbedder())
    if known:
        await searcher.search("s", SEARCH)
    setattr(store, trouble, True)
    loop = asyncio.get_running_loop()
    started = loop.time()
    with call_scope(call(0.4)):
        found = await searcher.search("s", SEARCH)
    assert loop.time() - started < 0.4
    assert (found.shortfall, found.path) == (DegradationReason.LATE, None)
    assert [hit.fact.source.name for hit in found.hits] == ["Anna Bell"]
    result = answer_message(found, 0)
    assert (result.leg.status, result.leg.reason) == (
        legs_pb2.LEG_STATUS_TIMED_OUT,
        legs_pb2.LEG_REASON_BUDGET_EXCEEDED,
    )


async def test_vectors_within_the_deadline_are_part_of_the_answer(store: SlowVectors) -> None:
    with call_scope(call(5)):
        found = await FactSearcher(store, CountingEmbedder()).search("s", SEARCH)
    assert found.shortfall is None
    assert found.hits[0].scores.vector == pytest.approx(1)


async def test_an_embedder_that_does_not_respond_is_reported_as_unavailable(
    store: SlowVectors,
) -> None:
    searcher = FactSearcher(store, StuckEmbedder())
    with call_scope(call(2)):
        found = await searcher.search("s", SEARCH)
    assert [hit.fact.source.name for hit in found.hits] == ["Anna Bell"]
    result = answer_message(found, 0)
    assert (result.leg.status, result.leg.reason) == (
        legs_pb2.LEG_STATUS_DEGRADED,
        legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE,
    )


async def test_with_a_short_deadline_the_embedder_is_not_reported_as_unavailable(
    store: SlowVectors,
) -> None:
    searcher = FactSearcher(store, StuckEmbedder())
    with call_scope(call(0.3)):
        found = await searcher.search("s", SEARCH)
    result = answer_message(found, 0)
    assert (result.leg.status, result.leg.reason) == (
        legs_pb2.LEG_STATUS_TIMED_OUT,
        legs_pb2.LEG_REASON_BUDGET_EXCEEDED,
    )
