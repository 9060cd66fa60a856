"""Searching: which lists are asked, and what is said when one cannot be."""

from __future__ import annotations

import pytest

from services.graph_query.core.domain import FactFilter, Origin
from services.graph_query.core.intervals import OPEN
from services.graph_query.core.store import CHANGING, VectorPath
from services.graph_query.embeddings.space_models import DegradationReason, QueryVector
from services.graph_query.search.fact_search import FactSearch, FactSearcher
from services.runtime.errors import InvalidFieldError
from tests.oracles.graph.store import FakeGraphStore
from tests.store_suite.graph.builders import fact, passage, unit
from tests.stubs.embedders import StubEmbedder, StubModels
from tests.unit.graph_query.embedder import CountingEmbedder

ALWAYS = FactFilter(-OPEN, OPEN)


@pytest.fixture
def store() -> FakeGraphStore:
    return FakeGraphStore()


def asked(query: str = "who owns payments", **more: object) -> FactSearch:
    return FactSearch(query, 5, ALWAYS, **more)  # type: ignore[arg-type]


async def with_vectors(store: FakeGraphStore) -> None:
    await store.add_facts("s", [fact("Anna Bell", "OWNS", "Payments", embedding=unit(1))], "model")


async def test_a_space_without_vectors_embeds_nothing(store: FakeGraphStore) -> None:
    await store.add_facts("s", [fact("Anna Bell", "OWNS", "Payments")], "")
    embedder = CountingEmbedder()
    answer = await FactSearcher(store, embedder).search("s", asked())
    assert (embedder.calls, answer.shortfall, answer.path) == (0, None, None)
    assert [hit.fact.source.name for hit in answer.hits] == ["Anna Bell"]


async def test_a_given_vector_of_the_spaces_model_is_used_as_it_is(store: FakeGraphStore) -> None:
    await with_vectors(store)
    embedder = CountingEmbedder()
    search = asked("nothing alike", vector=QueryVector("model", unit(1)))
    answer = await FactSearcher(store, embedder).search("s", search)
    assert (embedder.calls, answer.path) == (0, VectorPath.EXACT)
    assert answer.hits[0].scores.vector == pytest.approx(1)


@pytest.mark.parametrize("values", [[1.0], [0.0] * len(unit(1)), [*unit(1), 0.0]])
async def test_a_vector_that_the_index_cannot_be_asked_with_is_a_field_error(
    store: FakeGraphStore, values: list[float]
) -> None:
    await with_vectors(store)
    search = asked(vector=QueryVector("model", values))
    with pytest.raises(InvalidFieldError) as failed:
        await FactSearcher(store, CountingEmbedder()).search("s", search)
    assert [field.field for field in failed.value.fields] == ["query_embedding.values"]


async def test_a_vector_of_another_model_is_made_anew(store: FakeGraphStore) -> None:
    await with_vectors(store)
    embedder = CountingEmbedder()
    await FactSearcher(store, embedder).search("s", asked(vector=QueryVector("other", unit(1))))
    assert embedder.calls == 1


async def test_an_embedder_that_is_away_leaves_the_words(store: FakeGraphStore) -> None:
    await with_vectors(store)
    answer = await FactSearcher(store, CountingEmbedder(away=True)).search("s", asked())
    assert answer.shortfall is DegradationReason.EMBEDDER
    assert len(answer.hits) == 1


async def test_a_caller_that_knows_the_embedder_is_away_spares_the_attempt(
    store: FakeGraphStore,
) -> None:
    await with_vectors(store)
    embedder = CountingEmbedder()
    answer = await FactSearcher(store, embedder).search("s", asked(text_only=True))
    assert (embedder.calls, answer.shortfall) == (0, DegradationReason.EMBEDDER)


async def test_stated_facts_stand_above_sentences_of_equal_words(store: FakeGraphStore) -> None:
    await store.add_episodes("s", [passage("s", "d", "Payments", "It owns Karl Otto.")])
    await store.add_facts("s", [fact("Mira Okafor", "OWNS", "Zebra")], "")
    answer = await FactSearcher(store, CountingEmbedder()).search("s", asked("owns"))
    assert [hit.fact.origin for hit in answer.hits] == [Origin.GIVEN, Origin.LOCAL]


async def test_a_space_that_changes_over_is_searched_by_words_and_no_model_is_asked(
    store: FakeGraphStore,
) -> None:
    await with_vectors(store)
    store.spaces["s"].model = CHANGING
    embedder = StubModels(others=[StubEmbedder(CHANGING)])
    answer = await FactSearcher(store, embedder).search("s", asked())
    assert (answer.shortfall, answer.path, len(answer.hits)) == (DegradationReason.MODEL, None, 1)
    assert embedder.texts == embedder.others[0].texts == []


async def test_a_model_that_makes_vectors_of_another_length_by_now_leaves_the_words(
    store: FakeGraphStore,
) -> None:
    await with_vectors(store)
    answer = await FactSearcher(store, StubEmbedder("model", 16)).search("s", asked())
    assert (answer.shortfall, answer.path, len(answer.hits)) == (DegradationReason.MODEL, None, 1)


@pytest.mark.parametrize("configured", ["model", "newer"])
async def test_facts_are_searched_by_vectors_as_long_as_the_space_has_them(
    store: FakeGraphStore, configured: str
) -> None:
    """Whether the settings name another model by now, or ask for other vectors of the same one."""
    result = fact("Anna Bell", "OWNS", "Payments", embedding=[0.6, 0.8])
    await store.add_facts("s", [result], "model")
    others = [StubEmbedder("model", 16), StubEmbedder("model", 2)]
    embedder = StubModels(configured, 16, others=others)
    answer = await FactSearcher(store, embedder).search("s", asked())
    assert (answer.shortfall, answer.path) == (None, VectorPath.EXACT)
    assert embedder.texts == others[0].texts == []


async def test_a_model_beside_the_configured_one_searches_the_spaces_that_have_it(
    store: FakeGraphStore,
) -> None:
    result = fact("Anna Bell", "OWNS", "Payments", embedding=[0.6, 0.8])
    await store.add_facts("s", [result], "former")
    embedder = StubModels(others=[StubEmbedder("former", 2)])
    answer = await FactSearcher(store, embedder).search("s", asked())
    assert (answer.shortfall, answer.path) == (None, VectorPath.EXACT)
