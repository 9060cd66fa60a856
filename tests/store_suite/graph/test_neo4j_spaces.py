"""Two spaces in one Neo4j that use the same ids do not affect each other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from deploy.local.stores import LocalStores
from services.graph_query.core.domain import Passage
from services.graph_query.findings.domain import GivenFinding
from services.graph_query.neo4j_store import Neo4jStore
from tests.store_suite.graph.builders import fact, new_space, passage
from tests.store_suite.graph.findings_suite import finding
from tests.store_suite.graph.neo4j_graph import dump, opened

TEXT = "Lothair II was a son of Ermengarde of Tours. He was married to Teutberga."


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    async with opened(graph_stores) as found:
        yield found


async def fill(store: Neo4jStore, space: str, texts: list[Passage], found: GivenFinding) -> None:
    await store.add_episodes(space, texts)
    stated = fact("Lothair II", "MARRIED", "Teutberga", document_id="d1")
    await store.add_facts(space, [stated], "")
    await store.findings.add_findings(space, [found], "")


async def test_writes_and_deletions_in_one_space_leave_the_others_graph_unchanged(
    graph_stores: LocalStores, store: Neo4jStore
) -> None:
    ours, theirs = new_space(), new_space()
    texts = [passage(ours, "d1", "Lothair II", TEXT), passage(ours, "d2", "Teutberga", "A queen.")]
    found = finding("It is known", episodes=tuple(one.uuid for one in texts))
    await fill(store, ours, texts, found)
    before = await dump(graph_stores, ours)
    await fill(store, theirs, texts, found)
    await store.add_episodes(theirs, [replace(texts[0], content="He met Karl Otto in Tours.")])
    await store.delete_episodes(theirs, [texts[1].uuid])
    await store.delete_episodes(theirs, [texts[0].uuid])
    assert await dump(graph_stores, ours) == before
    assert await store.inventory.find_episodes(theirs, [one.uuid for one in texts]) == []
    assert len(await store.inventory.find_episodes(ours, [one.uuid for one in texts])) == 2
    uuids = (await store.findings.add_findings(ours, [found], "")).uuids
    (kept,) = (await store.findings.findings(ours, uuids)).values()
    assert {cited.chunk_id for cited in kept.citations} == {one.uuid for one in texts}
    gone = await dump(graph_stores, theirs)
    assert (gone.mentions, gone.sentences, gone.entities, gone.facts) == (set(), set(), {}, {})
