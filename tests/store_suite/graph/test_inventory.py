"""Neo4j fulfills the contracts of inventory and erasure, and finds entities without connections."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from deploy.local.stores import LocalStores
from services.graph_query.core.domain import FIRST
from services.graph_query.neo4j_store import Neo4jStore
from tests.store_suite.graph.builders import fact, new_space
from tests.store_suite.graph.erasure_suite import ErasureSuite
from tests.store_suite.graph.inventory_suite import InventorySuite
from tests.store_suite.graph.neo4j_graph import connected, opened

_STRAY = """CREATE (:Entity {uuid: $uuid, group_id: $space, name: 'Stray'})
CREATE (:EntityName {entity_uuid: $uuid, group_id: $space, name_key: 'stray', type: ''})"""
UUID = "11111111-1111-4111-8111-111111111111"


class TestNeo4j(InventorySuite, ErasureSuite):
    """Inventory and erasure in Neo4j."""

    @pytest.fixture
    async def store(self, graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
        async with opened(graph_stores) as found:
            yield found

    async def test_an_entity_without_connections_is_found_and_deleted(
        self, store: Neo4jStore, graph_stores: LocalStores
    ) -> None:
        space = new_space()
        await store.add_facts(space, [fact("Ada", "KNOWS", "Bob")], "")
        await run(graph_stores, _STRAY, space)
        page = await store.inventory.unjoined_entities(space, FIRST, 10)
        assert page.unjoined == [(UUID, "Stray")]
        assert await store.inventory.delete_unjoined(new_space(), [UUID]) == 0
        assert await store.inventory.delete_unjoined(space, [UUID]) == 1
        assert (await store.inventory.unjoined_entities(space, FIRST, 10)).unjoined == []


async def run(stores: LocalStores, query: str, space: str) -> None:
    """Runs a statement that no service runs."""
    async with connected(stores) as driver:
        await driver.execute_query(query, space=space, uuid=UUID)
