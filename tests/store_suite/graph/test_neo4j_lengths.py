"""Vectors of a next model whose length was not recorded take over all the same."""

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


async def test_vectors_that_were_laid_beside_before_lengths_were_noted_take_over(
    store: Neo4jStore, driver: AsyncDriver
) -> None:
    space = await filled(store)
    await driver.execute_query(
        "MATCH ()-[e:RELATES_TO {group_id: $space}]->() SET e.next_model = 'new', e.next_embedding = [0.6, 0.8]",
        space=space,
    )
    await store.embeddings.activate(space, "new")
    assert await store.embeddings.vectors(space) == ("new", "", 5, 2)
