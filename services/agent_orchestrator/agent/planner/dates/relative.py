"""Periods relative to now: yesterday, last month, the past 30 days, a week ago today."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from services.agent_orchestrator.agent.planner.dates.calendar import (
    ClockTime,
    Days,
    Period,
    Unit,
    one_day,
    past_weekday,
    past_weekend,
    shift,
    unit_around,
    unit_near,
)
from services.agent_orchestrator.agent.planner.dates.reader import (
    Found,
    Reader,
    count_at,
    day_of_unit,
)
from services.agent_orchestrator.agent.planner.dates.words import (
    CURRENT,
    DAY_PARTS,
    FORTNIGHTS,
    MONTHS,
    NEXT,
    PREVIOUS,
    ROLLING,
    UNITS,
    WEEKDAYS,
)

_DAY_WORDS: Final = {
    "the day before yesterday": -2, "day before yesterday": -2, "yesterday": -1, "today": 0,
    "the day after tomorrow": 2, "day after tomorrow": 2, "tomorrow": 1,
}  # fmt: skip
_OVER: Final = frozenset({"in", "over", "during", "within", "for", "throughout", "across"})
_WEEK_DAYS: Final = 7
# The nearest month with a 31st is at most one month further back.
_MONTHS_BACK: Final = 3
# For these units "the last …" means elapsed time, not the previous calendar unit.
_ELAPSED: Final = frozenset({"minute", "hour"})


def relative_at(reader: Reader, place: int) -> Found | None:
    """Returns the longest relative period that starts at a position."""
    found = [match for read in _READERS if (match := read(reader, place)) is not None]
    return max(found, key=lambda match: match[1], default=None)


def unit_word(reader: Reader, place: int) -> tuple[Unit, int, int] | None:
    """Returns a unit of time, how many of it the word means, and the position after it."""
    text = reader.text(place)
    if text in FORTNIGHTS:
        return "week", 2, place + 1
    unit = UNITS.get(text)
    return None if unit is None else (unit, 1, place + 1)


def _named_day(reader: Reader, place: int) -> Found | None:
    for words, distance in _DAY_WORDS.items():
        behind = reader.after(place, words)
        if behind is not None:
            day = reader.calendar.today + timedelta(days=distance)
            return _day_part(reader, Period("day", days=unit_around("day", day)), behind)
    behind = reader.after(place, "tonight", "last night")
    if behind is not None:
        distance = 0 if reader.text(place) == "tonight" else -1
        day = reader.calendar.today + timedelta(days=distance)
        return _hours_of_day(reader, unit_around("day", day), "night"), behind
    part = reader.text(place + 1)
    if reader.text(place) == "this" and part in DAY_PARTS:
        return _hours_of_day(reader, unit_around("day", reader.calendar.today), part), place + 2
    return None


def _day_part(reader: Reader, period: Period, place: int) -> Found:
    """Returns a day, or the part of it that the next word names."""
    part = reader.text(place)
    if part not in DAY_PARTS or period.days is None:
        return period, place
    return _hours_of_day(reader, period.days, part), place + 1


def _hours_of_day(reader: Reader, days: Days, part: str) -> Period:
    first, last = DAY_PARTS[part]
    start = reader.calendar.at(days[0], ClockTime(first))
    return Period("hour", instants=(start, reader.calendar.at(days[0], ClockTime(last))))


def _now(reader: Reader, place: int) -> Found | None:
    behind = reader.after(
        place, "now", "right now", "the present", "present", "this moment", "date"
    )
    if behind is None:
        return None
    now = reader.calendar.now
    return Period("minute", instants=(now, now), exact=True), behind


def _calendar_unit(reader: Reader, place: int) -> Found | None:
    """Last month, this quarter, next week, the previous year. "The last hour" is elapsed time."""
    start = reader.skip(place, "the", "all of", "the whole of", "all")
    distance = _distance(reader.text(start))
    unit = UNITS.get(reader.text(start + 1))
    if distance is None or unit is None or reader.text(start + 1).endswith("s"):
        return None
    if unit in _ELAPSED or _is_rolling(reader, start, unit):
        return None
    today = reader.calendar.today
    if unit == "weekend":
        return Period(unit, days=_weekend(reader, distance)), start + 2
    return Period(unit, days=unit_near(unit, today, distance)), start + 2


def _distance(word: str) -> int | None:
    for words, distance in ((PREVIOUS, -1), (CURRENT, 0), (NEXT, 1)):
        if word in words:
            return distance
    return None


def _is_rolling(reader: Reader, place: int, unit: Unit) -> bool:
    """ "Over the last month" counts back from now; "last month" and "the last quarter" are calendar units."""
    counts_back = reader.text(place) == "last" and reader.text(place - 1) == "the"
    return counts_back and unit not in {"quarter", "weekend"} and reader.text(place - 2) in _OVER


def _weekend(reader: Reader, distance: int) -> Days:
    today = reader.calendar.today
    return past_weekend(today) if distance < 0 else unit_near("weekend", today, distance)


def _before_last(reader: Reader, place: int) -> Found | None:
    """The month before last, the weekend before last."""
    start = reader.skip(place, "the")
    behind = reader.after(start + 1, "before last", "before the last", "before the last one")
    unit = UNITS.get(reader.text(start))
    if behind is None or unit is None:
        return None
    if unit == "weekend":
        first, last = past_weekend(reader.calendar.today)
        return Period(unit, days=(shift(first, "week", -1), shift(last, "week", -1))), behind
    return Period(unit, days=unit_near(unit, reader.calendar.today, -2)), behind


def _rolling(reader: Reader, place: int) -> Found | None:
    """The past 30 days, the last hour, past week, the next two weeks."""
    start = reader.skip(place, "the", "these", "this")
    word = reader.text(start)
    if word not in ROLLING and word not in NEXT:
        return None
    counted = _counted_unit(reader, start + 1)
    if counted is None:
        return None
    unit, count, behind, has_number = counted
    if not (has_number or word == "past" or unit in _ELAPSED or _is_rolling(reader, start, unit)):
        return None
    calendar, now = reader.calendar, reader.calendar.now
    if word in NEXT:
        return Period(unit, instants=(now, calendar.back(unit, -count))), behind
    return Period(unit, instants=(calendar.back(unit, count), now)), behind


def _counted_unit(reader: Reader, place: int) -> tuple[Unit, int, int, bool] | None:
    """A unit with its number: "30 days", "couple of weeks", "half hour", "six months", "year"."""
    behind = reader.after(place, "half an hour", "half hour")
    if behind is not None:
        return "minute", 30, behind, True
    behind = reader.after(place, "half a year", "half year")
    if behind is not None:
        return "month", 6, behind, True
    count = count_at(reader, place)
    number, start = count or (1, place)
    start = reader.skip(start, "calendar", "full", "whole")
    found = unit_word(reader, start)
    if found is None:
        return None
    unit, factor, behind = found
    return unit, number * factor, behind, count is not None or factor > 1


def _ago(reader: Reader, place: int) -> Found | None:
    """Three days ago, a week ago today, two hours ago; a longer unit means that calendar unit."""
    counted = _counted_unit(reader, place)
    if counted is None:
        return None
    unit, count, behind, _ = counted
    end = reader.after(behind, "ago", "back", "earlier")
    if end is None:
        return None
    if unit in _ELAPSED:
        start = reader.calendar.back(unit, count)
        return Period(unit, instants=(start, start + timedelta(minutes=1)), exact=True), end
    today, day_end = reader.calendar.today, reader.after(end, "today", "to the day")
    if day_end is not None or unit in {"day", "week"}:
        day = shift(today, unit, -count)
        return Period("day", days=unit_around("day", day)), day_end or end
    return Period(unit, days=unit_near(unit, today, -count)), end


def _today_in_past(reader: Reader, place: int) -> Found | None:
    """This day last month, today a year ago."""
    behind = reader.after(place, "this day last", "this time last", "the same day last")
    unit = None if behind is None else UNITS.get(reader.text(behind))
    if behind is None or unit is None:
        return None
    return day_of_unit(shift(reader.calendar.today, unit, -1)), behind + 1


def _weekday(reader: Reader, place: int) -> Found | None:
    """Monday, last Friday, this past Tuesday; Friday of last week."""
    start = reader.skip(place, "the")
    start = reader.skip(
        start, "this past", "this coming", "past", "last", "previous", "this", "next", "coming"
    )
    weekday = WEEKDAYS.get(reader.text(start))
    if weekday is None:
        return None
    week, behind = _week_of_weekday(reader, start + 1)
    words = {reader.text(at) for at in range(place, start)}
    today = reader.calendar.today
    if week is not None:
        day = week[0] + timedelta(days=weekday)
    elif words & {"next", "coming"}:
        day = past_weekday(today, weekday) + timedelta(days=_WEEK_DAYS)
    elif words == {"this"}:
        day = unit_around("week", today)[0] + timedelta(days=weekday)
    else:
        day = past_weekday(today, weekday)
    period = Period("day", days=unit_around("day", day), weekly=not words and week is None)
    return _day_part(reader, period, behind)


def _week_of_weekday(reader: Reader, place: int) -> tuple[Days | None, int]:
    """Returns the week that "Friday of last week" and "Friday last week" name."""
    behind = reader.skip(place, "of", "in", ",")
    found = _calendar_unit(reader, behind) or _before_last(reader, behind)
    if found is None or found[0].unit != "week":
        return None, place
    return found[0].days, found[1]


def _weekday_in_week(reader: Reader, place: int) -> Found | None:
    """Last week's Friday, last week on Friday."""
    week = _calendar_unit(reader, place)
    if week is None or week[0].unit != "week" or week[0].days is None:
        return None
    start = reader.skip(week[1], "'s on", "'s", "on", ",")
    weekday = WEEKDAYS.get(reader.text(start))
    if weekday is None:
        return None
    return _day_part(reader, day_of_unit(week[0].days[0] + timedelta(days=weekday)), start + 1)


