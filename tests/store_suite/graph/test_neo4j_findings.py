"""Neo4j fulfills the contract of findings."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from deploy.local.stores import LocalStores
from tests.store_suite.graph.findings_suite import FindingsSuite, Graph
from tests.store_suite.graph.neo4j_graph import opened


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[Graph]:
    async with opened(graph_stores) as found:
        yield found


class TestFindings(FindingsSuite):
    """Findings in Neo4j."""
