"""Assertion rewriting for the suites, so that their failures are reported in full."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    "tests.store_suite.vector.inventory_suite",
    "tests.store_suite.vector.scores_suite",
    "tests.store_suite.vector.searching_suite",
    "tests.store_suite.vector.text_search_suite",
    "tests.store_suite.vector.writing_suite",
)
