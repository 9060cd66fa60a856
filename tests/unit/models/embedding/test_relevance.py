"""Score sums are mapped to 0–1 monotonically, and thresholds of a model grow with the size of the space."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.models.embedding.relevance import KNOWN, UNCALIBRATED, Relevance, bend, unbend

SUMS = st.floats(0, 1_000)


@given(SUMS)
def test_a_score_is_between_0_and_1(total: float) -> None:
    assert 0 <= bend(total) <= 1


@given(st.floats(0, 0.8))
def test_small_sums_are_not_changed(total: float) -> None:
    assert bend(total) == total


@given(st.floats(0, 4), st.floats(0, 4))
def test_scores_keep_the_order_of_their_sums(one: float, other: float) -> None:
    smaller, larger = sorted((one, other))
    assert bend(smaller) <= bend(larger)
    if larger - smaller > 1e-6:
        assert bend(smaller) < bend(larger)


@given(st.floats(0, 4))
def test_the_sum_can_be_recovered_from_its_score(total: float) -> None:
    assert unbend(bend(total)) == pytest.approx(total, rel=1e-6)


def test_the_mapping_is_continuous_where_it_begins_to_bend() -> None:
    below, above = bend(0.8), bend(0.8 + 1e-9)
    assert above - below == pytest.approx(1e-9, rel=1e-3)


@pytest.mark.parametrize(
    ("total", "score"),
    [
        (-1.0, 0.0),
        (math.nextafter(0, -1), 0.0),
        (1.0, 1 - 0.2 * math.exp(-1)),
        (1e300, 1.0),
        (math.inf, 1.0),
    ],
)
def test_extreme_sums_have_a_score(total: float, score: float) -> None:
    assert bend(total) == pytest.approx(score)


@pytest.mark.parametrize("score", [1.0, 1.1])
def test_a_full_score_has_a_finite_sum(score: float) -> None:
    assert 4 < unbend(score) < math.inf


@pytest.mark.parametrize(
    ("chunks", "floor"), [(0, 0.30), (1, 0.30), (100, 0.30), (1_000, 0.33), (100_000, 0.39)]
)
def test_the_best_hit_needs_a_higher_score_in_a_larger_space(chunks: int, floor: float) -> None:
    assert KNOWN["all-MiniLM-L6-v2"].match_floor(chunks) == pytest.approx(floor)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_the_threshold_never_decreases_with_the_size_of_the_space(one: int, other: int) -> None:
    scale = Relevance(chunk=0.3, fact=0.4, support=0.5)
    smaller, larger = sorted((one, other))
    assert scale.match_floor(smaller) <= scale.match_floor(larger)


def test_other_hits_need_a_lower_score_than_the_best_hit() -> None:
    scale = Relevance(chunk=0.3, fact=0.4, support=0.5)
    assert scale.list_floor() == pytest.approx(0.25)


def test_an_uncalibrated_model_has_no_thresholds() -> None:
    assert (UNCALIBRATED.match_floor(10**6), UNCALIBRATED.fact) == (0, 0)
    assert UNCALIBRATED.list_floor() == 0
