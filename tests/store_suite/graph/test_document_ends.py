"""Documents that end in Neo4j: their sentences hold only before, whatever is written first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from deploy.local.stores import LocalStores
from services.graph_query.neo4j_store import Neo4jStore
from tests.store_suite.graph.builders import ALWAYS, at, day, new_space, passage
from tests.store_suite.graph.neo4j_graph import opened
from tests.store_suite.graph.versions_suite import (
    ADA,
    BERTA,
    FIRST,
    SECOND,
    TEAM,
    THIRD,
    bare,
    parts,
    texts,
)


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    async with opened(graph_stores) as found:
        yield found


async def end(store: Neo4jStore, space: str, when: str, document_id: str = "d") -> None:
    await store.inventory.end_document(space, document_id, day(when).timestamp())


async def test_sentences_of_an_ended_document_hold_only_before_its_end(store: Neo4jStore) -> None:
    space = new_space()
    other = replace(passage(space, "e", "Status", TEAM), version_time=day(FIRST))
    await store.add_episodes(space, [*parts(space, FIRST, ADA), other])
    await end(store, space, SECOND)
    assert await texts(store, space, at("2020-06-01")) == [ADA, TEAM]
    assert await texts(store, space, at(SECOND)) == [TEAM]
    assert await texts(store, space, ALWAYS) == [ADA, TEAM]


async def test_a_later_version_continues_an_ended_document(store: Neo4jStore) -> None:
    space = new_space()
    await store.add_episodes(space, parts(space, FIRST, ADA))
    await end(store, space, SECOND)
    await store.add_episodes(space, parts(space, THIRD, ADA, BERTA))
    assert await texts(store, space, at("2020-06-01")) == [ADA]
    assert await texts(store, space, at("2021-06-01")) == []
    assert await texts(store, space, at(THIRD)) == [ADA, BERTA]


async def test_a_version_that_arrives_late_ends_as_well(store: Neo4jStore) -> None:
    space = new_space()
    await store.add_episodes(space, parts(space, FIRST, ADA))
    await end(store, space, THIRD)
    await store.add_episodes(space, parts(space, SECOND, BERTA))
    assert await texts(store, space, at("2020-06-01")) == [ADA]
    assert await texts(store, space, at("2021-06-01")) == [BERTA]
    assert await texts(store, space, at(THIRD)) == []


async def test_passages_without_a_version_end_as_well(store: Neo4jStore) -> None:
    space = new_space()
    await store.add_episodes(space, bare(space, ADA))
    await end(store, space, SECOND)
    assert await texts(store, space, at(FIRST)) == [ADA]
    assert await texts(store, space, at(SECOND)) == []


async def test_ending_a_document_again_or_an_unknown_one_changes_nothing(store: Neo4jStore) -> None:
    space = new_space()
    await store.add_episodes(space, parts(space, FIRST, ADA))
    await end(store, space, SECOND)
    found = await store.search_words(space, [], [], ALWAYS, 1)
    await end(store, space, SECOND)
    await end(store, space, SECOND, "unknown")
    await end(store, new_space(), SECOND)
    assert await store.search_words(space, [], [], ALWAYS, 1) == found
    assert await texts(store, space, at("2020-06-01")) == [ADA]
    assert await store.inventory.list_documents(space, "", 9) == ["d"]


async def test_a_deleted_document_forgets_that_it_had_ended(store: Neo4jStore) -> None:
    space = new_space()
    await store.add_episodes(space, parts(space, FIRST, ADA))
    await end(store, space, SECOND)
    await store.inventory.delete_document(space, "d", "11111111-1111-4111-8111-111111111112")
    await store.add_episodes(space, parts(space, FIRST, ADA))
    assert await texts(store, space, at(SECOND)) == [ADA]
