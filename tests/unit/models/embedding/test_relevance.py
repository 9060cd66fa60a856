"""Scores are bent into 0–1 in one order, and a model's floors follow the size of the space."""

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
def test_small_sums_are_their_own_scores(total: float) -> None:
    assert bend(total) == total


@given(st.floats(0, 4), st.floats(0, 4))
def test_scores_have_the_order_of_their_sums(one: float, other: float) -> None:
    smaller, larger = sorted((one, other))
    assert bend(smaller) <= bend(larger)
    if larger - smaller > 1e-6:
        assert bend(smaller) < bend(larger)


@given(st.floats(0, 4))
def test_a_score_tells_the_sum_it_was_made_of(total: float) -> None:
    assert unbend(bend(total)) == pytest.approx(total, rel=1e-6)


def test_the_bend_begins_without_a_step() -> None:
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
def test_what_is_no_usual_sum_has_a_score(total: float, score: float) -> None:
    assert bend(total) == pytest.approx(score)


@pytest.mark.parametrize("score", [1.0, 1.1])
def test_a_full_score_has_a_finite_sum(score: float) -> None:
    assert 4 < unbend(score) < math.inf


@pytest.mark.parametrize(
    ("chunks", "floor"), [(0, 0.30), (1, 0.30), (100, 0.30), (1_000, 0.33), (100_000, 0.39)]
)
def test_the_best_hit_needs_more_in_a_larger_space(chunks: int, floor: float) -> None:
    assert KNOWN["all-MiniLM-L6-v2"].match_floor(chunks) == pytest.approx(floor)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_the_floor_never_falls_with_the_space(one: int, other: int) -> None:
    scale = Relevance(chunk=0.3, fact=0.4, support=0.5)
    smaller, larger = sorted((one, other))
    assert scale.match_floor(smaller) <= scale.match_floor(larger)


def test_other_hits_need_less_than_the_best_of_a_small_space() -> None:
    scale = Relevance(chunk=0.3, fact=0.4, support=0.5)
    assert scale.list_floor() == pytest.approx(0.25)


def test_a_model_that_nothing_is_known_of_has_no_floors() -> None:
    assert (UNCALIBRATED.match_floor(10**6), UNCALIBRATED.fact) == (0, 0)
    assert UNCALIBRATED.list_floor() == 0
