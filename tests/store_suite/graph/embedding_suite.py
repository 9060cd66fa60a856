"""The contract of graph stores for vectors of facts and for changes of the embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Protocol

import pytest

from services.graph_query.core.domain import FIRST
from services.graph_query.core.store import GraphStore
from services.graph_query.embeddings.domain import (
    EmbeddingStore,
    Text,
    TextKind,
    TextVector,
    Vectors,
)
from services.graph_query.findings.domain import FindingStore
from services.runtime.errors import InvalidFieldError, WrongStateError
from tests.store_suite.graph.builders import ALWAYS, DIMENSION, day, fact, new_space, unit
from tests.store_suite.graph.findings_suite import finding

OLD, NEW = "old", "new"
FACTS = ("Ada", "Bob", "Eve", "Kim", "Lou")


class Store(GraphStore, Protocol):
    """A graph store with embeddings and findings."""

    @property
    def embeddings(self) -> EmbeddingStore: ...

    @property
    def findings(self) -> FindingStore: ...


async def filled(store: Store) -> str:
    """Creates a space with five facts, each with a vector of the old model."""
    space = new_space()
    facts = [fact(name, "KNOWS", "Zoe", embedding=unit(1.0)) for name in FACTS]
    await store.add_facts(space, facts, OLD)
    return space


async def missing(store: Store, space: str, model: str = NEW) -> list[Text]:
    """Returns the facts without a vector of a model."""
    return await store.embeddings.unembedded(space, TextKind.FACT, model, FIRST, 100)


async def put(
    store: Store,
    space: str,
    texts: list[Text],
    model: str = NEW,
    values: Sequence[float] = unit(0.0, 1.0),
) -> int:
    """Stores the same vector for all facts; by default it is orthogonal to the old ones."""
    vectors = [TextVector(one.uuid, sha256(one.text.encode()).hexdigest(), values) for one in texts]
    return await store.embeddings.put_vectors(space, TextKind.FACT, model, vectors)


def spread(length: int, place: int) -> tuple[float, ...]:
    """Returns a vector of the given length whose value at `place` is the largest."""
    values = [2.0 if n == place % length else 1.0 for n in range(length)]
    size = sum(value * value for value in values) ** 0.5
    return tuple(value / size for value in values)


async def near(store: Store, space: str, *values: float) -> list[float]:
    """Returns the cosines of the facts with a direction, best first."""
    hits = await store.search_vector(space, unit(*values), ALWAYS, 10, exact=True)
    return [round(hit.score, 2) for hit in hits]


class EmbeddingSuite:
    """Vectors of facts, and the change of a space's embedding model."""

    async def test_texts_without_a_vector_of_a_model_are_listed_in_pages(
        self, store: Store
    ) -> None:
        space = await filled(store)
        page = await store.embeddings.unembedded(space, TextKind.FACT, NEW, FIRST, 3)
        rest = await store.embeddings.unembedded(space, TextKind.FACT, NEW, page[-1].place, 3)
        assert sorted(one.text for one in (*page, *rest)) == [f"{x} knows Zoe" for x in FACTS]
        assert await missing(store, space, OLD) == []
        assert await missing(store, new_space()) == []

    async def test_each_text_is_listed_once_regardless_of_when_its_fact_begins(
        self, store: Store
    ) -> None:
        space = new_space()
        begun = (None, day("1066-10-14"), day("1999-12-31"), day("2020-02-29"), day("1999-12-31"))
        ends = zip(FACTS, begun, strict=True)
        rows = [fact(name, "KNOWS", "Zoe", valid_at=since) for name, since in ends]
        await store.add_facts(space, rows, "")
        texts, place = [], FIRST
        while page := await store.embeddings.unembedded(space, TextKind.FACT, NEW, place, 1):
            texts.append(page[0].text)
            place = page[0].place
        assert sorted(texts) == [f"{name} knows Zoe" for name in FACTS]

    async def test_vectors_of_the_next_model_do_not_affect_searches(self, store: Store) -> None:
        space = await filled(store)
        assert await put(store, space, await missing(store, space)) == 5
        assert await missing(store, space) == []
        assert await near(store, space, 1.0) == [1.0] * 5
        assert await store.embeddings.vectors(space) == Vectors(OLD, "", 5, DIMENSION)

    async def test_activating_the_new_model_switches_searches_to_its_vectors(
        self, store: Store
    ) -> None:
        space = await filled(store)
        await put(store, space, await missing(store, space))
        await store.embeddings.activate(space, NEW)
        assert await store.embeddings.vectors(space) == Vectors(NEW, "", 5, DIMENSION)
        assert await near(store, space, 0.0, 1.0) == [1.0] * 5
        assert await near(store, space, 1.0) == [0.0] * 5
        with pytest.raises(WrongStateError):
            await store.add_facts(space, [fact("Max", "KNOWS", "Zoe", embedding=unit(1.0))], OLD)

    async def test_a_fact_written_during_the_change_has_no_vector_until_one_is_stored(
        self, store: Store
    ) -> None:
        space = await filled(store)
        await put(store, space, await missing(store, space))
        await store.add_facts(space, [fact("Max", "KNOWS", "Zoe", embedding=unit(1.0))], OLD)
        await store.embeddings.activate(space, NEW)
        assert await store.embeddings.vectors(space) == Vectors(NEW, "", 5, DIMENSION)
        left = await missing(store, space)
        assert [one.text for one in left] == ["Max knows Zoe"]
        assert await put(store, space, left) == 1
        assert await missing(store, space) == []
        assert await store.embeddings.vectors(space) == Vectors(NEW, "", 6, DIMENSION)
        assert await near(store, space, 0.0, 1.0) == [1.0] * 6

    async def test_vectors_of_a_changed_text_or_an_unknown_fact_are_ignored(
        self, store: Store
    ) -> None:
        space = await filled(store)
        texts = await missing(store, space)
        wrong = [Text(texts[0].uuid, "another text", FIRST), Text(new_space(), "gone", FIRST)]
        assert await put(store, space, wrong) == 0
        assert await put(store, new_space(), texts) == 0
        assert len(await missing(store, space)) == 5

    async def test_activating_the_model_in_use_changes_nothing(self, store: Store) -> None:
        space = await filled(store)
        before = (await store.stats(space)).revision
        await store.embeddings.activate(space, OLD)
        assert (await store.stats(space)).revision == before

    async def test_spaces_with_vectors_of_different_lengths_coexist(self, store: Store) -> None:
        for length in (2, 16, DIMENSION, 1_536):
            space = new_space()
            rows = [
                fact(n, "KNOWS", "Zoe", embedding=spread(length, i)) for i, n in enumerate(FACTS)
            ]
            await store.add_facts(space, rows, f"model of {length}")
            assert (await store.embeddings.vectors(space)).dimension == length
            for exact in (True, False):
                hits = await store.search_vector(space, spread(length, 0), ALWAYS, 3, exact=exact)
                assert hits[0].score == pytest.approx(1, abs=0.01)
                assert [hit.score for hit in hits] == sorted((h.score for h in hits), reverse=True)

    async def test_a_query_vector_of_another_length_finds_nothing(self, store: Store) -> None:
        space = await filled(store)
        for exact in (True, False):
            assert await store.search_vector(space, (1.0, 0.0), ALWAYS, 5, exact=exact) == []
        only = replace(ALWAYS, entity_key="ada")
        assert await store.search_vector(space, (1.0, 0.0), only, 5, exact=False) == []

    async def test_vectors_of_another_length_than_the_spaces_are_refused(
        self, store: Store
    ) -> None:
        space = await filled(store)
        before = (await store.stats(space)).revision
        short = [fact("Max", "KNOWS", "Zoe", embedding=(1.0, 0.0))]
        with pytest.raises(InvalidFieldError):
            await store.add_facts(space, short, OLD)
        with pytest.raises(InvalidFieldError):
            await store.findings.add_findings(space, [finding("Nothing.", embedding=(1.0,))], OLD)
        await store.add_facts(space, [fact("Kim", "KNOWS", "Lou")], "")
        texts = await missing(store, space, OLD)
        with pytest.raises(InvalidFieldError):
            await put(store, space, texts, OLD, (1.0, 0.0))
        assert await store.embeddings.vectors(space) == Vectors(OLD, "", 5, DIMENSION)
        assert (await store.stats(space)).revision == before + 1
        assert (await store.stats(space)).facts == 6

    async def test_a_space_can_change_to_models_of_other_lengths_and_back(
        self, store: Store
    ) -> None:
        space = await filled(store)
        for model, values in ((NEW, (0.0, 1.0)), (OLD, unit(0.0, 1.0)), ("long", spread(1_536, 3))):
            texts = await missing(store, space, model)
            assert await put(store, space, texts, model, values) == 5
            await store.embeddings.activate(space, model)
            assert await store.embeddings.vectors(space) == Vectors(model, "", 5, len(values))
            for exact in (True, False):
                hits = await store.search_vector(space, values, ALWAYS, 9, exact=exact)
                assert [round(hit.score, 2) for hit in hits] == [1.0] * 5

    async def test_only_vectors_of_the_last_stored_length_are_activated(self, store: Store) -> None:
        space = await filled(store)
        texts = await missing(store, space)
        await put(store, space, texts[:3], NEW, (1.0, 0.0, 0.0))
        await put(store, space, texts[3:], NEW, (0.0, 1.0))
        await store.embeddings.activate(space, NEW)
        assert await store.embeddings.vectors(space) == Vectors(NEW, "", 2, 2)
        left = await missing(store, space)
        assert {one.uuid for one in left} == {one.uuid for one in texts[:3]}
        assert await put(store, space, left, NEW, (0.0, 1.0)) == 3
        assert await missing(store, space) == []
