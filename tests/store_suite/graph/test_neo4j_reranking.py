"""Neo4j fulfills the contracts of reranking, searches as known and rare facts."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from deploy.local.stores import LocalStores
from services.graph_query.search import neo4j_store as neo4j_search
from services.graph_query.search.fact_search import SearchStores
from tests.store_suite.graph.builders import ALWAYS, at, day, fact, new_space
from tests.store_suite.graph.neo4j_graph import opened
from tests.store_suite.graph.reranking_suite import OrderingSuite, PastSuite, RareSuite


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[SearchStores]:
    async with opened(graph_stores) as found:
        yield found


class TestOrdering(OrderingSuite):
    """Reranking data in Neo4j."""


class TestPast(PastSuite):
    """Searches as known at a time in Neo4j."""


class TestRare(RareSuite):
    """Rare facts in Neo4j, also beyond the first fetch."""

    async def test_a_match_beyond_the_first_fetch_is_found(
        self, store: SearchStores, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(neo4j_search, "_FETCH", 10)
        monkeypatch.setattr(neo4j_search, "_FETCH_BEYOND", (10, 1_000))
        space = new_space()
        past = [
            fact("Anna Bell", "SANG", f"Song {n}", fact="Anna sang", invalid_at=day("2000-01-01"))
            for n in range(50)
        ]
        now = fact("Anna Bell", "SANG", "Hymn", fact="Anna sang somewhere far from home")
        await store.add_facts(space, [*past, now], "")
        found = await store.search_words(space, ["anna", "sang"], [], at("2021-01-01"), 5)
        (best,) = (await store.facts(space, [hit.uuid for hit in found.text])).values()
        assert best.target.name == "Hymn"
        everything = await store.search_words(space, ["anna", "sang"], [], ALWAYS, 5)
        assert len(everything.text) == 25
