"""The in-memory store fulfills the contracts that its users rely on."""

from __future__ import annotations

import pytest

from services.vector_search.store import VectorStore
from tests.oracles.vector.store import FakeStore
from tests.store_suite.vector.endings_suite import EndingsSuite
from tests.store_suite.vector.scores_suite import ScoresSuite
from tests.store_suite.vector.searching_suite import SearchingSuite
from tests.store_suite.vector.text_search_suite import WordsSuite
from tests.store_suite.vector.writing_suite import WritingSuite


@pytest.fixture
def store() -> VectorStore:
    return FakeStore()


class TestWriting(WritingSuite):
    """Writes in memory."""


class TestEndings(EndingsSuite):
    """Ends in memory."""


class TestSearching(SearchingSuite):
    """Searches in memory."""


class TestScores(ScoresSuite):
    """Scores in memory."""


class TestWords(WordsSuite):
    """Searches by words in memory."""
