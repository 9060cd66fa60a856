"""Extrapolating the needs of a larger store from two smaller ones."""

from __future__ import annotations

from tests.benchmarks.sizing import counted_up


def test_a_growing_figure_is_extrapolated_along_the_line_through_both_sizes() -> None:
    assert counted_up({10_000: 200.0, 20_000: 250.0}, 100_000) == 650.0


def test_a_figure_that_does_not_grow_stays_at_its_last_measurement() -> None:
    assert counted_up({10_000: 200.0, 20_000: 180.0}, 100_000) == 180.0
