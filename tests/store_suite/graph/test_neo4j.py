"""Neo4j fulfills the contracts of graph stores."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from deploy.local.stores import LocalStores
from services.graph_query.core.store import GraphStore
from tests.store_suite.graph.corrections_suite import (
    CorrectionSuite,
    SourceSuite,
    WithdrawalSuite,
)
from tests.store_suite.graph.events_suite import EventsSuite
from tests.store_suite.graph.facts_suite import FactsSuite
from tests.store_suite.graph.history_suite import HistorySuite
from tests.store_suite.graph.listing_suite import ListingSuite
from tests.store_suite.graph.mentions_suite import MentionsSuite
from tests.store_suite.graph.neo4j_graph import opened
from tests.store_suite.graph.search_suite import ReadingSuite
from tests.store_suite.graph.spaces_suite import SpacesSuite
from tests.store_suite.graph.structure_suite import StructureSuite
from tests.store_suite.graph.versions_suite import VersionsSuite
from tests.store_suite.graph.writing_suite import WritingSuite


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[GraphStore]:
    async with opened(graph_stores) as found:
        yield found


class TestWriting(WritingSuite):
    """Episodes in Neo4j."""


class TestSpaces(SpacesSuite):
    """Independence of spaces in Neo4j."""


class TestFacts(FactsSuite):
    """Facts in Neo4j."""


class TestReading(ReadingSuite):
    """Reads in Neo4j."""


class TestMentions(MentionsSuite):
    """Contradicted mentions in Neo4j."""


class TestEvents(EventsSuite):
    """Events in Neo4j."""


class TestHistory(HistorySuite):
    """Histories in Neo4j."""


class TestStructure(StructureSuite):
    """Entities, paths and subgraphs in Neo4j."""


class TestVersions(VersionsSuite):
    """Versions of documents in Neo4j."""


class TestListings(ListingSuite):
    """Listings in Neo4j."""


class TestWithdrawals(WithdrawalSuite):
    """Withdrawn facts in Neo4j."""


class TestCorrections(CorrectionSuite):
    """Corrected facts in Neo4j."""


class TestSources(SourceSuite):
    """Sources of facts in Neo4j."""
