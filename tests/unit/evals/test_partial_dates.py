"""Dates with unknown parts become half-open intervals."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.evals.partial_dates import interval


def day(year: int, month: int = 1, number: int = 1) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("1926-##-##", day(1926), day(1927)),
        ("1925-04-23", day(1925, 4, 23), day(1925, 4, 24)),
        ("2009-12-##", day(2009, 12), day(2010)),
        ("19##-##-##", day(1900), day(2000)),
        ("195#-##-##", day(1950), day(1960)),
        ("918-##-##", day(918), day(919)),
        ("97-##-##", day(97), day(98)),
        ("1963-64-65", day(1963), day(1964)),
        ("307-13047-09", day(307), day(308)),
        ("2001-02-30", day(2001, 2), day(2001, 3)),
        ("2000-12-31", day(2000, 12, 31), day(2001)),
        ("-405-##-##", None, day(1)),
        ("9999-##-##", day(9999), None),
        (None, None, None),
    ],
)
def test_a_partial_date_covers_the_whole_known_period(
    text: str | None, first: datetime | None, after: datetime | None
) -> None:
    assert interval(text, text) == (first, after)


def test_reversed_dates_within_one_year_cover_that_year() -> None:
    found = interval("2005-06-01", "2005-03-01")
    assert not found.reversed
    assert found == (day(2005), day(2006))


def test_reversed_years_stay_reversed() -> None:
    assert interval("2005-06-01", "2003-##-##").reversed


def test_an_invalid_date_is_rejected() -> None:
    with pytest.raises(ValueError, match="no date"):
        interval("yesterday", None)
