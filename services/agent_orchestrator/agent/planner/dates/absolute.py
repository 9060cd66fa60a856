"""Calendar periods named in a text: days, months, quarters, halves, ISO weeks, years, decades, centuries.

Each reader returns the period that starts at a position and the position after it, or None. A period whose year the
text omits keeps it open (`Period.in_year`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Final

from services.agent_orchestrator.agent.planner.dates.calendar import (
    Days,
    Period,
    Unit,
    month_days,
    months_of,
    one_day,
    unit_around,
    week_days,
    year_days,
)
from services.agent_orchestrator.agent.planner.dates.reader import (
    Found,
    Reader,
    full_year,
    month_day_at,
    ordinal_at,
    year_at,
)
from services.agent_orchestrator.agent.planner.dates.words import (
    DECADES,
    HOLIDAYS,
    MONTHS,
    UNITS,
    WEEKDAYS,
)

_NUMBERS: Final = re.compile(r"\d+")
_QUARTERS: Final = 4
_QUARTER_MONTHS: Final = 3
_HALF_MONTHS: Final = 6
_LAST_WEEK: Final = 53
_DECADE: Final = 10
_CENTURY: Final = 100
_SPAN_MARKS: Final = ("to", "through", "thru", "until", "till", "and", "-", "–", "—")

InYear = Callable[[int], Days | None]


def absolute_at(reader: Reader, place: int) -> Found | None:
    """Returns the longest calendar period that starts at a position."""
    found = [match for read in _READERS if (match := read(reader, place)) is not None]
    return max(found, key=lambda match: match[1], default=None)


def with_year(reader: Reader, unit: Unit, in_year: InYear, place: int) -> Found | None:
    """Returns a period with its year, if the text names one: "March of last year", "Q3, 2024"."""
    for start in (reader.skip(place, "of", "in", ",", "/", "of the year"), place):
        year = year_at(reader, start)
        if year is not None:
            days = in_year(year[0])
            return None if days is None else (Period(unit, days=days), year[1])
    return Period(unit, in_year=in_year), place


def _timestamp(reader: Reader, place: int) -> Found | None:
    if reader.kind(place) != "timestamp":
        return None
    text = reader.text(place).upper().replace(" Z", "Z")
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=reader.calendar.zone)
        if reader.text(place + 1) in {"utc", "gmt"}:
            instant, place = instant.replace(tzinfo=UTC), place + 1
    instant = instant.astimezone(UTC)
    return Period(
        "minute", instants=(instant, instant + timedelta(minutes=1)), exact=True
    ), place + 1


def _written_date(reader: Reader, place: int) -> Found | None:
    """2024-03-05, 2024/3/5, 5.3.2024, 05-Mar-2024, and 13/04/2024 where only one order is possible."""
    kind, text = reader.kind(place), reader.text(place)
    if kind not in {"date", "date_dmy", "date_named"}:
        return None
    if kind == "date_named":
        day, name, year = text.split("-")
        days = one_day(int(year), MONTHS[name], int(day))
        return None if days is None else (Period("day", days=days), place + 1)
    numbers = [int(number) for number in _NUMBERS.findall(text)]
    if kind == "date_dmy":
        numbers.reverse()
    year_number, month, day_number = numbers
    if "/" in text and kind == "date_dmy":
        month, day_number = _unambiguous(month, day_number)
    days = one_day(year_number, month, day_number)
    return None if days is None else (Period("day", days=days), place + 1)


def _unambiguous(month: int, day: int) -> tuple[int, int]:
    """Returns month and day of a date with slashes; month 0, which is invalid, if both orders are possible."""
    twelve = len("abcdefghijkl")
    if month > twelve:
        return day, month
    return (month, day) if day > twelve or day == month else (0, day)


def _written_month(reader: Reader, place: int) -> Found | None:
    if reader.kind(place) != "month":
        return None
    first, second = (int(number) for number in _NUMBERS.findall(reader.text(place)))
    year, month = max(first, second), min(first, second)
    return Period("month", days=month_days(year, month)), place + 1


def _week(reader: Reader, place: int) -> Found | None:
    """2025-W01, W5 of 2024, calendar week 12, ISO week 5, 2024."""
    if reader.kind(place) == "week":
        numbers = [int(number) for number in _NUMBERS.findall(reader.text(place))]
        if len(numbers) == 1:
            return _week_of_year(reader, numbers[0], place + 1)
        days = week_days(*numbers)
        return None if days is None else (Period("week", days=days), place + 1)
    start = reader.skip(reader.skip(place, "the"), "iso", "calendar")
    if reader.text(start) != "week":
        return None
    start = reader.skip(start + 1, "number", "no .", "no")
    if reader.kind(start) != "number" or not 1 <= int(reader.text(start)) <= _LAST_WEEK:
        return None
    return _week_of_year(reader, int(reader.text(start)), start + 1)


def _week_of_year(reader: Reader, week: int, place: int) -> Found | None:
    return with_year(reader, "week", lambda year: week_days(year, week), place)


def _quarter(reader: Reader, place: int) -> Found | None:
    """Q3, Q3 2024, 2024-Q3, third quarter of last year, quarter 2."""
    start = reader.skip(place, "the")
    if reader.kind(start) == "quarter":
        text = reader.text(start)
        numbers = [int(number) for number in _NUMBERS.findall(text)]
        if len(numbers) == 1:
            return _nth(reader, "quarter", _QUARTER_MONTHS, numbers[0], start + 1)
        quarter, year = sorted(numbers)
        return Period("quarter", days=_months(_QUARTER_MONTHS, quarter)(full_year(year))), start + 1
    ordinal = ordinal_at(reader, start)
    if (
        ordinal is not None
        and reader.text(ordinal[1]) == "quarter"
        and 1 <= ordinal[0] <= _QUARTERS
    ):
        return _nth(reader, "quarter", _QUARTER_MONTHS, ordinal[0], ordinal[1] + 1)
    number = reader.text(start + 1)
    if reader.text(start) == "quarter" and number in {
        "1",
        "2",
        "3",
        "4",
        "one",
        "two",
        "three",
        "four",
    }:
        value = (
            int(number) if number.isdigit() else ("one", "two", "three", "four").index(number) + 1
        )
        return _nth(reader, "quarter", _QUARTER_MONTHS, value, start + 2)
    return None


def _half(reader: Reader, place: int) -> Found | None:
    """H1 2024, the first half of 2024, the second half of last year."""
    start = reader.skip(place, "the")
    if reader.kind(start) == "half":
        numbers = sorted(int(number) for number in _NUMBERS.findall(reader.text(start)))
        if len(numbers) == 1:
            return _nth(reader, "half", _HALF_MONTHS, numbers[0], start + 1)
        return Period(
            "half", days=_months(_HALF_MONTHS, numbers[0])(full_year(numbers[1]))
        ), start + 1
    ordinal = ordinal_at(reader, start)
    if ordinal is None or reader.text(ordinal[1]) != "half" or abs(ordinal[0]) > len("ab"):
        return None
    behind = reader.skip(ordinal[1] + 1, "of", "in")
    year = year_at(reader, behind)
    if year is None:
        return None
    number = ordinal[0] if ordinal[0] > 0 else 2
    return Period("half", days=_months(_HALF_MONTHS, number)(year[0])), year[1]


def _nth(reader: Reader, unit: Unit, months: int, number: int, place: int) -> Found | None:
    return with_year(reader, unit, _months(months, number), place)


def _months(months: int, number: int) -> Callable[[int], Days]:
    return lambda year: months_of(year, (number - 1) * months + 1, months)


def _month(reader: Reader, place: int) -> Found | None:
    """March, March 2024, March of last year."""
    month = MONTHS.get(reader.text(place))
    if month is None:
        return None
    return with_year(reader, "month", lambda year: month_days(year, month), place + 1)


def _month_first_day(reader: Reader, place: int) -> Found | None:
    """March 5, March 5th, 2024, and the span March 3-7, 2024."""
    month = MONTHS.get(reader.text(place))
    day = month_day_at(reader, place + 1)
    if month is None or day is None or reader.text(day[1]) in UNITS:
        return None
    span = _second_day(reader, day[1])
    last, behind = (day[0], day[1]) if span is None else span
    return with_year(reader, "day", _days(month, day[0], last), behind)


def _day_first(reader: Reader, place: int) -> Found | None:
    """5 March, the 5th of March 2024, Tuesday, 5 March 2024, and the span 3 to 7 March."""
    start = place
    if reader.text(place) in WEEKDAYS:
        start = reader.skip(place + 1, ",")
    day = month_day_at(reader, start)
    if day is None:
        return None
    span = _second_day(reader, day[1])
    last, behind = (day[0], day[1]) if span is None else span
    behind = reader.skip(behind, "of")
    month = MONTHS.get(reader.text(behind))
    if month is None:
        return None
    return with_year(reader, "day", _days(month, day[0], last), behind + 1)


def _weekday_and_month_day(reader: Reader, place: int) -> Found | None:
    """Tuesday, March 5, 2024."""
    if reader.text(place) not in WEEKDAYS:
        return None
    return _month_first_day(reader, reader.skip(place + 1, ","))


def _second_day(reader: Reader, place: int) -> tuple[int, int] | None:
    """Reads the last day of a span inside a month: "to 7", "-7th". None for a number that belongs to its own month."""
    behind = reader.after(place, *_SPAN_MARKS)
    last = None if behind is None else month_day_at(reader, behind)
    if last is None or reader.text(last[1]) in {":", "."}:
        return None
    return last


def _days(month: int, first: int, last: int) -> InYear:
    def in_year(year: int) -> Days | None:
        start, end = one_day(year, month, first), one_day(year, month, last)
        return None if start is None or end is None or last < first else (start[0], end[1])

    return in_year


def _holiday(reader: Reader, place: int) -> Found | None:
    for name, (month, day) in HOLIDAYS.items():
        behind = reader.after(place, name.replace("'s", " 's"))
        if behind is not None:
            return with_year(reader, "day", _days(month, day, day), behind)
    return None


def _decade(reader: Reader, place: int) -> Found | None:
    """The 1990s, the 90s, the nineties."""
    has_article = reader.text(place) == "the"
    start = reader.skip(place, "the")
    start = reader.skip(start, "early", "late", "mid")
    text = reader.text(start)
    if text in DECADES and has_article:
        return Period("decade", days=_decade_days(reader, DECADES[text])), start + 1
    if reader.kind(start) != "decade":
        return None
    number = int(text.strip("'s"))
    if number < _CENTURY and not (has_article or text.startswith("'")):
        return None
    return Period("decade", days=_decade_days(reader, number)), start + 1


def _decade_days(reader: Reader, number: int) -> Days:
    """Returns the decade of a four-digit year; for two digits the most recent decade that has begun."""
    if number < _CENTURY:
        number += reader.calendar.today.year // _CENTURY * _CENTURY
        if number > reader.calendar.today.year:
            number -= _CENTURY
    return unit_around("decade", date(number // _DECADE * _DECADE, 1, 1))


def _century(reader: Reader, place: int) -> Found | None:
    ordinal = ordinal_at(reader, reader.skip(place, "the"))
    if ordinal is None or reader.text(ordinal[1]) != "century" or ordinal[0] < 1:
        return None
    first = (ordinal[0] - 1) * _CENTURY + 1
    return Period("century", days=(date(first, 1, 1), date(first + _CENTURY, 1, 1))), ordinal[1] + 1


def _year(reader: Reader, place: int) -> Found | None:
    year = year_at(reader, place)
    return None if year is None else (Period("year", days=year_days(year[0])), year[1])


_READERS: Final = (
    _timestamp, _written_date, _written_month, _week, _quarter, _half, _month, _month_first_day, _day_first,
    _weekday_and_month_day, _holiday, _decade, _century, _year,
)  # fmt: skip
