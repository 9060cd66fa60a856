"""Metrics of ranked lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.metrics import is_limit_stable, reciprocal_rank, share


@pytest.mark.parametrize(
    ("matches", "expected"),
    [([True, False], 1.0), ([False, False, True, True], 1 / 3), ([False], 0.0), ([], 0.0)],
)
def test_the_reciprocal_rank_counts_only_the_first_match(
    matches: list[bool], expected: float
) -> None:
    assert reciprocal_rank(matches) == expected


@given(st.lists(st.text(max_size=3), unique=True), st.sets(st.integers(1, 20), min_size=1))
def test_prefixes_of_one_list_are_stable(ids: list[str], limits: set[int]) -> None:
    assert is_limit_stable({limit: ids[:limit] for limit in limits})


@pytest.mark.parametrize(
    "lists",
    [
        {1: ["b"], 3: ["a", "b", "c"]},
        {2: ["a"], 3: ["a", "b", "c"]},
        {2: ["a", "b", "c"], 3: ["a", "b", "c"]},
        {1: [], 3: ["a"]},
        {1: ["a"], 3: []},
    ],
    ids=["another first", "too short", "too long", "none at first", "none at last"],
)
def test_a_list_that_is_not_a_prefix_of_the_longest_is_not_stable(
    lists: dict[int, list[str]],
) -> None:
    assert not is_limit_stable(lists)


def test_a_share_is_in_percent() -> None:
    assert share([True, False, False, False]) == 25


def test_the_share_of_an_empty_list_is_rejected() -> None:
    with pytest.raises(ValueError, match="no values"):
        share([])