def _weekend_alone(reader: Reader, place: int) -> Found | None:
    """The weekend: the most recent one that has ended."""
    start = reader.after(place, "the weekend", "weekend")
    if start is None:
        return None
    return Period("weekend", days=past_weekend(reader.calendar.today)), start


def _named_month(reader: Reader, place: int) -> Found | None:
    """Last March: the most recent one that has ended; this March: the one of this year."""
    word, month = reader.text(place), MONTHS.get(reader.text(place + 1))
    distance = _distance(word)
    if distance is None or month is None or reader.kind(place + 2) in {"ordinal", "number"}:
        return None
    today = reader.calendar.today
    over = month < today.month
    year = {-1: today.year - (0 if over else 1), 0: today.year, 1: today.year + (1 if over else 0)}[
        distance
    ]
    if distance > 0 and month == today.month:
        year += 1
    return Period(
        "month", days=unit_around("month", today.replace(year=year, month=month, day=1))
    ), place + 2


def _day_of_month(reader: Reader, place: int) -> Found | None:
    """The 5th: the most recent one; the 5th of last month."""
    start = reader.skip(place, "the")
    if start == place or reader.kind(start) != "ordinal":
        return None
    number = int(reader.text(start)[:-2])
    last, end = _last_day_of_span(reader, number, start + 1)
    behind = reader.after(end, "of")
    month = (
        None if behind is None else _calendar_unit(reader, behind) or _current_unit(reader, behind)
    )
    if month is not None and month[0].unit == "month" and month[0].days is not None:
        first = month[0].days[0]
        days = one_day(first.year, first.month, number)
        until = one_day(first.year, first.month, last)
        if days is None or until is None:
            return None
        return Period("day", days=(days[0], until[1])), month[1]
    return _most_recent_day(reader.calendar.today, number, start + 1)


