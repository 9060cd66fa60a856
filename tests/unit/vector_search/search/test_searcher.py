"""Which query vector a search uses, and what it returns without one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from services.models.embedding.cache import CachedEmbedder
from services.models.embedding.embedder import Embedder
from services.models.embedding.query_embedder import QueryEmbedder, VectorSource
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import (
    DeadlineError,
    EmbedderUnavailableError,
    InvalidFieldError,
    WrongStateError,
)
from services.vector_search.domain import FusionKind, Model, QueryVector, Search, VectorPath
from services.vector_search.embedding_models.query_embedders import QueryEmbedders
from services.vector_search.search.result_cache import ResultCache
from services.vector_search.search.searcher import DegradationReason, Searcher
from tests.oracles.vector.store import FakeStore
from tests.store_suite.vector.builders import (
    EAST,
    MODEL,
    NORTH,
    SPACE,
    contents,
    document,
    towards,
)
from tests.unit.vector_search.embedder import CompassEmbedder, Unlisted

FUSED = Search(text="red", fusion=FusionKind.WEIGHTED_SCORE)


@dataclass
class Registry:
    """Embedders by the name of their model."""

    embedders: dict[str, Embedder]

    def named(self, model: str, _dimension: int | None = None) -> Embedder | None:
        return self.embedders.get(model)


class AnyDimension:
    """A provider that has every model in every dimension."""

    def __init__(self) -> None:
        self.built: dict[tuple[str, int | None], CompassEmbedder] = {}

    def named(self, model: str, dimension: int | None = None) -> Embedder | None:
        key = (model, dimension)
        return self.built.setdefault(key, CompassEmbedder(model, dimension or 4))


@pytest.fixture(autouse=True)
def call() -> Iterator[None]:
    with call_scope(CallContext("r", "m", SPACE, "u", frozenset({"read"}))):
        yield


@pytest.fixture
def embedder() -> CompassEmbedder:
    return CompassEmbedder()


@pytest.fixture
async def searcher(embedder: CompassEmbedder) -> Searcher:
    store = FakeStore()
    new = document("d", "red n", "red e", at=[NORTH, EAST])
    await store.upsert(SPACE, MODEL, [new])
    return Searcher(store, QueryEmbedders(QueryEmbedder(embedder)), ResultCache(store, 0))


async def test_a_given_vector_of_the_spaces_model_is_used_without_embedding(
    searcher: Searcher, embedder: CompassEmbedder
) -> None:
    found = await searcher.search_vector("north", Search(limit=1), towards(EAST))
    assert contents(found) == ["red e"]
    assert embedder.texts == []


async def test_without_a_vector_the_query_is_embedded_once(
    searcher: Searcher, embedder: CompassEmbedder
) -> None:
    found = await searcher.search_vector("north", Search(limit=1), None)
    assert contents(found) == ["red n"]
    assert embedder.texts == ["north"]


async def test_a_vector_of_another_model_is_replaced_by_the_tiers_own(
    searcher: Searcher, embedder: CompassEmbedder
) -> None:
    found = await searcher.search_vector("north", Search(limit=1), towards(EAST, "other"))
    assert contents(found) == ["red n"]
    assert embedder.texts == ["north"]


async def test_a_vector_of_the_model_with_another_dimension_is_a_field_error(
    searcher: Searcher,
) -> None:
    wrong = towards((1, 0))  # type: ignore[arg-type]
    with pytest.raises(InvalidFieldError, match=r"query_embedding\.values"):
        await searcher.search_vector("north", Search(), wrong)
    with pytest.raises(InvalidFieldError, match=r"query_embedding\.values"):
        await searcher.search_hybrid("north", FUSED, wrong, text_only=False)
    with pytest.raises(InvalidFieldError, match=r"query_embedding\.values"):
        await searcher.scores("north", [document("d", "red n").chunks[0].id], wrong)


async def test_without_an_embedder_vector_search_fails_and_hybrid_search_uses_text(
    searcher: Searcher, embedder: CompassEmbedder
) -> None:
    embedder.down = True
    with pytest.raises(EmbedderUnavailableError):
        await searcher.search_vector("north", Search(), None)
    fused = await searcher.search_hybrid("red", FUSED, None, text_only=False)
    assert fused.shortfall is DegradationReason.EMBEDDER_UNAVAILABLE
    assert sorted(contents(fused.result)) == ["red e", "red n"]
    assert fused.result.path is VectorPath.NOT_RUN


async def test_a_text_only_search_calls_no_embedder(
    searcher: Searcher, embedder: CompassEmbedder
) -> None:
    fused = await searcher.search_hybrid("red", FUSED, None, text_only=True)
    assert fused.shortfall is DegradationReason.EMBEDDER_UNAVAILABLE
    assert embedder.texts == []


async def test_a_model_mismatch_is_distinguished_from_an_unavailable_embedder(
    searcher: Searcher, embedder: CompassEmbedder
) -> None:
    embedder.model = "newer"
    fused = await searcher.search_hybrid("red", FUSED, None, text_only=False)
    assert fused.shortfall is DegradationReason.MODEL_MISMATCH
    assert len(fused.result.hits) == 2
    assert embedder.texts == []
    with pytest.raises(WrongStateError):
        await searcher.search_vector("north", Search(), None)
    with pytest.raises(WrongStateError):
        await searcher.scores("north", [document("d", "red n").chunks[0].id], None)


async def test_scores_report_the_source_of_the_query_vector(embedder: CompassEmbedder) -> None:
    store = FakeStore()
    await store.upsert(SPACE, MODEL, [document("d", "red n", at=[NORTH])])
    cached = QueryEmbedder(CachedEmbedder(embedder, 10))
    searcher = Searcher(store, QueryEmbedders(cached), ResultCache(store, 0))
    ids = [document("d", "red n").chunks[0].id]

    async def source(given: QueryVector | None = None, *, use_cache: bool = True) -> VectorSource:
        return (await searcher.scores("north", ids, given, use_cache=use_cache))[1]

    assert [await source(), await source()] == [VectorSource.COMPUTED, VectorSource.MEMORY]
    assert await source(use_cache=False) is VectorSource.COMPUTED
    assert await source(towards(NORTH)) is VectorSource.GIVEN
    assert embedder.texts == ["north"] * 2


@pytest.mark.parametrize("away", [True, False])
async def test_a_space_is_searched_with_its_own_model_from_the_first_search(away: bool) -> None:
    """The configured provider, available or not, does not receive the space's queries."""
    store = FakeStore()
    await store.upsert(SPACE, MODEL, [document("d", "red n", at=[NORTH])])
    recorded, configured = CompassEmbedder(), CompassEmbedder("newer")
    configured.down = away
    registry = Registry({recorded.model: recorded})

    def searcher() -> Searcher:
        return Searcher(
            store, QueryEmbedders(QueryEmbedder(configured), registry), ResultCache(store, 0)
        )

    assert contents(await searcher().search_vector("north", Search(), None)) == ["red n"]
    fused = await searcher().search_hybrid("red", FUSED, None, text_only=False)
    assert (fused.shortfall, fused.result.path) == (None, VectorPath.EXACT)
    [score], _ = await searcher().scores("north", [document("d", "red n").chunks[0].id], None)
    assert score.vector == pytest.approx(1, abs=0.001)
    assert configured.texts == []


