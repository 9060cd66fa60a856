"""Time expressions of a text: prepositions around periods, and spans of two periods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final, Literal

from services.agent_orchestrator.agent.planner.dates.calendar import (
    ClockTime,
    Days,
    LocalCalendar,
    Period,
    TimeRange,
    unit_around,
)
from services.agent_orchestrator.agent.planner.dates.gates import is_plausible, names_document
from services.agent_orchestrator.agent.planner.dates.lexer import cut
from services.agent_orchestrator.agent.planner.dates.periods import (
    clock_span_at,
    edge_at,
    instants_between,
    local_day,
    period_at,
    range_mark_at,
)
from services.agent_orchestrator.agent.planner.dates.reader import Found, Reader
from services.agent_orchestrator.agent.planner.dates.words import UNITS

TimeKind = Literal["range", "since", "before", "as_of"]

_SINCE: Final = ("ever since", "since")
_STARTING: Final = (
    "starting from",
    "starting on",
    "starting in",
    "starting",
    "beginning in",
    "beginning on",
)
_ONWARDS: Final = (
    "onwards",
    "onward",
    "on",
    "and later",
    "forward",
    "up to now",
    "until now",
    "to date",
)
_UNTIL_END: Final = (
    "up to and including", "up till and including", "until and including", "on or before", "in or before",
    "no later than", "not later than", "at the latest by", "through", "by",
)  # fmt: skip
_BEFORE: Final = (
    "at any time before", "before", "prior to", "earlier than", "until", "till", "up until", "up to", "preceding",
    "ahead of", "previous to",
)  # fmt: skip
_AFTER: Final = ("after", "later than")
_FROM_START: Final = (
    "on or after",
    "in or after",
    "from and including",
    "no earlier than",
    "not before",
)
_AS_OF: Final = (
    "as of", "as at", "as on", "as it stood at", "as it stood on", "as it stood in", "as things stood on",
    "as things stood in", "as things stood at", "as it was on", "as it was in", "as it was at",
)  # fmt: skip
_TO_DATE: Final = {"ytd": "year", "qtd": "quarter", "mtd": "month", "wtd": "week"}
# Kinds of tokens that cannot start an expression.
_NO_START: Final = frozenset({"mark", "dash", "opaque", "possessive", "space"})
_AND_MARKS: Final = ("and", "to", "-", "–", "—")
_SPAN_MARKS: Final = ("to", "and", "until", "till", "through", "-", "–", "—")


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A part of a text that names a time: the range, its meaning, and its position in the text.

    `names_document` marks a date that is part of a document's name and does not select a past time.
    """

    kind: TimeKind
    range: TimeRange
    start: int
    end: int
    names_document: bool = False


MAX_READ: Final = 2_000


def find_times(text: str, now: datetime, zone: tzinfo) -> list[TimeExpression]:
    """Returns every time that the first `MAX_READ` characters of a text name, in order, including those in document
    names."""
    calendar = LocalCalendar(now.astimezone(UTC), zone)
    reader = Reader(cut(text[:MAX_READ]), calendar)
    found: list[TimeExpression] = []
    place = 0
    while place < len(reader.tokens):
        match = None
        if reader.kind(place) not in _NO_START:
            match = _expression_at(reader, place)
        if match is None:
            place += 1
            continue
        found.append(match[0])
        place = match[1]
    return found


def resolve_time(text: str, now: datetime, zone: tzinfo) -> TimeRange:
    """Returns the time range that a question is about; open on both sides if it names no time."""
    for expression in find_times(text, now, zone):
        if not expression.names_document:
            return expression.range
    return TimeRange(None, None)


def _expression_at(reader: Reader, place: int) -> tuple[TimeExpression, int] | None:
    for read in _READERS:
        found = read(reader, place)
        if found is None:
            continue
        kind, time_range, behind = found
        if not is_plausible(reader, place, behind, kind):
            continue
        start, end = reader.token(place).start, reader.token(behind - 1).end
        named = names_document(reader, place, behind)
        return TimeExpression(kind, time_range, start, end, named), behind
    return None


_Reading = tuple[TimeKind, TimeRange, int]


def _to_date(reader: Reader, place: int) -> _Reading | None:
    """Year to date, so far this month, earlier today."""
    unit = _TO_DATE.get(reader.text(place))
    if unit is not None:
        return _until_now(reader, unit, place + 1)
    behind = reader.after(
        place, "so far this", "thus far this", "earlier this", "already this", "so far in this"
    )
    if behind is not None and reader.text(behind) in UNITS:
        return _until_now(reader, reader.text(behind), behind + 1)
    behind = reader.after(place, "so far today", "earlier today")
    if behind is not None:
        return _until_now(reader, "day", behind)
    start = reader.skip(place, "this", "the current", "the")
    behind = reader.after(start + 1, "to date", "so far", "thus far")
    if reader.text(start) in UNITS and behind is not None:
        return _until_now(reader, reader.text(start), behind)
    return None