def _last_day_of_span(reader: Reader, first: int, place: int) -> tuple[int, int]:
    """Returns the last day of "the 1st to the 15th of last month"; the first day if no span follows."""
    mark = reader.after(place, "to the", "to", "through the", "until the", "and the", "-", "–")
    if mark is None or reader.kind(mark) != "ordinal":
        return first, place
    last = int(reader.text(mark)[:-2])
    return (last, mark + 1) if last > first and reader.text(mark + 1) == "of" else (first, place)


def _most_recent_day(today: date, number: int, behind: int) -> Found | None:
    for months in range(_MONTHS_BACK):
        first = shift(today.replace(day=1), "month", -months)
        days = one_day(first.year, first.month, number)
        if days is not None and days[0] <= today:
            return Period("day", days=days), behind
    return None


def _current_unit(reader: Reader, place: int) -> Found | None:
    """ "The year" in "the beginning of the year": the current one."""
    unit = UNITS.get(reader.text(place + 1))
    if (
        reader.text(place) != "the"
        or unit is None
        or unit in _ELAPSED
        or reader.text(place - 1) != "of"
    ):
        return None
    if reader.text(place + 1).endswith("s"):
        return None
    return Period(unit, days=unit_around(unit, reader.calendar.today)), place + 2


_READERS: Final = (
    _named_day, _now, _calendar_unit, _before_last, _rolling, _ago, _today_in_past, _weekday, _weekday_in_week,
    _weekend_alone, _named_month, _day_of_month, _current_unit,
)  # fmt: skip