@pytest.mark.parametrize("configured", ["newer", MODEL.name])
async def test_a_space_is_searched_with_vectors_of_its_own_dimension(configured: str) -> None:
    """This holds if the settings name another model, or another dimension of the same model."""
    store = FakeStore()
    await store.upsert(SPACE, MODEL, [document("d", "red n", at=[NORTH])])
    ours, provider = CompassEmbedder(configured, 4), AnyDimension()
    searcher = Searcher(store, QueryEmbedders(QueryEmbedder(ours), provider), ResultCache(store, 0))
    fused = await searcher.search_hybrid("red", FUSED, None, text_only=False)
    assert (fused.shortfall, fused.result.path) == (None, VectorPath.EXACT)
    assert contents(await searcher.search_vector("north", Search(), None)) == ["red n"]
    [score], _ = await searcher.scores("north", [document("d", "red n").chunks[0].id], None)
    assert score.vector == pytest.approx(1, abs=0.001)
    assert list(provider.built) == [(MODEL.name, MODEL.dimension)]
    assert ours.texts == []


@pytest.mark.parametrize("configured", ["newer", MODEL.name])
async def test_an_embedder_with_another_dimension_than_the_spaces_is_not_called(
    configured: str,
) -> None:
    store = FakeStore()
    await store.upsert(SPACE, MODEL, [document("d", "red n", at=[NORTH])])
    ours, longer = CompassEmbedder(configured, 4), CompassEmbedder(MODEL.name, 4)
    registry = Registry({MODEL.name: longer})
    searcher = Searcher(store, QueryEmbedders(QueryEmbedder(ours), registry), ResultCache(store, 0))
    fused = await searcher.search_hybrid("red", FUSED, None, text_only=False)
    assert fused.shortfall is DegradationReason.MODEL_MISMATCH
    with pytest.raises(WrongStateError):
        await searcher.search_vector("north", Search(), None)
    with pytest.raises(WrongStateError):
        await searcher.scores("north", [document("d", "red n").chunks[0].id], None)
    assert ours.texts == longer.texts == []


