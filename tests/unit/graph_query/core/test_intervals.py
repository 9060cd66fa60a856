"""Half-open ranges and years, exact for every date from year 1 to 9999."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.graph_query.core.intervals import OPEN, end_of, range_bounds, start_of
from services.graph_query.history.domain import EntityHistory, FactSummary
from services.graph_query.history.summary import summarize

_DATES = st.datetimes(timezones=st.just(UTC))


@given(_DATES)
def test_a_start_at_the_end_of_a_range_is_outside_it(end: datetime) -> None:
    _, until = range_bounds(None, end)
    assert until < start_of(end)


@given(_DATES, _DATES)
def test_a_start_at_the_start_of_a_range_is_inside_it(one: datetime, other: datetime) -> None:
    begin, end = sorted((one, other))
    since, until = range_bounds(begin, end)
    assert since <= start_of(begin)
    assert start_of(begin) <= until or start_of(begin) == end_of(end)


@pytest.mark.parametrize("year", [2, 900, 1066, 1426, 1970, 2020, 2515, 4000, 9_999])
def test_an_end_at_the_start_of_a_year_counts_for_the_previous_year(year: int) -> None:
    assert _ended(datetime(year, 1, 1, tzinfo=UTC)) == {year - 1}
    assert _ended(datetime(year, 1, 1, 0, 0, 1, tzinfo=UTC)) == {year}


@given(_DATES)
def test_every_end_date_counts_for_one_year(end: datetime) -> None:
    assert len(_ended(end)) == 1


def _ended(end: datetime) -> set[int | None]:
    """Returns the years in whose rows a fact with this end is counted as ended."""
    moment = FactSummary("uuid", "OWNS", -OPEN, end_of(end), 0.0)
    summary = summarize(EntityHistory(None), [moment], 0.0)
    return {row.year for row in summary.periods if row.ended}
