"""The in-memory graph fulfills the contract of findings."""

from __future__ import annotations

import pytest

from tests.oracles.graph.store import FakeGraphStore
from tests.store_suite.graph.findings_suite import FindingsSuite, Graph


@pytest.fixture
def store() -> Graph:
    return FakeGraphStore()


class TestFindings(FindingsSuite):
    """Findings in memory."""
