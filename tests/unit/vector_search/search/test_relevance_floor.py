"""A fused search omits irrelevant hits if the thresholds of the model are known."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from services.models.embedding.query_embedder import QueryEmbedder
from services.models.embedding.relevance import KNOWN
from services.models.errors import RerankerUnavailable
from services.models.reranking.reading import Reader
from services.runtime.context import CallContext, call_scope
from services.vector_search.domain import FusionKind, Model, QueryVector, Search
from services.vector_search.embedding_models.query_embedders import QueryEmbedders
from services.vector_search.search.result_cache import ResultCache
from services.vector_search.search.searcher import DegradationReason, HybridResult, Searcher
from tests.oracles.vector.store import FakeStore
from tests.store_suite.vector.builders import (
    NORTH,
    SPACE,
    Direction,
    contents,
    direction,
    document,
)
from tests.unit.vector_search.embedder import CompassEmbedder

CALIBRATED = Model("all-MiniLM-L6-v2", 3)
UNKNOWN = Model("compass", 3)
# Occurs in no chunk, so that scores depend on the vector alone.
FUSED = Search(text="elsewhere", fusion=FusionKind.WEIGHTED_SCORE)


@pytest.fixture(autouse=True)
def call() -> Iterator[None]:
    with call_scope(CallContext("r", "m", SPACE, "u", frozenset({"read"}))):
        yield


def scoring(score: float) -> Direction:
    """Returns the direction of a chunk to which a search for north gives this score by its vector alone."""
    cosine = score / 0.7
    return (cosine, (1 - cosine * cosine) ** 0.5, 0.0)


class Readings:
    """A cross-encoder that gives chunks the logits by their content, others -11."""

    model = "scripted"

    def __init__(self, **logits: float) -> None:
        self.read: list[str] = []
        self.away = False
        self._logits = logits

    async def score(self, _query: str, passages: Sequence[str]) -> list[float]:
        if self.away:
            raise RerankerUnavailable("scripted")
        self.read += passages
        return [self._logits.get(f"s{one.split('.')[-1]}", -11.0) for one in passages]

    async def close(self) -> None:
        """Does nothing."""


async def space_of(
    *scores: float,
    model: Model = CALIBRATED,
    more: int = 0,
    cache: int = 0,
    readings: Readings | None = None,
) -> Searcher:
    """Returns the searcher of a space with one chunk per score and `more` irrelevant chunks."""
    store = FakeStore()
    directions = [*map(scoring, scores), *[(0.0, 1.0, 0.0)] * more]
    texts = [f"{score:.2f}" for score in scores] + [f"other {n}" for n in range(more)]
    await store.upsert(SPACE, model, [document("d", *texts, at=directions)])
    embedder = QueryEmbedder(CompassEmbedder(model.name))
    reader = None if readings is None else Reader(readings)
    return Searcher(store, QueryEmbedders(embedder), ResultCache(store, cache), reader)


async def ask(searcher: Searcher, search: Search = FUSED) -> HybridResult:
    """Searches for north."""
    given = QueryVector(CALIBRATED.name, direction(NORTH))
    return await searcher.search_hybrid("north", search, given, text_only=False)


async def test_without_a_relevant_best_hit_there_are_no_hits() -> None:
    found = await ask(await space_of(0.29, 0.28))
    assert (contents(found.result), found.shortfall) == ([], None)
    assert found.floor == pytest.approx(0.30)


async def test_after_a_relevant_hit_nearly_as_relevant_hits_are_listed() -> None:
    found = await ask(await space_of(0.31, 0.26, 0.24, 0.10))
    assert contents(found.result) == ["0.31", "0.26"]
    assert found.floor == pytest.approx(0.30)
    assert found.result.chunk_count == 4


async def test_the_best_hit_of_a_larger_space_needs_a_higher_score() -> None:
    few = await ask(await space_of(0.32, more=99))
    many = await ask(await space_of(0.32, more=999))
    assert contents(few.result) == ["0.32"]
    assert contents(many.result) == []
    assert [few.floor, many.floor] == pytest.approx([0.30, 0.33])


async def test_the_floor_depends_on_the_space_and_not_on_filters() -> None:
    found = await ask(
        await space_of(0.32, more=999), replace(FUSED, document_ids=("unknown", "d"), limit=1)
    )
    assert contents(found.result) == []
    assert found.floor == pytest.approx(0.33)


@pytest.mark.parametrize(
    ("min_score", "expected"), [(0.0, ["0.31", "0.26", "0.24", "0.10"]), (0.25, ["0.31", "0.26"])]
)
async def test_a_request_may_set_the_minimum_score(min_score: float, expected: list[str]) -> None:
    found = await ask(await space_of(0.31, 0.26, 0.24, 0.10), replace(FUSED, min_score=min_score))
    assert (contents(found.result), found.floor) == (expected, 0)
    low = await ask(await space_of(0.10), replace(FUSED, min_score=0.0))
    assert (contents(low.result), low.floor) == (["0.10"], 0)


async def test_a_model_without_known_thresholds_has_no_floor() -> None:
    assert UNKNOWN.name not in KNOWN
    asked = await space_of(0.10, 0.05, model=UNKNOWN)
    found = await asked.search_hybrid("north", FUSED, None, text_only=False)
    assert (contents(found.result), found.floor) == (["0.10", "0.05"], 0)


async def test_reciprocal_rank_fusion_has_no_floor() -> None:
    found = await ask(await space_of(0.10, 0.05), replace(FUSED, fusion=FusionKind.RECIPROCAL_RANK))
    assert (contents(found.result), found.floor) == (["0.10", "0.05"], 0)


async def test_a_text_only_search_has_no_floor() -> None:
    """This holds if text only is requested, and if no vector of the model is available."""
    words = replace(FUSED, text="other unheard words altogether")
    for text_only in (True, False):
        store = FakeStore()
        await store.upsert(SPACE, CALIBRATED, [document("d", "other", at=[NORTH])])
        embedder = CompassEmbedder(CALIBRATED.name)
        embedder.down = True
        asked = Searcher(store, QueryEmbedders(QueryEmbedder(embedder)), ResultCache(store, 0))
        found = await asked.search_hybrid("north", words, None, text_only=text_only)
        assert found.shortfall is DegradationReason.EMBEDDER_UNAVAILABLE
        assert (contents(found.result), found.floor) == (["other"], 0)
        assert found.result.hits[0].score < 0.30


async def test_an_empty_space_has_no_floor() -> None:
    store = FakeStore()
    embedder = QueryEmbedder(CompassEmbedder(CALIBRATED.name))
    empty = Searcher(store, QueryEmbedders(embedder), ResultCache(store, 0))
    found = await ask(empty)
    assert (found.result.hits, found.floor) == ([], 0)


async def test_a_deadline_does_not_change_the_floor() -> None:
    asked = await space_of(0.29)
    deadline = asyncio.get_running_loop().time() + 10
    with call_scope(CallContext("r", "m", SPACE, "u", frozenset({"read"}), deadline)):
        found = await ask(asked)
    assert found.result.hits == []
    assert found.floor == pytest.approx(0.30)


async def test_a_cached_result_omits_irrelevant_hits_too() -> None:
    asked = await space_of(0.31, 0.10, cache=1_000_000)
    first, second = await ask(asked), await ask(asked)
    assert (first.result.cached, second.result.cached) == (False, True)
    assert contents(first.result) == contents(second.result) == ["0.31"]
    assert first.floor == second.floor == pytest.approx(0.30)
    everything = await ask(asked, replace(FUSED, min_score=0.0))
    assert contents(everything.result) == ["0.31", "0.10"]


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_omitted_hits_do_not_depend_on_the_limit(limit: int) -> None:
    asked = await space_of(0.31, 0.26, 0.10)
    found = await ask(asked, replace(FUSED, limit=limit))
    assert contents(found.result) == ["0.31", "0.26"][:limit]


async def test_a_clear_hit_is_a_match_without_being_read() -> None:
    readings = Readings()
    found = await ask(await space_of(0.50, 0.26, 0.10, readings=readings))
    assert contents(found.result) == ["0.50", "0.26"]
    assert readings.read == []
    assert found.floor == pytest.approx(0.39)


async def test_a_low_score_is_a_match_if_the_passage_reads_well() -> None:
    found = await ask(await space_of(0.20, 0.10, readings=Readings(s20=4.0)))
    assert contents(found.result) == ["0.20"]
    assert found.result.hits[0].scores.reading == pytest.approx(0.98, abs=0.01)
    assert found.result.hits[0].score == pytest.approx(0.20)


async def test_a_score_above_the_floor_is_no_match_if_no_passage_reads_well() -> None:
    found = await ask(await space_of(0.31, 0.26, readings=Readings()))
    assert (contents(found.result), found.shortfall) == ([], None)


async def test_a_high_doubtful_score_outweighs_a_passage_that_reads_poorly() -> None:
    found = await ask(await space_of(0.38, 0.26, readings=Readings(s38=-7.5)))
    assert contents(found.result) == ["0.38", "0.26"]


async def test_without_a_match_the_nearest_hits_are_returned_apart() -> None:
    found = await ask(await space_of(0.22, 0.21, 0.20, 0.19, readings=Readings()))
    assert contents(found.result) == []
    assert [hit.chunk.content for hit in found.nearest] == ["0.22", "0.21", "0.20"]
    assert all(hit.scores.reading is not None for hit in found.nearest)


async def test_a_relevant_hit_has_no_nearest_ones() -> None:
    assert (await ask(await space_of(0.50, 0.10, readings=Readings()))).nearest == ()


@pytest.mark.parametrize(("score", "expected"), [(0.31, ["0.31"]), (0.29, [])])
async def test_without_the_cross_encoder_scores_decide_and_the_result_is_degraded(
    score: float, expected: list[str]
) -> None:
    readings = Readings()
    readings.away = True
    found = await ask(await space_of(score, readings=readings))
    assert contents(found.result) == expected
    assert found.shortfall is DegradationReason.RERANKER_UNAVAILABLE


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
async def test_what_is_read_does_not_depend_on_the_limit(limit: int) -> None:
    asked = await space_of(0.22, 0.21, 0.20, 0.10, readings=Readings(s20=4.0))
    found = await ask(asked, replace(FUSED, limit=limit))
    assert contents(found.result) == ["0.20"]


async def test_a_doubtful_score_needs_more_in_a_larger_space() -> None:
    small = await space_of(0.35, readings=Readings(s35=-8.0))
    large = await space_of(0.35, more=999, readings=Readings(s35=-8.0))
    assert contents((await ask(small)).result) == ["0.35"]
    assert contents((await ask(large)).result) == []
