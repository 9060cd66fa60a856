"""Facts' vectors as they change from model to model: what both stores promise."""

from __future__ import annotations

from hashlib import sha256
from typing import Protocol

import pytest

from services.graph_query.embeddings.store import (
    EmbeddingStore,
    Text,
    TextKind,
    TextVector,
    Vectors,
)
from services.graph_query.positions import FIRST
from services.graph_query.store import GraphStore
from services.runtime.errors import WrongStateError
from tests.store_suite.graph.builders import ALWAYS, day, fact, new_space, unit

OLD, NEW = "old", "new"
FACTS = ("Ada", "Bob", "Eve", "Kim", "Lou")


class Store(GraphStore, Protocol):
    """The graph with its vectors."""

    @property
    def embeddings(self) -> EmbeddingStore: ...


async def filled(store: Store) -> str:
    """A space with five facts, each with a vector of the old model."""
    space = new_space()
    facts = [fact(name, "KNOWS", "Zoe", embedding=unit(1.0)) for name in FACTS]
    await store.add_facts(space, facts, OLD)
    return space


async def missing(store: Store, space: str, model: str = NEW) -> list[Text]:
    """Facts without a vector of a model."""
    return await store.embeddings.unembedded(space, TextKind.FACT, model, FIRST, 100)


async def put(store: Store, space: str, texts: list[Text], model: str = NEW) -> int:
    """Gives facts a vector that points elsewhere than the old ones."""
    vectors = [
        TextVector(one.uuid, sha256(one.text.encode()).hexdigest(), unit(0.0, 1.0)) for one in texts
    ]
    return await store.embeddings.put_vectors(space, TextKind.FACT, model, vectors)


async def near(store: Store, space: str, *values: float) -> list[float]:
    """Cosines of the facts with a direction, best first."""
    hits = await store.search_vector(space, unit(*values), ALWAYS, 10, exact=True)
    return [round(hit.score, 2) for hit in hits]


class EmbeddingSuite:
    """What every store promises of vectors."""

    async def test_texts_without_a_vector_of_a_model_are_listed_in_pages(
        self, store: Store
    ) -> None:
        space = await filled(store)
        page = await store.embeddings.unembedded(space, TextKind.FACT, NEW, FIRST, 3)
        rest = await store.embeddings.unembedded(space, TextKind.FACT, NEW, page[-1].place, 3)
        assert sorted(one.text for one in (*page, *rest)) == [f"{x} knows Zoe" for x in FACTS]
        assert await missing(store, space, OLD) == []
        assert await missing(store, new_space()) == []

    async def test_pages_hold_each_text_once_whenever_its_fact_begins(self, store: Store) -> None:
        space = new_space()
        begun = (None, day("1066-10-14"), day("1999-12-31"), day("2020-02-29"), day("1999-12-31"))
        ends = zip(FACTS, begun, strict=True)
        told = [fact(name, "KNOWS", "Zoe", valid_at=since) for name, since in ends]
        await store.add_facts(space, told, "")
        texts, place = [], FIRST
        while page := await store.embeddings.unembedded(space, TextKind.FACT, NEW, place, 1):
            texts.append(page[0].text)
            place = page[0].place
        assert sorted(texts) == [f"{name} knows Zoe" for name in FACTS]

    async def test_vectors_laid_beside_those_in_use_change_no_search(self, store: Store) -> None:
        space = await filled(store)
        assert await put(store, space, await missing(store, space)) == 5
        assert await missing(store, space) == []
        assert await near(store, space, 1.0) == [1.0] * 5
        assert await store.embeddings.vectors(space) == Vectors(OLD, "", 5)

    async def test_the_new_model_takes_over_with_its_vectors(self, store: Store) -> None:
        space = await filled(store)
        await put(store, space, await missing(store, space))
        await store.embeddings.activate(space, NEW)
        assert await store.embeddings.vectors(space) == Vectors(NEW, "", 5)
        assert await near(store, space, 0.0, 1.0) == [1.0] * 5
        assert await near(store, space, 1.0) == [0.0] * 5
        with pytest.raises(WrongStateError):
            await store.add_facts(space, [fact("Max", "KNOWS", "Zoe", embedding=unit(1.0))], OLD)

    async def test_facts_written_meanwhile_are_without_a_vector_until_one_is_put(
        self, store: Store
    ) -> None:
        space = await filled(store)
        await put(store, space, await missing(store, space))
        await store.add_facts(space, [fact("Max", "KNOWS", "Zoe", embedding=unit(1.0))], OLD)
        await store.embeddings.activate(space, NEW)
        assert await store.embeddings.vectors(space) == Vectors(NEW, "", 5)
        left = await missing(store, space)
        assert [one.text for one in left] == ["Max knows Zoe"]
        assert await put(store, space, left) == 1
        assert await missing(store, space) == []
        assert await store.embeddings.vectors(space) == Vectors(NEW, "", 6)
        assert await near(store, space, 0.0, 1.0) == [1.0] * 6

    async def test_vectors_of_another_text_or_of_no_fact_are_left_out(self, store: Store) -> None:
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
