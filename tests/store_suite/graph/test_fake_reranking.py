"""The in-memory graph fulfills the contracts of reranking, searches as known and rare facts."""

from __future__ import annotations

import pytest

from services.graph_query.search.fact_search import SearchStores
from tests.oracles.graph.store import FakeGraphStore
from tests.store_suite.graph.reranking_suite import OrderingSuite, PastSuite, RareSuite


@pytest.fixture
def store() -> SearchStores:
    return FakeGraphStore()


class TestOrdering(OrderingSuite):
    """Reranking data in memory."""


class TestPast(PastSuite):
    """Searches as known at a time in memory."""


class TestRare(RareSuite):
    """Rare relations in memory."""