def _until_now(reader: Reader, unit: str, behind: int) -> _Reading:
    calendar = reader.calendar
    start = calendar.midnight(unit_around(UNITS[unit], calendar.today)[0])
    return "since", TimeRange(start, calendar.now), behind


def _between(reader: Reader, place: int) -> _Reading | None:
    start = reader.after(place, "in between", "between")
    return None if start is None else _span_at(reader, start, _AND_MARKS)


def _from_to(reader: Reader, place: int) -> _Reading | None:
    start = reader.after(place, "from", "anywhere from")
    if start is None:
        return None
    span = _span_at(reader, start, None)
    if span is not None:
        return span
    found = period_at(reader, start)
    if found is None or _is_now(found[0]):
        return None
    onwards = reader.after(found[1], *_ONWARDS)
    if onwards is not None and (reader.text(found[1]) != "on" or reader.kind(onwards) != "word"):
        return "since", TimeRange(_start(reader, found[0]), reader.calendar.now), onwards
    return "range", _whole_period(reader, found[0]), found[1]


def _open_start(reader: Reader, place: int) -> _Reading | None:
    """Since, starting in, after: the range ends now."""
    for words, at_end in (
        (_SINCE, False),
        (_STARTING, False),
        (_FROM_START, False),
        (_AFTER, True),
    ):
        behind = reader.after(place, *words)
        found = None if behind is None else period_at(reader, behind)
        if found is None:
            continue
        period, behind = found
        start = _end(reader, period) if at_end else _start(reader, period)
        mark = (
            None
            if at_end
            else reader.after(behind, "and until", "until", "till", "to", "through", "up to")
        )
        last = None if mark is None else period_at(reader, mark)
        if last is not None:
            return "range", TimeRange(start, _end(reader, last[0])), last[1]
        return "since", TimeRange(start, max(start, reader.calendar.now)), behind
    return None


def _open_end(reader: Reader, place: int) -> _Reading | None:
    """Before and until exclude the period; by and "up to and including" include it."""
    for words, at_end in ((_UNTIL_END, True), (_BEFORE, False)):
        behind = reader.after(place, *words)
        found = None if behind is None else period_at(reader, behind)
        if found is None or reader.after(place, "up to date"):
            continue
        end = _end(reader, found[0]) if at_end else _start(reader, found[0])
        return "before", TimeRange(None, end), found[1]
    return None


def _as_of(reader: Reader, place: int) -> _Reading | None:
    behind = reader.after(place, *_AS_OF)
    found = None if behind is None else period_at(reader, behind)
    if found is None:
        behind = reader.after(place, "at")
        found = None if behind is None else edge_at(reader, behind, 0)
    if found is None:
        return None
    return "as_of", TimeRange(None, _end(reader, found[0])), found[1]


def _plain(reader: Reader, place: int) -> _Reading | None:
    """A period or a span without a preposition that changes its meaning."""
    span = _span_at(reader, place, None)
    if span is not None:
        return span
    found = period_at(reader, place)
    if found is None:
        return None
    if _is_now(found[0]):
        return _edge_alone(reader, place, found)
    return _neighbors_at(reader, found) or _open_behind(reader, found)


def _open_behind(reader: Reader, found: Found) -> _Reading:
    """A period, or the time before or after it if the following words say so: "2023 and earlier"."""
    period, behind = found
    earlier = reader.after(behind, "and earlier", "or earlier", "and before", "or before")
    if earlier is not None:
        return "before", TimeRange(None, _end(reader, period)), earlier
    later = reader.after(behind, "onwards", "onward", "and later", "or later")
    if later is not None:
        return "since", TimeRange(_start(reader, period), reader.calendar.now), later
    return "range", _whole_period(reader, period), behind


def _neighbors_at(reader: Reader, first: Found) -> _Reading | None:
    """Two consecutive periods: "in March and April", "2019 or 2020"."""
    mark = reader.after(first[1], "and", "or", "and in", "or in")
    second = None if mark is None else period_at(reader, mark)
    if second is None or second[0].unit != first[0].unit or second[0].exact:
        return None
    earlier, later = _share_year(reader.calendar, first[0], second[0])
    start, middle = reader.calendar.bounds(earlier)
    if middle != reader.calendar.bounds(later)[0]:
        return None
    return "range", TimeRange(start, _end(reader, later)), second[1]


def _is_now(period: Period) -> bool:
    """Whether a period has no length: now, or the start or end of another period."""
    return period.exact and period.instants is not None and period.instants[0] == period.instants[1]


