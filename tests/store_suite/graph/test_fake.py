"""The in-memory graph keeps the promises that its users rely on."""

from __future__ import annotations

import pytest

from services.graph_query.fake import FakeGraphStore
from services.graph_query.store import GraphStore
from tests.store_suite.graph.facts_suite import FactsSuite
from tests.store_suite.graph.reading_suite import ReadingSuite
from tests.store_suite.graph.writing_suite import WritingSuite


@pytest.fixture
def store() -> GraphStore:
    return FakeGraphStore()


class TestWriting(WritingSuite):
    """Episodes in memory."""


class TestFacts(FactsSuite):
    """Facts in memory."""


class TestReading(ReadingSuite):
    """Reads in memory."""
