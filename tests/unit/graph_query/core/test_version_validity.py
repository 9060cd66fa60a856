"""When passages are valid in documents with several versions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.graph_query.core.intervals import OPEN
from services.graph_query.core.version_validity import ALWAYS, Period, period_of

instants = st.integers(min_value=0, max_value=30).map(float)
moments = st.integers(min_value=-1, max_value=31).map(float)


def test_a_passage_of_no_version_is_valid_until_the_first_version() -> None:
    assert period_of([], []) == ALWAYS
    assert period_of([], [10.0, 20.0]) == Period(-OPEN, 10.0)


def test_a_passage_of_the_latest_version_is_valid_without_an_end() -> None:
    assert period_of([20.0], [10.0, 20.0]) == Period(20.0)


def test_a_passage_kept_by_the_next_version_stays_valid() -> None:
    assert period_of([10.0, 20.0], [10.0, 20.0, 30.0]) == Period(10.0, 30.0)


def test_a_passage_that_returns_in_a_later_version_has_a_gap() -> None:
    period = period_of([10.0, 30.0], [10.0, 20.0, 30.0])
    assert period == Period(10.0, OPEN, (20.0, 30.0))
    assert [period.meets(at, at) for at in (9.0, 10.0, 20.0, 29.0, 30.0)] == [
        False,
        True,
        False,
        False,
        True,
    ]
    assert period.meets(15.0, 25.0)
    assert not period.meets(21.0, 29.0)


@given(st.sets(instants), st.sets(instants), moments)
def test_a_passage_is_valid_while_the_version_in_force_contains_it(
    starts: set[float], others: set[float], at: float
) -> None:
    versions = {*starts, *others}
    in_force = max((one for one in versions if one <= at), default=None)
    valid = in_force in starts if starts else in_force is None
    assert period_of(starts, versions).meets(at, at) == valid


@given(st.sets(instants, min_size=1), st.sets(instants), moments, moments)
def test_a_range_meets_a_period_if_one_of_its_instants_does(
    starts: set[float], others: set[float], one: float, other: float
) -> None:
    since, until = sorted((one, other))
    period = period_of(starts, {*starts, *others})
    halves = [since + n / 2 for n in range(int(2 * (until - since)) + 1)]
    assert period.meets(since, until) == any(period.meets(at, at) for at in halves)
