"""The suites' assertions are told in full when they fail, like those of test modules."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    "tests.store_suite.vector.inventory_suite",
    "tests.store_suite.vector.scores_suite",
    "tests.store_suite.vector.searching_suite",
    "tests.store_suite.vector.words_suite",
    "tests.store_suite.vector.writing_suite",
)
