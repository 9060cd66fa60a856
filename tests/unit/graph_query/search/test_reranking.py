"""Orders of found facts: by diversity, by distance from an entity and by a model, with a fallback."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.graph_query.core.domain import EntityRef, Fact, FactFilter, Origin
from services.graph_query.core.intervals import OPEN
from services.graph_query.embeddings.space_models import DegradationReason
from services.graph_query.search.fact_search import Answer, FactSearch, FactSearcher
from services.graph_query.search.ranking import FoundFact, Scores
from services.graph_query.search.reranking import Order, Ordering, maximal_marginal_relevance
from services.models.reranking.factory import build_reranker
from services.models.reranking.reranker import Reranker
from services.models.reranking.settings import RerankerSettings
from services.runtime.errors import InvalidFieldError, NotFoundError, WrongStateError
from tests.oracles.graph.store import FakeGraphStore
from tests.store_suite.graph.builders import fact, unit
from tests.stubs.openai_server import OpenAIStub, server_error
from tests.stubs.rerank import PATH, by_words
from tests.unit.graph_query.embedder import CountingEmbedder

ALWAYS = FactFilter(-OPEN, OPEN)


def found(uuid: str, text: str, fused: float) -> FoundFact:
    end = EntityRef("e", "E", "")
    return FoundFact(Fact(uuid, text, "IS", end, end, Origin.GIVEN), Scores(fused=fused))


def order(facts: list[FoundFact]) -> list[str]:
    return [one.fact.uuid for one in facts]


async def ask(
    store: FakeGraphStore, query: str, ordering: Ordering, model: Reranker | None = None
) -> Answer:
    searcher = FactSearcher(store, CountingEmbedder(), model)
    return await searcher.search("s", FactSearch(query, 3, ALWAYS, ordering=ordering))


def targets(answer: Answer) -> list[str]:
    return [hit.fact.target.name for hit in answer.hits]


@pytest.fixture
async def store() -> FakeGraphStore:
    stored = FakeGraphStore()
    chain = [("Anna", "Payments"), ("Payments", "Ledger"), ("Ledger", "Vault")]
    facts = [fact(a, "NEEDS", b, fact=f"{a} needs {b} and more") for a, b in chain]
    await stored.add_facts("s", [*facts, fact("Anna", "KNOWS", "Karl", fact="Anna needs Karl")], "")
    return stored


def test_the_second_of_two_similar_facts_is_ranked_last_and_none_is_dropped() -> None:
    facts = [found("a", "x", 1.0), found("b", "x", 0.9), found("c", "y", 0.5)]
    vectors = {"a": unit(1), "b": unit(1, 0.01), "c": unit(0, 1)}
    assert order(maximal_marginal_relevance(facts, vectors, 0.5)) == ["a", "c", "b"]
    assert order(maximal_marginal_relevance(facts, vectors, 1.0)) == ["a", "b", "c"]


def test_facts_without_vectors_are_compared_by_their_words() -> None:
    facts = [found("a", "one two", 1.0), found("b", "two one", 0.9), found("c", "three", 0.5)]
    assert order(maximal_marginal_relevance(facts, {"a": unit(1)}, 0.5)) == ["a", "c", "b"]


async def test_facts_near_the_named_entity_rank_first(store: FakeGraphStore) -> None:
    ordering = Ordering(Order.NODE_DISTANCE, center_name="VAULT")
    answer = await ask(store, "who needs what", ordering)
    assert targets(answer)[:2] == ["Vault", "Ledger"]
    assert [hit.scores.rerank for hit in answer.hits] == [1.0, 0.5, pytest.approx(1 / 3)]
    assert answer.order is Order.NODE_DISTANCE


async def test_an_unknown_center_is_not_found_and_a_missing_one_is_a_field_error(
    store: FakeGraphStore,
) -> None:
    with pytest.raises(NotFoundError):
        await ask(store, "needs", Ordering(Order.NODE_DISTANCE, center_name="nobody"))
    with pytest.raises(InvalidFieldError):
        await ask(store, "needs", Ordering(Order.NODE_DISTANCE))


async def test_ordering_by_a_model_is_rejected_without_a_configured_model(
    store: FakeGraphStore,
) -> None:
    with pytest.raises(WrongStateError):
        await ask(store, "needs", Ordering(Order.CROSS_ENCODER))


@pytest.fixture
async def model() -> AsyncIterator[tuple[OpenAIStub, Reranker]]:
    async with OpenAIStub() as stub:
        stub.routes[PATH] = by_words
        reranker = build_reranker(RerankerSettings(base_url=stub.base_url, seconds=10))
        assert reranker is not None
        yield stub, reranker
        await reranker.close()


async def test_a_model_reorders_the_facts(
    store: FakeGraphStore, model: tuple[OpenAIStub, Reranker]
) -> None:
    answer = await ask(store, "needs vault and", Ordering(Order.CROSS_ENCODER), model[1])
    assert targets(answer)[0] == "Vault"
    assert answer.hits[0].scores.rerank == 3
    assert (answer.order, answer.shortfall) == (Order.CROSS_ENCODER, None)


async def test_an_unavailable_model_leaves_the_fused_order_and_is_reported(
    store: FakeGraphStore, model: tuple[OpenAIStub, Reranker]
) -> None:
    model[0].answer_always(server_error())
    answer = await ask(store, "needs vault", Ordering(Order.CROSS_ENCODER), model[1])
    plain = await ask(store, "needs vault", Ordering())
    assert targets(answer) == targets(plain)
    assert (answer.order, answer.shortfall) == (Order.RRF, DegradationReason.RERANKER)
