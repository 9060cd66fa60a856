"""A period with its parts ("the first week of …"), its edges ("the end of …") and times of day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from services.agent_orchestrator.agent.planner.dates.absolute import absolute_at
from services.agent_orchestrator.agent.planner.dates.calendar import (
    ClockTime,
    Days,
    LocalCalendar,
    Period,
    Unit,
    is_smaller,
    shift,
    unit_around,
)
from services.agent_orchestrator.agent.planner.dates.reader import (
    Found,
    Reader,
    clock_at,
    count_at,
    hour_number_at,
    ordinal_at,
    year_at,
)
from services.agent_orchestrator.agent.planner.dates.relative import relative_at, unit_word
from services.agent_orchestrator.agent.planner.dates.words import MONTHS, UNITS, WEEKDAYS

_STARTS: Final = ("start", "beginning", "outset")
_ENDS: Final = ("end", "close", "turn")
_RANGE_MARKS: Final = (
    "up to and including", "through to", "through", "thru", "up to", "to", "until", "till", "-", "–", "—",
)  # fmt: skip
_WEEK: Final = 7
_MAX_DEPTH: Final = 3


def period_at(reader: Reader, place: int, depth: int = 0) -> Found | None:
    """Returns the longest period that starts at a position, with a time of day if the text names one."""
    if depth > _MAX_DEPTH:
        return None
    readers = (edge_at, _part_of, _adjacent_period, _of_weekday, _in_year_before)
    found = [match for read in readers if (match := read(reader, place, depth)) is not None]
    found += [
        match for read in (absolute_at, relative_at, _clock) if (match := read(reader, place))
    ]
    best = max(found, key=lambda match: match[1], default=None)
    return None if best is None else _with_clock(reader, best, depth)


def range_mark_at(reader: Reader, place: int) -> int | None:
    """Returns the position after a word that joins the ends of a span."""
    return reader.after(place, *_RANGE_MARKS)


def clock_span_at(
    reader: Reader, place: int, marks: tuple[str, ...]
) -> tuple[ClockTime, ClockTime, int] | None:
    """Reads two times of day: "9:00 and 10:30", "9 to 11 am"."""
    first = clock_at(reader, place)
    mark = reader.after(place + 1 if first is None else first[1], *marks)
    second = None if mark is None else clock_at(reader, mark)
    if second is None:
        return None
    if first is None:
        first = hour_number_at(reader, place, second[0])
    if first is None:
        return None
    zone = first[0].zone or second[0].zone
    return replace(first[0], zone=zone), replace(second[0], zone=second[0].zone or zone), second[1]


def instants_between(
    calendar: LocalCalendar, day: date, first: ClockTime, second: ClockTime
) -> Period:
    """Returns the time between two times of a day; the second one may be after midnight."""
    start, end = calendar.at(day, first), calendar.at(day, second)
    if end <= start:
        end = calendar.at(day + timedelta(days=1), second)
    return Period("minute", instants=(start, end))


def local_day(calendar: LocalCalendar, period: Period) -> date:
    """Returns the local day on which a period starts."""
    return calendar.bounds(period)[0].astimezone(calendar.zone).date()


def edge_at(reader: Reader, place: int, depth: int) -> Found | None:
    """Reads the instant at which a period starts or ends: "the end of March", "beginning of the year", "year end"."""
    start = reader.skip(place, "the", "the very")
    for words, is_start in ((_STARTS, True), (_ENDS, False)):
        behind = reader.after(start, *words)
        if behind is None or reader.text(start + 1) == "day":
            continue
        found = period_at(reader, reader.skip(behind, "of"), depth + 1)
        return (
            None
            if found is None or found[0].exact
            else (_edge(reader, found[0], is_start), found[1])
        )
    unit = UNITS.get(reader.text(start))
    if unit is not None and reader.text(start + 1) == "end":
        return _edge(
            reader, Period(unit, days=unit_around(unit, reader.calendar.today)), False
        ), start + 2
    return None


def _edge(reader: Reader, period: Period, is_start: bool) -> Period:
    instant = reader.calendar.bounds(period)[0 if is_start else 1]
    return Period("minute", instants=(instant, instant), exact=True)


def _part_of(reader: Reader, place: int, depth: int) -> Found | None:
    """The first week of March, the last quarter of 2023, the first three months of last year, 1st Monday of May."""
    ordinal = ordinal_at(reader, reader.skip(place, "the"))
    if ordinal is None:
        return None
    number, start = ordinal
    count, start = count_at(reader, start) or (1, start)
    weekday, unit = WEEKDAYS.get(reader.text(start)), unit_word(reader, start)
    behind = reader.after(start + 1, "of", "in")
    if behind is None or (unit is None and weekday is None):
        return None
    whole = period_at(reader, behind, depth + 1)
    if (
        whole is None
        or whole[0].exact
        or (unit is not None and not is_smaller(unit[0], whole[0].unit))
    ):
        return None
    if weekday is not None:
        return _derived(whole, "day", lambda days: _nth_weekday(days, number, weekday))
    if unit is None:
        return None
    name, factor = unit[0], unit[1] * count
    return _derived(whole, name, lambda days: _nth_units(days, name, number, factor))


def _derived(whole: Found, unit: Unit, part: Callable[[Days], Days]) -> Found | None:
    period, behind = whole
    if period.days is not None:
        return Period(unit, days=part(period.days)), behind
    if period.in_year is None:
        return None
    in_year = period.in_year

    def part_in_year(year: int) -> Days | None:
        days = in_year(year)
        return None if days is None else part(days)

    return Period(unit, in_year=part_in_year), behind


def _nth_units(days: Days, unit: Unit, number: int, count: int) -> Days:
    if number < 0:
        return shift(days[1], unit, -count), days[1]
    start = shift(days[0], unit, number - 1)
    return start, shift(start, unit, count)


def _nth_weekday(days: Days, number: int, weekday: int) -> Days:
    if number < 0:
        last = days[1] - timedelta(days=1)
        return unit_around("day", last - timedelta(days=(last.weekday() - weekday) % _WEEK))
    first = days[0] + timedelta(days=(weekday - days[0].weekday()) % _WEEK)
    return unit_around("day", shift(first, "week", number - 1))


def _adjacent_period(reader: Reader, place: int, depth: int) -> Found | None:
    """The day before 5 March, the week after Christmas, the week of 4 March, the week starting 4 March."""
    count, start = count_at(reader, reader.skip(place, "the")) or (1, reader.skip(place, "the"))
    unit = UNITS.get(reader.text(start))
    words = (
        "before",
        "after",
        "of",
        "starting on",
        "starting",
        "beginning on",
        "beginning",
        "ending on",
        "ending",
    )
    behind = reader.after(start + 1, *words)
    if (
        unit is None
        or behind is None
        or reader.after(behind, "last")
        or not is_smaller("hour", unit)
    ):
        return None
    found = period_at(reader, behind, depth + 1)
    if (
        found is None
        or found[0].unit != "day"
        or (unit == "day" and reader.text(start + 1) == "of")
    ):
        return None
    word = reader.text(start + 1)
    return _derived(found, unit, lambda days: _neighbor(days, unit, word, count))


def _neighbor(days: Days, unit: Unit, word: str, count: int) -> Days:
    if word == "of":
        return unit_around(unit, days[0])
    if word == "before":
        return shift(days[0], unit, -count), days[0]
    if word == "after":
        return days[1], shift(days[1], unit, count)
    return (
        (shift(days[1], unit, -1), days[1])
        if word == "ending"
        else (days[0], shift(days[0], unit, 1))
    )


def _of_weekday(reader: Reader, place: int, depth: int) -> Found | None:
    """The weekend of 4 March; the night of 5 March is read as that day."""
    behind = reader.after(
        place, "the night of", "the morning of", "the evening of", "the afternoon of", "the day of"
    )
    if behind is None:
        return None
    return period_at(reader, behind, depth + 1)


def _in_year_before(reader: Reader, place: int, depth: int) -> Found | None:
    """Last year's Q3, 2023's third quarter, last year in March, in 2024 on 5 March."""
    year = year_at(reader, place)
    if year is None:
        return None
    start = reader.skip(year[1], "'s", ", on", "on", ", in", "in", ",")
    follows = reader.kind(start) in {"quarter", "half", "week"} or reader.text(start) in MONTHS
    if start == year[1] and not follows:
        return None
    found = period_at(reader, start, depth + 1)
    if found is None or found[0].in_year is None:
        return None
    days = found[0].in_year(year[0])
    return None if days is None else (Period(found[0].unit, days=days), found[1])


def _clock(reader: Reader, place: int) -> Found | None:
    found = clock_at(reader, place)
    return None if found is None else (Period("minute", clock=found[0], exact=True), found[1])


def _with_clock(reader: Reader, found: Found, depth: int) -> Found:
    """Combines a day and a time of day: returns an instant, or the time between two of them."""
    period, behind = found
    if period.clock is not None:
        day = period_at(reader, reader.skip(behind, "on", ",", "of"), depth + 1)
        if day is None or day[0].unit != "day" or day[0].exact:
            return found
        return _instant(reader, local_day(reader.calendar, day[0]), period.clock), day[1]
    if period.unit != "day" or period.exact:
        return found
    start = reader.skip(behind, ", at", "at", ", between", "between", ", from", "from", ",", "@")
    span = clock_span_at(reader, start, ("and", *_RANGE_MARKS))
    if span is not None:
        day_of_span = local_day(reader.calendar, period)
        return instants_between(reader.calendar, day_of_span, span[0], span[1]), span[2]
    clock = clock_at(reader, start)
    if clock is None or reader.text(start - 1) in {"between", "from"}:
        return found
    return _instant(reader, local_day(reader.calendar, period), clock[0]), clock[1]


def _instant(reader: Reader, day: date, clock: ClockTime) -> Period:
    start = reader.calendar.at(day, clock)
    return Period("minute", instants=(start, start + timedelta(minutes=1)), exact=True)
