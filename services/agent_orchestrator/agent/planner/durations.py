"""Lengths of time in calendar units: years, months and days between two local days."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime, tzinfo
from typing import Final

_MONTHS_PER_YEAR: Final = 12


def calendar_length(start: datetime, end: datetime, zone: tzinfo) -> str:
    """Formats the time between two instants: "2 years, 3 months and 1 day"; "less than a day" below one."""
    first, last = start.astimezone(zone).date(), end.astimezone(zone).date()
    months = _whole_months(first, last)
    days = (last - _months_after(first, months)).days
    years, months = divmod(months, _MONTHS_PER_YEAR)
    counts = ((years, "year"), (months, "month"), (days, "day"))
    parts = [f"{number} {unit}{'s' if number > 1 else ''}" for number, unit in counts if number > 0]
    return joined(parts) or "less than a day"


def joined(parts: list[str]) -> str:
    """Joins parts as in running text: "a, b and c"."""
    return " and ".join(", ".join(group) for group in (parts[:-1], parts[-1:]) if group)


def _whole_months(first: date, last: date) -> int:
    months = (last.year - first.year) * _MONTHS_PER_YEAR + last.month - first.month
    return months - (_months_after(first, months) > last)


def _months_after(first: date, months: int) -> date:
    """Returns the same day some months later, or the last day of a month that is too short for it."""
    years, month = divmod(first.month - 1 + months, _MONTHS_PER_YEAR)
    year, month = first.year + years, month + 1
    return date(year, month, min(first.day, monthrange(year, month)[1]))
