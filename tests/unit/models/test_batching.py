"""Batches contain every item once and stay within their limits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.models.batching import by_length, by_size

lengths = st.lists(st.integers(1, 300), max_size=80)


@given(lengths=lengths, budget=st.integers(1, 600))
def test_by_length_contains_each_item_once_within_the_padded_budget(
    lengths: list[int], budget: int
) -> None:
    batches = list(by_length(lengths, budget))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[i] for i in batch)
        assert len(batch) == 1 or longest * len(batch) <= budget


@given(lengths=lengths, budget=st.integers(1, 600))
def test_by_length_never_puts_a_longer_item_after_a_shorter_one(
    lengths: list[int], budget: int
) -> None:
    order = [lengths[i] for batch in by_length(lengths, budget) for i in batch]
    assert order == sorted(lengths, reverse=True)


@given(sizes=lengths, count=st.integers(1, 10), total=st.integers(1, 900))
def test_by_size_keeps_the_order_and_both_limits(sizes: list[int], count: int, total: int) -> None:
    parts = list(by_size(sizes, count, total))
    assert [i for part in parts for i in part] == list(range(len(sizes)))
    for part in parts:
        assert 1 <= len(part) <= count
        assert len(part) == 1 or sum(sizes[i] for i in part) <= total
