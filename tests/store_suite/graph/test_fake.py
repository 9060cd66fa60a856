"""The in-memory graph fulfills the contracts that its users rely on."""

from __future__ import annotations

import pytest

from services.graph_query.core.store import GraphStore
from tests.oracles.graph.store import FakeGraphStore
from tests.store_suite.graph.corrections_suite import (
    CorrectionSuite,
    SourceSuite,
    WithdrawalSuite,
)
from tests.store_suite.graph.facts_suite import FactsSuite
from tests.store_suite.graph.history_suite import HistorySuite
from tests.store_suite.graph.listing_suite import ListingSuite
from tests.store_suite.graph.search_suite import ReadingSuite
from tests.store_suite.graph.spaces_suite import SpacesSuite
from tests.store_suite.graph.versions_suite import VersionsSuite
from tests.store_suite.graph.writing_suite import WritingSuite


@pytest.fixture
def store() -> GraphStore:
    return FakeGraphStore()


class TestWriting(WritingSuite):
    """Episodes in memory."""


class TestSpaces(SpacesSuite):
    """Independence of spaces in memory."""


class TestFacts(FactsSuite):
    """Facts in memory."""


class TestReading(ReadingSuite):
    """Reads in memory."""


class TestHistory(HistorySuite):
    """Histories in memory."""


class TestVersions(VersionsSuite):
    """Versions of documents in memory."""


class TestListings(ListingSuite):
    """Listings in memory."""


class TestWithdrawals(WithdrawalSuite):
    """Withdrawn facts in memory."""


class TestCorrections(CorrectionSuite):
    """Corrected facts in memory."""


class TestSources(SourceSuite):
    """Sources of facts in memory."""
