"""A change to vectors whose length was not recorded."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from neo4j import AsyncDriver

from deploy.local.stores import LocalStores
from services.graph_query.neo4j_store import Neo4jStore
from tests.store_suite.graph.embedding_suite import filled
from tests.store_suite.graph.neo4j_graph import opened


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    async with opened(graph_stores) as found:
        yield found


async def test_vectors_of_the_next_model_without_a_recorded_length_are_activated(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space = await filled(store)
    await driver.execute_query(
        "MATCH ()-[e:RELATES_TO {group_id: $space}]->() SET e.next_model = 'new', e.next_embedding = [0.6, 0.8]",
        space=space,
    )
    await store.embeddings.activate(space, "new")
    assert await store.embeddings.vectors(space) == ("new", "", 5, 2)
