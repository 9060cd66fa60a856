"""Orders of found facts: without repetition, near an entity, by a model, and what is said when one cannot be had."""

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


def test_of_two_alike_the_second_comes_last_and_none_is_dropped() -> None:
    facts = [found("a", "x", 1.0), found("b", "x", 0.9), found("c", "y", 0.5)]
    vectors = {"a": unit(1), "b": unit(1, 0.01), "c": unit(0, 1)}
    assert order(maximal_marginal_relevance(facts, vectors, 0.5)) == ["a", "c", "b"]
    assert order(maximal_marginal_relevance(facts, vectors, 1.0)) == ["a", "b", "c"]


def test_facts_without_vectors_are_alike_by_their_words() -> None:
    facts = [found("a", "one two", 1.0), found("b", "two one", 0.9), found("c", "three", 0.5)]
    assert order(maximal_marginal_relevance(facts, {"a": unit(1)}, 0.5)) == ["a", "c", "b"]


async def test_facts_near_the_named_entity_come_first(store: FakeGraphStore) -> None:
    asked = Ordering(Order.NODE_DISTANCE, center_name="VAULT")
    answer = await ask(store, "who needs what", asked)
    assert targets(answer)[:2] == ["Vault", "Ledger"]
    assert [hit.scores.rerank for hit in answer.hits] == [1.0, 0.5, pytest.approx(1 / 3)]
    assert answer.order is Order.NODE_DISTANCE


async def test_an_unknown_centre_is_not_found_and_none_is_a_field_error(
    store: FakeGraphStore,
) -> None:
    with pytest.raises(NotFoundError):
        await ask(store, "needs", Ordering(Order.NODE_DISTANCE, center_name="nobody"))
    with pytest.raises(InvalidFieldError):
        await ask(store, "needs", Ordering(Order.NODE_DISTANCE))


async def test_without_a_configured_model_its_order_is_refused(store: FakeGraphStore) -> None:
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


async def test_a_model_puts_the_facts_in_its_order(
    store: FakeGraphStore, model: tuple[OpenAIStub, Reranker]
) -> None:
    answer = await ask(store, "needs vault and", Ordering(Order.CROSS_ENCODER), model[1])
    assert targets(answer)[0] == "Vault"
    assert answer.hits[0].scores.rerank == 3
    assert (answer.order, answer.shortfall) == (Order.CROSS_ENCODER, None)


async def test_a_model_that_is_away_leaves_the_order_of_ranks_and_says_so(
    store: FakeGraphStore, model: tuple[OpenAIStub, Reranker]
) -> None:
    model[0].answer_always(server_error())
    answer = await ask(store, "needs vault", Ordering(Order.CROSS_ENCODER), model[1])
    plain = await ask(store, "needs vault", Ordering())
    assert targets(answer) == targets(plain)
    assert (answer.order, answer.shortfall) == (Order.RRF, DegradationReason.RERANKER)
