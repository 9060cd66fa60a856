"""Other orders, known times and rare facts in memory."""

from __future__ import annotations

import pytest

from services.graph_query.search.fact_search import SearchStores
from tests.oracles.graph.store import FakeGraphStore
from tests.store_suite.graph.ordering_suite import OrderingSuite, PastSuite, RareSuite


@pytest.fixture
def store() -> SearchStores:
    return FakeGraphStore()


class TestOrdering(OrderingSuite):
    """Orders in memory."""


class TestPast(PastSuite):
    """Known times in memory."""


class TestRare(RareSuite):
    """Rare facts in memory."""