async def test_an_embedder_of_unknown_dimension_is_called_once_without_a_field_error() -> None:
    """A wrong vector that the tier made itself is not the fault of the caller's fields."""
    store = FakeStore()
    await store.upsert(SPACE, MODEL, [document("d", "red n", at=[NORTH])])
    longer = Unlisted(CompassEmbedder(MODEL.name, 4))
    registry = Registry({MODEL.name: longer})
    searcher = Searcher(
        store, QueryEmbedders(QueryEmbedder(longer), registry), ResultCache(store, 0)
    )
    for _ in range(2):
        with pytest.raises(WrongStateError):
            await searcher.scores("north", [document("d", "red n").chunks[0].id], None)
    assert longer.inner.texts == ["north"]


async def test_a_space_that_changed_its_dimension_is_searched_with_the_new_one() -> None:
    store = FakeStore()
    await store.upsert(SPACE, MODEL, [document("d", "red n", at=[NORTH])])
    searcher = Searcher(
        store,
        QueryEmbedders(QueryEmbedder(CompassEmbedder("newer")), AnyDimension()),
        ResultCache(store, 0),
    )
    await searcher.search_vector("north", Search(), None)
    await store.delete_document(SPACE, "d")
    north: Any = (*NORTH, 0.0)
    await store.upsert(SPACE, Model(MODEL.name, 4), [document("d", "red n", at=[north])])
    assert contents(await searcher.search_vector("north", Search(), None)) == ["red n"]


async def test_a_space_that_changed_to_the_configured_model_is_searched_with_it() -> None:
    store = FakeStore()
    await store.upsert(SPACE, MODEL, [document("d", "red n", at=[NORTH])])
    newer = CompassEmbedder("newer")
    searcher = Searcher(store, QueryEmbedders(QueryEmbedder(newer)), ResultCache(store, 0))
    with pytest.raises(WrongStateError):
        await searcher.search_vector("north", Search(), None)
    await store.delete_document(SPACE, "d")
    moved = Model("newer", 3)
    await store.upsert(SPACE, moved, [document("d", "red n", at=[NORTH])])
    assert contents(await searcher.search_vector("north", Search(), None)) == ["red n"]


async def test_a_space_whose_model_is_unavailable_is_searched_by_text() -> None:
    """This holds from the first search, when the space's model is not known yet."""
    store = FakeStore()
    await store.upsert(SPACE, MODEL, [document("d", "red n", at=[NORTH])])
    away = CompassEmbedder()
    away.down = True
    newer = QueryEmbedder(CompassEmbedder("newer"))
    searcher = Searcher(
        store, QueryEmbedders(newer, Registry({away.model: away})), ResultCache(store, 0)
    )
    for _ in range(2):
        fused = await searcher.search_hybrid("red", FUSED, None, text_only=False)
        assert fused.shortfall is DegradationReason.EMBEDDER_UNAVAILABLE
        assert contents(fused.result) == ["red n"]


async def test_a_hung_embedder_is_reported_before_the_deadline(
    searcher: Searcher, embedder: CompassEmbedder
) -> None:
    """A passed deadline would not show the reason."""
    embedder.stuck = True
    deadline = asyncio.get_running_loop().time() + 1
    context = CallContext("r", "m", SPACE, "u", frozenset({"read"}), deadline)
    with call_scope(context), pytest.raises(EmbedderUnavailableError):
        await searcher.search_vector("north", Search(limit=1), None)
    assert asyncio.get_running_loop().time() < deadline


async def test_a_short_deadline_does_not_mark_the_embedder_as_unavailable(
    searcher: Searcher, embedder: CompassEmbedder
) -> None:
    embedder.stuck = True
    deadline = asyncio.get_running_loop().time() + 0.1
    context = CallContext("r", "m", SPACE, "u", frozenset({"read"}), deadline)
    with call_scope(context):
        fused = await searcher.search_hybrid("red", FUSED, None, text_only=False)
        with pytest.raises(DeadlineError):
            await searcher.search_vector("north", Search(limit=1), None)
    assert fused.shortfall is DegradationReason.LATE
    assert sorted(contents(fused.result)) == ["red e", "red n"]
