"""Both stores fulfill the contract of embeddings; Neo4j also resumes interrupted changes of the model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from hashlib import sha256

import pytest

from deploy.local.stores import LocalStores
from services.graph_query.core.domain import FIRST
from services.graph_query.core.store import SpaceState
from services.graph_query.embeddings import neo4j_store
from services.graph_query.embeddings.domain import TextKind, TextVector, Vectors
from services.graph_query.embeddings.space_models import SpaceModels
from services.graph_query.findings.domain import FindingFilter
from services.graph_query.neo4j_store import Neo4jStore
from services.graph_query.search.as_known import Known
from services.runtime.errors import OverloadedError, StoreUnavailableError
from tests.oracles.graph.store import FakeGraphStore
from tests.store_suite.graph.builders import ALWAYS, DIMENSION, day, fact, new_space, unit
from tests.store_suite.graph.embedding_suite import (
    NEW,
    OLD,
    EmbeddingSuite,
    Store,
    filled,
    missing,
    near,
    put,
)
from tests.store_suite.graph.findings_suite import finding
from tests.store_suite.graph.neo4j_graph import connected, opened
from tests.stubs.embedders import StubEmbedder


class TestFake(EmbeddingSuite):
    """Vectors in memory."""

    @pytest.fixture
    def store(self) -> Store:
        return FakeGraphStore()


class TestNeo4j(EmbeddingSuite):
    """Vectors in Neo4j."""

    @pytest.fixture
    async def store(self, graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
        async with opened(graph_stores) as found:
            yield found

    async def test_an_interrupted_change_resumes_and_writes_of_vectors_are_refused_until_then(
        self, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        space = await filled(store)
        await put(store, space, await missing(store, space))
        monkeypatch.setattr(neo4j_store, "AT_ONCE", 2)
        moves = store.embeddings._move
        left = 2

        async def failing(space: str, kind: TextKind, model: str) -> bool:
            nonlocal left
            left -= 1
            if left < 0:
                raise StoreUnavailableError("neo4j")
            return await moves(space, kind, model)

        monkeypatch.setattr(store.embeddings, "_move", failing)
        with pytest.raises(StoreUnavailableError):
            await store.embeddings.activate(space, NEW)
        assert await store.embeddings.vectors(space) == Vectors("", NEW, 5)
        with pytest.raises(OverloadedError):
            await store.add_facts(space, [fact("Max", "KNOWS", "Zoe", embedding=unit(1.0))], NEW)
        with pytest.raises(OverloadedError):
            await SpaceModels(store.embeddings, StubEmbedder(NEW, DIMENSION)).embedder(space)
        assert await store.known(space, NEW).facts_like(unit(1.0), 5, 0.0) == []
        await store.add_facts(space, [fact("Ann", "KNOWS", "Zoe")], "")
        left = 100
        await store.embeddings.activate(space, NEW)
        assert await store.embeddings.vectors(space) == Vectors(NEW, "", 5, DIMENSION)
        assert await near(store, space, 0.0, 1.0) == [1.0] * 5
        assert [one.text for one in await missing(store, space)] == ["Ann knows Zoe"]

    async def test_facts_with_any_start_are_moved_exactly_once_across_pages(
        self, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        space = new_space()
        starts = [None] * 4 + [day("1066-10-14")] * 3 + [day("1999-12-31")]
        rows = [
            fact(f"Name {n}", "KNOWS", "Zoe", valid_at=since, embedding=unit(1.0))
            for n, since in enumerate(starts)
        ]
        await store.add_facts(space, rows, OLD)
        texts = await missing(store, space)
        assert await put(store, space, texts, NEW, (0.6, 0.8)) == len(rows)
        monkeypatch.setattr(neo4j_store, "AT_ONCE", 3)
        await store.embeddings.activate(space, NEW)
        assert await store.embeddings.vectors(space) == Vectors(NEW, "", len(rows), 2)
        hits = await store.search_vector(space, (0.6, 0.8), ALWAYS, 20, exact=True)
        assert [round(hit.score, 2) for hit in hits] == [1.0] * len(rows)

    async def test_a_late_second_activation_keeps_the_activated_vectors(
        self, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        space = await filled(store)
        await put(store, space, await missing(store, space))
        before = await store.embeddings.vectors(space)
        await store.embeddings.activate(space, NEW)
        current = store.embeddings.vectors

        async def stale(space: str) -> Vectors:
            return before

        monkeypatch.setattr(store.embeddings, "vectors", stale)
        await store.embeddings.activate(space, NEW)
        assert await current(space) == Vectors(NEW, "", 5, DIMENSION)
        assert await near(store, space, 0.0, 1.0) == [1.0] * 5

    async def test_concurrent_activations_move_every_vector_once(
        self, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        space = await filled(store)
        await put(store, space, await missing(store, space))
        monkeypatch.setattr(neo4j_store, "AT_ONCE", 2)
        await asyncio.gather(*(store.embeddings.activate(space, NEW) for _ in range(4)))
        assert await store.embeddings.vectors(space) == Vectors(NEW, "", 5, DIMENSION)
        assert await near(store, space, 0.0, 1.0) == [1.0] * 5

    async def test_an_activation_overtaken_by_another_erases_no_vectors(
        self, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        space = await filled(store)
        await put(store, space, await missing(store, space))
        moves = store.embeddings._move

        async def overtaken(space: str, kind: TextKind, model: str) -> bool:
            monkeypatch.setattr(store.embeddings, "_move", moves)
            await store.embeddings.activate(space, model)
            return await moves(space, kind, model)

        monkeypatch.setattr(store.embeddings, "_move", overtaken)
        await store.embeddings.activate(space, NEW)
        assert await store.embeddings.vectors(space) == Vectors(NEW, "", 5, DIMENSION)
        assert await near(store, space, 0.0, 1.0) == [1.0] * 5

    async def test_a_name_respelled_during_the_change_is_not_skipped(
        self, store: Neo4jStore, graph_stores: LocalStores, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        space = await filled(store)
        await _name_vectors(graph_stores, space, "SET n.name_embedding = [1.0, 0.0]")
        texts = await store.embeddings.unembedded(space, TextKind.NAME, NEW, FIRST, 1)
        place = texts[0].place
        assert place == (FIRST[0], texts[0].uuid)
        texts += await store.embeddings.unembedded(space, TextKind.NAME, NEW, place, 1)
        vectors = [
            TextVector(one.uuid, sha256(one.text.encode()).hexdigest(), (0.0, 1.0)) for one in texts
        ]
        await store.embeddings.put_vectors(space, TextKind.NAME, NEW, vectors)
        monkeypatch.setattr(neo4j_store, "AT_ONCE", 1)
        moves = store.embeddings._move

        async def respelt(space: str, kind: TextKind, model: str) -> bool:
            more = await moves(space, kind, model)
            await _name_vectors(graph_stores, space, "SET n.name = ' ' + n.name", among="true")
            return more

        monkeypatch.setattr(store.embeddings, "_move", respelt)
        await store.embeddings.activate(space, NEW)
        text = "AND n.name_embedding IS NOT NULL RETURN n.name_embedding AS vector"
        found = await _name_vectors(graph_stores, space, text, among="true")
        assert found == [[0.0, 1.0]] * 2

    async def test_vectors_of_names_change_to_the_new_model_too(
        self, store: Neo4jStore, graph_stores: LocalStores
    ) -> None:
        space = await filled(store)
        await _name_vectors(graph_stores, space, "SET n.name_embedding = [1.0, 0.0]")
        texts = await store.embeddings.unembedded(space, TextKind.NAME, NEW, FIRST, 10)
        assert sorted(one.text for one in texts) == ["Ada", "Bob"]
        vectors = [
            TextVector(one.uuid, sha256(one.text.encode()).hexdigest(), (0.0, 1.0)) for one in texts
        ]
        assert await store.embeddings.put_vectors(space, TextKind.NAME, NEW, vectors) == 2
        await store.embeddings.activate(space, NEW)
        text = "RETURN n.name_embedding AS vector"
        assert await _name_vectors(graph_stores, space, text) == [[0.0, 1.0]] * 2

    async def test_searches_during_a_change_skip_vectors_of_another_length(
        self, store: Neo4jStore, graph_stores: LocalStores, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        space = await filled(store)
        rows = [finding(f"F{n}", embedding=unit(1.0)) for n in range(4)]
        await store.findings.add_findings(space, rows, OLD)
        await _name_vectors(graph_stores, space, f"SET n.name_embedding = {list(unit(1.0))}")
        await put_next_vectors(store, space, (0.0, 1.0))
        monkeypatch.setattr(neo4j_store, "AT_ONCE", 2)
        moves = store.embeddings._move
        seen = []

        async def observed(space: str, kind: TextKind, model: str) -> bool:
            more = await moves(space, kind, model)
            seen.append([await found(store, space, vector) for vector in (unit(1.0), (0.0, 1.0))])
            return more

        monkeypatch.setattr(store.embeddings, "_move", observed)
        await store.embeddings.activate(space, NEW)
        assert seen[0] == [(3, 4, 2), (2, 0, 0)]
        assert seen[-1] == [(0, 0, 0), (5, 4, 2)]
        assert all(old[0] + new[0] == 5 and old[1] + new[1] == 4 for old, new in seen)
        assert await store.embeddings.vectors(space) == Vectors(NEW, "", 9, 2)


async def put_next_vectors(store: Neo4jStore, space: str, values: Sequence[float]) -> None:
    """Stores vectors of the new model for every text that has a vector."""
    for kind in TextKind:
        texts = await store.embeddings.unembedded(space, kind, NEW, FIRST, 100)
        vectors = [
            TextVector(one.uuid, sha256(one.text.encode()).hexdigest(), values) for one in texts
        ]
        assert await store.embeddings.put_vectors(space, kind, NEW, vectors) == len(texts)


async def found(store: Neo4jStore, space: str, vector: Sequence[float]) -> tuple[int, int, int]:
    """Counts the facts, findings and names that are similar to a vector; all kinds of search must agree."""
    state = SpaceState(1, 5, NEW)
    past = Known(ALWAYS, (await store.stats(space)).last_write.timestamp(), 9)  # type: ignore[union-attr]
    of_zoe = replace(ALWAYS, entity_key="zoe")
    facts = {
        len(await store.search_vector(space, vector, ALWAYS, 9, exact=True)),
        len(await store.search_vector(space, vector, ALWAYS, 9, exact=False)),
        len(await store.search_vector(space, vector, of_zoe, 9, exact=True)),
        len(
            await store.search_vector(
                space, vector, replace(ALWAYS, relation="knows"), 9, exact=False
            )
        ),
        len((await store.as_known.search_vector_known(space, vector, past, state))[0]),
    }
    findings = {
        len(await store.findings.findings_by_vector(space, vector, FindingFilter(), 9, exact=exact))
        for exact in (True, False)
    }
    parameters = {"space": space, "vector": list(vector), "limit": 9, "least": 0.0}
    names = {
        len(await store._database.read(query, **parameters))
        for query in ("known_by_index", "known_by_comparison")
    }
    [fact_count], [finding_count], [name_count] = facts, findings, names
    return fact_count, finding_count, name_count


async def _name_vectors(
    stores: LocalStores, space: str, what: str, among: str = "n.name IN ['Ada', 'Bob']"
) -> list[list[float]]:
    """Runs a clause on entities: by default two, which become like entities described by a language model."""
    query = f"MATCH (n:Entity {{group_id: $space}}) WHERE {among} {what}"
    async with connected(stores) as driver:
        result = await driver.execute_query(query, space=space)
        return [list(record["vector"]) for record in result.records]
