"""Counting up what a larger store needs from what two smaller ones did."""

from __future__ import annotations

from tests.benchmarks.sizing import counted_up


def test_what_grows_grows_along_the_line_through_both_sizes() -> None:
    assert counted_up({10_000: 200.0, 20_000: 250.0}, 100_000) == 650.0


def test_what_does_not_grow_stays_as_it_was_measured() -> None:
    assert counted_up({10_000: 200.0, 20_000: 180.0}, 100_000) == 180.0
