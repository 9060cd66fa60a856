"""PostgreSQL fulfills the contracts of vector stores."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.vector_search.store import VectorStore
from tests.store_suite.vector.endings_suite import EndingsSuite
from tests.store_suite.vector.inventory_suite import InventorySuite
from tests.store_suite.vector.scores_suite import ScoresSuite
from tests.store_suite.vector.searching_suite import SearchingSuite
from tests.store_suite.vector.text_search_suite import WordsSuite
from tests.store_suite.vector.writing_suite import WritingSuite
from tests.stores import TestDatabase, open_vector_store


@pytest.fixture
async def store(vector_database: TestDatabase) -> AsyncIterator[VectorStore]:
    async with open_vector_store(vector_database) as opened:
        yield opened


class TestWriting(WritingSuite):
    """Writes in PostgreSQL."""


class TestEndings(EndingsSuite):
    """Ends in PostgreSQL."""


class TestSearching(SearchingSuite):
    """Searches in PostgreSQL."""


class TestScores(ScoresSuite):
    """Scores in PostgreSQL."""


class TestWords(WordsSuite):
    """Searches by words in PostgreSQL."""


class TestInventory(InventorySuite):
    """Ids and deletions in PostgreSQL."""
