"""Which facts are listed for a question and in which order, in any script."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.graph_query.embeddings.space_models import QueryVector
from services.graph_query.search.fact_search import FactSearch, FactSearcher
from services.graph_query.search.ranking import FoundFact, Question, Ranked, Scores, relevant
from services.models.embedding.relevance import KNOWN, UNCALIBRATED
from tests.oracles.graph.store import FakeGraphStore
from tests.store_suite.graph.builders import ALWAYS, fact, passage, unit
from tests.unit.graph_query.embedder import CountingEmbedder

MODEL = "all-MiniLM-L6-v2"
SCALE = KNOWN[MODEL]
OFTEN = 60


@pytest.fixture
def store() -> FakeGraphStore:
    return FakeGraphStore()


async def search_facts(store: FakeGraphStore, query: str, **more: object) -> list[FoundFact]:
    search = FactSearch(query, 10, ALWAYS, **more)  # type: ignore[arg-type]
    return (await FactSearcher(store, CountingEmbedder()).search("s", search)).hits


@pytest.mark.parametrize(
    ("value", "query"),
    [
        ("日本の首都は東京です", "日本の首都"),
        ("กรุงเทพเป็นเมืองหลวง", "เมืองหลวง"),
        ("서울은한국의수도", "한국의"),
    ],
)
async def test_a_fact_in_a_script_without_spaces_is_found_by_part_of_its_text(
    store: FakeGraphStore, value: str, query: str
) -> None:
    await store.add_facts("s", [fact("Anna Bell", "IS", "Vienna Hall", fact=value)], "")
    (hit,) = await search_facts(store, query)
    assert hit.scores.words == 1


async def test_a_sentence_in_a_script_without_spaces_is_found_by_part_of_its_text(
    store: FakeGraphStore,
) -> None:
    text = "Anna Bell は Karl Otto と日本の首都で働く。"
    await store.add_episodes("s", [passage("s", "d", "Anna Bell", text)])
    assert {hit.scores.words for hit in await search_facts(store, "日本の首都")} == {1}


async def test_a_word_with_two_spellings_counts_once(store: FakeGraphStore) -> None:
    await store.add_facts("s", [fact("Søren Bø", "LEADS", "Café Łódź")], "")
    for query in ("søren bø", "soren bo", "café łódź", "cafe lodz"):
        assert [hit.scores.words for hit in await search_facts(store, query)] == [1], query


async def test_a_question_of_stop_words_lists_facts_with_similar_vectors(
    store: FakeGraphStore,
) -> None:
    near = fact("Anna Bell", "OWNS", "Payments", embedding=unit(1))
    far = fact("Karl Otto", "OWNS", "Ledger", embedding=unit(SCALE.support - 0.01, 1))
    await store.add_facts("s", [near, far, fact("Mira Okafor", "OWNS", "Zebra")], MODEL)
    query_vector = QueryVector(MODEL, unit(1))
    asked = [
        hit.fact.source.name
        for hit in await search_facts(store, "What is it?", vector=query_vector)
    ]
    assert asked == ["Anna Bell"]
    everything = await search_facts(store, "What is it?", vector=query_vector, min_score=0.0)
    assert {hit.fact.source.name for hit in everything} == {"Anna Bell", "Karl Otto"}


def test_a_question_of_stop_words_lists_all_facts_with_an_uncalibrated_model() -> None:
    question = Question(frozenset(), frozenset(), None, 0.0)
    rows = [Ranked("a", Scores(vector=0.1), None), Ranked("b", Scores(text=1.0), None)]
    assert len(relevant(rows, question, UNCALIBRATED, None)) == 2
    assert relevant(rows, question, SCALE, None) == []


@pytest.mark.parametrize(("query", "leads"), [("owner", True), ("owed", False)])
async def test_a_word_with_the_same_beginning_as_the_relation_raises_the_score(
    store: FakeGraphStore, query: str, leads: bool
) -> None:
    result = fact("Anna Bell", "OWNS", "Payments", fact="Anna Bell has Payments", embedding=unit(1))
    await store.add_facts("s", [result], MODEL)
    asked = {"vector": QueryVector(MODEL, unit(0.5, 1)), "min_score": 0.0}
    (named,) = await search_facts(store, f"{query} of Anna Bell", **asked)
    plain = 0.7 * (named.scores.vector or 0) + 0.3 * (named.scores.words or 0)
    assert named.scores.fused == pytest.approx(plain + (0.15 if leads else 0))


async def test_a_fact_whose_entity_and_relation_are_asked_for_supports_its_passages_with_any_vector(
    store: FakeGraphStore,
) -> None:
    asked_for = fact("Anna Bell", "OWNS", "Payments", embedding=unit(SCALE.support - 0.1, 1))
    other = fact("Anna Bell", "LIKES", "Zebra", embedding=unit(SCALE.support - 0.1, 1))
    await store.add_facts("s", [asked_for, other], MODEL)
    asked = {"vector": QueryVector(MODEL, unit(1)), "min_score": 0.0}
    hits = await search_facts(store, "owner of Anna Bell", **asked)
    assert {hit.fact.relation: hit.scores.support for hit in hits} == {"OWNS": 0.08, "LIKES": 0.0}


async def test_a_stop_word_in_a_relation_does_not_raise_the_score(
    store: FakeGraphStore,
) -> None:
    result = fact("Anna Bell", "CARES_FOR", "Payments", embedding=unit(1))
    await store.add_facts("s", [result], MODEL)
    asked = {"vector": QueryVector(MODEL, unit(0.5, 1)), "min_score": 0.0}
    (hit,) = await search_facts(store, "forests of Anna Bell", **asked)
    plain = 0.7 * (hit.scores.vector or 0) + 0.3 * (hit.scores.words or 0)
    assert hit.scores.fused == pytest.approx(plain)


async def test_a_fact_without_a_vector_gets_no_score_of_the_vector_list(
    store: FakeGraphStore,
) -> None:
    others = [
        fact("Karl Otto", "KNOWS", f"Person {n}", embedding=unit(0.1, 1)) for n in range(OFTEN)
    ]
    bare = fact("Mira Okafor", "OWNS", "Zebra", fact="Mira Okafor keeps a zebra")
    await store.add_facts("s", [*others, bare], MODEL)
    query_vector = QueryVector(MODEL, unit(1))
    hits = await search_facts(
        store, "Does Mira keep something striped?", vector=query_vector, min_score=0.0
    )
    (scores,) = [hit.scores for hit in hits if hit.fact.source.name == "Mira Okafor"]
    assert scores.words
    assert scores.fused == pytest.approx(0.7 * scores.words)


def test_a_fact_beyond_the_vector_list_counts_with_the_last_cosine_of_the_list() -> None:
    question = Question(frozenset({"zebra"}), frozenset(), 0.5, 0.0)
    result = Ranked("a", Scores(text=1.0), None, "a zebra", "OWNS", embedded=True)
    (hit,) = relevant([result], question, SCALE, None)
    assert hit.scores.fused == pytest.approx(0.7 * 0.5 + 0.3)
    (bare,) = relevant(
        [result._replace(embedded=False, scores=replace(result.scores))], question, SCALE, None
    )
    assert bare.scores.fused == pytest.approx(0.7)
