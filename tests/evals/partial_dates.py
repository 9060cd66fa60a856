"""Converts dates with unknown parts to half-open intervals: "1963-##-##" is the whole year, "19##" the century.

An end is the first instant after the finest known unit. Invalid months and days are unknown. A date before the year 1,
which a timestamp cannot represent, is open as a start, and the start of the year 1 as an end.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

_PARTS = re.compile(r"(-?)([0-9#]+)(?:-([0-9#]+))?(?:-([0-9#]+))?")
_MONTHS = 12
_LAST_YEAR = 9_999


class Interval(NamedTuple):
    """The first instant inside and the first instant after it; None is open."""

    start: datetime | None
    end: datetime | None

    @property
    def reversed(self) -> bool:
        """Returns whether it ends at or before its start."""
        return self.start is not None and self.end is not None and self.end <= self.start


def interval(start: str | None, end: str | None) -> Interval:
    """Returns the interval from the beginning of `start` to the end of `end`; None is open.

    If it is reversed, only the years count, which may be reversed too. Raises ValueError for an invalid date.
    """
    by_day = Interval(_first(start, whole_years=False), _after(end, whole_years=False))
    if not by_day.reversed:
        return by_day
    return Interval(_first(start, whole_years=True), _after(end, whole_years=True))


def _first(text: str | None, *, whole_years: bool) -> datetime | None:
    return None if text is None else _unit(text, whole_years)[0]


def _after(text: str | None, *, whole_years: bool) -> datetime | None:
    return None if text is None else _unit(text, whole_years)[1]


def _unit(text: str, whole_years: bool) -> tuple[datetime | None, datetime | None]:
    """Returns the first instant of the finest known unit, and the first instant after it."""
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise ValueError(f"{text!r} is no date")
    sign, year, month, day = parts.groups()
    if sign:
        return None, datetime(1, 1, 1, tzinfo=UTC)
    if "#" in year or whole_years:
        return _year(int(year.replace("#", "0"))), _year(int(year.replace("#", "9")) + 1)
    return _day(int(year), month or "", day or "")


def _year(year: int) -> datetime | None:
    return datetime(max(year, 1), 1, 1, tzinfo=UTC) if year <= _LAST_YEAR else None


def _day(year: int, month: str, day: str) -> tuple[datetime | None, datetime | None]:
    if not month.isdigit() or not 1 <= int(month) <= _MONTHS:
        return _year(year), _year(year + 1)
    first = datetime(year, int(month), 1, tzinfo=UTC)
    if day.isdigit():
        try:
            start = first.replace(day=int(day))
        except ValueError:
            pass  # no such day, so that only the month is known
        else:
            return start, start + timedelta(days=1)
    return first, (first + timedelta(days=31)).replace(day=1)
