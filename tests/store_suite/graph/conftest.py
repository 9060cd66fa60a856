"""Assertion rewriting for the suites, and a driver for direct access to Neo4j."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from neo4j import AsyncDriver

from deploy.local.stores import LocalStores
from tests.store_suite.graph.neo4j_graph import connected

pytest.register_assert_rewrite(
    "tests.store_suite.graph.corrections_suite",
    "tests.store_suite.graph.embedding_suite",
    "tests.store_suite.graph.erasure_suite",
    "tests.store_suite.graph.inventory_suite",
    "tests.store_suite.graph.search_suite",
    "tests.store_suite.graph.writing_suite",
    "tests.store_suite.graph.facts_suite",
    "tests.store_suite.graph.ended_facts_and_extraction_suite",
    "tests.store_suite.graph.mentions_suite",
    "tests.store_suite.graph.events_suite",
    "tests.store_suite.graph.ontology_suite",
    "tests.store_suite.graph.history_suite",
    "tests.store_suite.graph.structure_suite",
    "tests.store_suite.graph.findings_suite",
    "tests.store_suite.graph.reranking_suite",
)


@pytest.fixture
async def driver(graph_stores: LocalStores) -> AsyncIterator[AsyncDriver]:
    """A driver that is independent of the store, for statements that no service runs."""
    async with connected(graph_stores) as found:
        yield found
