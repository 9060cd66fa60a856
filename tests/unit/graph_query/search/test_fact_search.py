"""Fact search: which lists are searched, and the degradation that is reported if one is unavailable."""

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


def search_for(query: str = "who owns payments", **more: object) -> FactSearch:
    return FactSearch(query, 5, ALWAYS, **more)  # type: ignore[arg-type]


async def with_vectors(store: FakeGraphStore) -> None:
    await store.add_facts("s", [fact("Anna Bell", "OWNS", "Payments", embedding=unit(1))], "model")


async def test_a_space_without_vectors_embeds_nothing(store: FakeGraphStore) -> None:
    await store.add_facts("s", [fact("Anna Bell", "OWNS", "Payments")], "")
    embedder = CountingEmbedder()
    answer = await FactSearcher(store, embedder).search("s", search_for())
    assert (embedder.calls, answer.shortfall, answer.path) == (0, None, None)
    assert [hit.fact.source.name for hit in answer.hits] == ["Anna Bell"]


async def test_a_given_vector_of_the_spaces_model_is_used_unchanged(store: FakeGraphStore) -> None:
    await with_vectors(store)
    embedder = CountingEmbedder()
    search = search_for("nothing alike", vector=QueryVector("model", unit(1)))
    answer = await FactSearcher(store, embedder).search("s", search)
    assert (embedder.calls, answer.path) == (0, VectorPath.EXACT)
    assert answer.hits[0].scores.vector == pytest.approx(1)


@pytest.mark.parametrize("values", [[1.0], [0.0] * len(unit(1)), [*unit(1), 0.0]])
async def test_a_query_vector_that_the_index_cannot_use_is_a_field_error(
    store: FakeGraphStore, values: list[float]
) -> None:
    await with_vectors(store)
    search = search_for(vector=QueryVector("model", values))
    with pytest.raises(InvalidFieldError) as failed:
        await FactSearcher(store, CountingEmbedder()).search("s", search)
    assert [field.field for field in failed.value.fields] == ["query_embedding.values"]


async def test_the_query_is_embedded_again_if_its_vector_is_of_another_model(
    store: FakeGraphStore,
) -> None:
    await with_vectors(store)
    embedder = CountingEmbedder()
    await FactSearcher(store, embedder).search(
        "s", search_for(vector=QueryVector("other", unit(1)))
    )
    assert embedder.calls == 1


async def test_without_the_embedder_facts_are_searched_by_words(store: FakeGraphStore) -> None:
    await with_vectors(store)
    answer = await FactSearcher(store, CountingEmbedder(away=True)).search("s", search_for())
    assert answer.shortfall is DegradationReason.EMBEDDER
    assert len(answer.hits) == 1


async def test_a_text_only_search_does_not_call_the_embedder(
    store: FakeGraphStore,
) -> None:
    await with_vectors(store)
    embedder = CountingEmbedder()
    answer = await FactSearcher(store, embedder).search("s", search_for(text_only=True))
    assert (embedder.calls, answer.shortfall) == (0, DegradationReason.EMBEDDER)


async def test_stated_facts_rank_above_sentences_with_equal_words(store: FakeGraphStore) -> None:
    await store.add_episodes("s", [passage("s", "d", "Payments", "It owns Karl Otto.")])
    await store.add_facts("s", [fact("Mira Okafor", "OWNS", "Zebra")], "")
    answer = await FactSearcher(store, CountingEmbedder()).search("s", search_for("owns"))
    assert [hit.fact.origin for hit in answer.hits] == [Origin.GIVEN, Origin.LOCAL]


async def test_during_a_model_migration_facts_are_searched_by_words_only(
    store: FakeGraphStore,
) -> None:
    await with_vectors(store)
    store.spaces["s"].model = CHANGING
    embedder = StubModels(others=[StubEmbedder(CHANGING)])
    answer = await FactSearcher(store, embedder).search("s", search_for())
    assert (answer.shortfall, answer.path, len(answer.hits)) == (DegradationReason.MODEL, None, 1)
    assert embedder.texts == embedder.others[0].texts == []


async def test_with_a_model_of_another_length_facts_are_searched_by_words(
    store: FakeGraphStore,
) -> None:
    await with_vectors(store)
    answer = await FactSearcher(store, StubEmbedder("model", 16)).search("s", search_for())
    assert (answer.shortfall, answer.path, len(answer.hits)) == (DegradationReason.MODEL, None, 1)


@pytest.mark.parametrize("configured", ["model", "newer"])
async def test_facts_are_searched_by_vectors_of_the_spaces_length(
    store: FakeGraphStore, configured: str
) -> None:
    """Both if another model is configured by now, and if another length of the same model is."""
    result = fact("Anna Bell", "OWNS", "Payments", embedding=[0.6, 0.8])
    await store.add_facts("s", [result], "model")
    others = [StubEmbedder("model", 16), StubEmbedder("model", 2)]
    embedder = StubModels(configured, 16, others=others)
    answer = await FactSearcher(store, embedder).search("s", search_for())
    assert (answer.shortfall, answer.path) == (None, VectorPath.EXACT)
    assert embedder.texts == others[0].texts == []


async def test_a_space_of_another_than_the_configured_model_is_searched_by_its_own_model(
    store: FakeGraphStore,
) -> None:
    result = fact("Anna Bell", "OWNS", "Payments", embedding=[0.6, 0.8])
    await store.add_facts("s", [result], "former")
    embedder = StubModels(others=[StubEmbedder("former", 2)])
    answer = await FactSearcher(store, embedder).search("s", search_for())
    assert (answer.shortfall, answer.path) == (None, VectorPath.EXACT)