def _edge_alone(reader: Reader, place: int, found: Found) -> _Reading | None:
    """The end of a period means the state at that time; "now" alone does not select a past time."""
    if edge_at(reader, place, 0) is None:
        return None
    return "as_of", TimeRange(None, _end(reader, found[0])), found[1]


_READERS: Final[tuple[Callable[[Reader, int], _Reading | None], ...]] = (
    _to_date, _between, _from_to, _open_start, _as_of, _open_end, _plain,
)  # fmt: skip


def _span_at(reader: Reader, place: int, marks: tuple[str, ...] | None) -> _Reading | None:
    """Two ends: periods, or times of one day. Without `marks`, any word that can join the ends of a span."""
    clocks = _clock_span(reader, place, marks)
    if clocks is not None:
        return clocks
    first = period_at(reader, place)
    if first is None:
        return None
    behind = range_mark_at(reader, first[1]) if marks is None else reader.after(first[1], *marks)
    second = None if behind is None else period_at(reader, behind)
    if second is not None:
        joined = _joined(reader.calendar, first[0], second[0])
        if joined.start is not None and joined.end is not None and joined.start < joined.end:
            return "range", joined, second[1]
    # "between 3 and 7 March" and "between 9:00 and 10:00 on Monday" were already read as one period.
    is_span = marks is not None and any(
        reader.text(at) in _SPAN_MARKS for at in range(place, first[1])
    )
    return ("range", _whole_period(reader, first[0]), first[1]) if is_span else None


def _clock_span(reader: Reader, place: int, marks: tuple[str, ...] | None) -> _Reading | None:
    span = clock_span_at(reader, place, marks or _SPAN_MARKS)
    if span is None:
        return None
    first, second, behind = span
    found = period_at(reader, reader.skip(behind, "on", ",", "of"))
    if found is not None and found[0].unit == "day" and not found[0].exact:
        day, behind = local_day(reader.calendar, found[0]), found[1]
    else:
        day = local_day(reader.calendar, Period("minute", clock=first))
    return (
        "range",
        _whole_period(reader, instants_between(reader.calendar, day, first, second)),
        behind,
    )


def _joined(calendar: LocalCalendar, first: Period, second: Period) -> TimeRange:
    """Returns the range from the start of one period to the end of another; each can supply the other's year or day."""
    first, second = _share_year(calendar, first, second)
    first, second = _share_day(calendar, first, second)
    start = calendar.bounds(first)[0]
    end = calendar.bounds(second)[0 if second.exact else 1]
    if start >= end and first.weekly:
        start -= timedelta(days=7)
    return TimeRange(start, end)


def _share_year(calendar: LocalCalendar, first: Period, second: Period) -> tuple[Period, Period]:
    if first.in_year is not None and second.days is not None and not second.weekly:
        last = second.days[1] - timedelta(days=1)
        return _in_year_until(first, last.year, second.days[1]), second
    if second.in_year is None:
        return first, second
    if first.in_year is not None:
        days = _local_days(calendar, first)
        first = Period(first.unit, days=days)
    elif first.days is None or first.weekly:
        return first, second
    start = _local_days(calendar, first)[0]
    return first, _in_year_from(second, start)


def _in_year_until(period: Period, year: int, limit: date) -> Period:
    days = period.days_in(year)
    if days is not None and days[0] >= limit:
        days = period.days_in(year - 1)
    return period if days is None else Period(period.unit, days=days)


def _in_year_from(period: Period, start: date) -> Period:
    days = period.days_in(start.year)
    if days is not None and days[1] <= start:
        days = period.days_in(start.year + 1)
    return period if days is None else Period(period.unit, days=days)


def _local_days(calendar: LocalCalendar, period: Period) -> Days:
    if period.days is not None:
        return period.days
    start, end = calendar.bounds(period)
    return start.astimezone(calendar.zone).date(), end.astimezone(calendar.zone).date()


def _share_day(calendar: LocalCalendar, first: Period, second: Period) -> tuple[Period, Period]:
    if second.clock is not None and first.clock is None:
        return first, _at(calendar, local_day(calendar, first), second.clock)
    if first.clock is not None and second.instants is not None:
        return _at(calendar, local_day(calendar, second), first.clock), second
    return first, second


def _at(calendar: LocalCalendar, day: date, clock: ClockTime) -> Period:
    instant = calendar.at(day, clock)
    return Period("minute", instants=(instant, instant), exact=True)


def _whole_period(reader: Reader, period: Period) -> TimeRange:
    return TimeRange(*reader.calendar.bounds(period))


def _start(reader: Reader, period: Period) -> datetime:
    return reader.calendar.bounds(period)[0]


def _end(reader: Reader, period: Period) -> datetime:
    """Returns the end of a period; an instant ends at itself."""
    return reader.calendar.bounds(period)[0 if period.exact else 1]
