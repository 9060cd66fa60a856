"""The caller's calendar: local days, units of time around a day, and half-open ranges in UTC."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, Literal

Unit = Literal[
    "minute",
    "hour",
    "day",
    "weekend",
    "week",
    "month",
    "quarter",
    "half",
    "year",
    "decade",
    "century",
]
Days = tuple[date, date]

_MONTHS: Final[dict[str, int]] = {
    "month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1_200,
}  # fmt: skip
_DAYS: Final = {"day": 1, "week": 7, "weekend": 7}
_SIZES: Final[tuple[Unit, ...]] = (
    "minute", "hour", "day", "weekend", "week", "month", "quarter", "half", "year", "decade", "century",
)  # fmt: skip
_SATURDAY: Final = 5
_YEAR_MONTHS: Final = 12
# The range of years that a date can name; other numbers are not years.
FIRST_YEAR: Final = 1000
LAST_YEAR: Final = 2999


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A half-open range in UTC; a bound of None is open."""

    start: datetime | None
    end: datetime | None


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day, in the caller's zone unless the text names another zone."""

    hour: int
    minute: int = 0
    second: int = 0
    zone: tzinfo | None = None


@dataclass(frozen=True, slots=True)
class Period:
    """The time that one expression names. Exactly one of the four fields is set.

    `days` are half-open local days; `in_year` returns them for a year that the text omits; `instants` bound an exact
    interval (`exact` if it is a single instant); `clock` is a time of day whose day is not known yet.
    `weekly` marks a day that was named by its weekday only.
    """

    unit: Unit
    days: Days | None = None
    in_year: Callable[[int], Days | None] | None = None
    instants: tuple[datetime, datetime] | None = None
    clock: ClockTime | None = None
    exact: bool = False
    weekly: bool = False

    def days_in(self, year: int) -> Days | None:
        """Returns the days in that year, for a period without its own year."""
        return None if self.in_year is None else self.in_year(year)


@dataclass(frozen=True, slots=True)
class LocalCalendar:
    """The current time in the caller's zone, with conversions of local days."""

    now: datetime
    zone: tzinfo

    @property
    def local_now(self) -> datetime:
        """The current time in the caller's zone."""
        return self.now.astimezone(self.zone)

    @property
    def today(self) -> date:
        """The current local day."""
        return self.local_now.date()

    def midnight(self, day: date) -> datetime:
        """Returns the start of a local day in UTC."""
        return self.at(day, ClockTime(0))

    def at(self, day: date, clock: ClockTime) -> datetime:
        """Returns a time of a local day in UTC. 24:00 is the next midnight."""
        zone = clock.zone or self.zone
        extra, hour = divmod(clock.hour, 24)
        local = datetime.combine(
            day + timedelta(days=extra), time(hour, clock.minute, clock.second), tzinfo=zone
        )
        return local.astimezone(UTC)

    def back(self, unit: Unit, count: int) -> datetime:
        """Subtracts units from now: elapsed time for hours and minutes, the same local time for longer units."""
        if unit in {"minute", "hour"}:
            return self.now.astimezone(UTC) - timedelta(**{f"{unit}s": count})
        local = self.local_now
        day = shift(local.date(), unit, -count)
        return datetime.combine(day, local.time(), tzinfo=self.zone).astimezone(UTC)

    def bounds(self, period: Period) -> tuple[datetime, datetime]:
        """Returns start and end in UTC; for a period without a year, the most recent one that has begun."""
        if period.instants is not None:
            return period.instants
        if period.clock is not None:
            start = self._most_recent(period.clock)
            return start, start + timedelta(minutes=1)
        first, last = period.days or self._begun(period)
        return self.midnight(first), self.midnight(last)

    def _most_recent(self, clock: ClockTime) -> datetime:
        start = self.at(self.today, clock)
        return start if start <= self.now else self.at(self.today - timedelta(days=1), clock)

    def _begun(self, period: Period) -> Days:
        # The last leap day can be eight years ago, the last quarter or month at most one year.
        for year in range(self.today.year + 1, self.today.year - 9, -1):
            days = period.days_in(year)
            if days is not None and days[0] <= self.today:
                return days
        return unit_around("day", self.today)


def is_smaller(unit: Unit, other: Unit) -> bool:
    """Whether the first unit can be a part of the second."""
    return _SIZES.index(unit) < _SIZES.index(other)


def unit_around(unit: Unit, day: date) -> Days:
    """Returns the calendar unit that contains a day, as half-open days."""
    start = _first_day(unit, day)
    if unit == "weekend":
        return start, start + timedelta(days=2)
    return start, shift(start, unit, 1)


def unit_near(unit: Unit, day: date, distance: int) -> Days:
    """Returns the calendar unit `distance` units before (negative) or after the one that contains the day."""
    return unit_around(unit, shift(_first_day(unit, day), unit, distance))


def shift(day: date, unit: Unit, count: int) -> date:
    """Returns the day `count` units later; the last day of the month if that day does not exist."""
    if unit in _DAYS:
        return day + timedelta(days=_DAYS[unit] * count)
    year, month = divmod(
        day.year * _YEAR_MONTHS + day.month - 1 + _MONTHS[unit] * count, _YEAR_MONTHS
    )
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def month_days(year: int, month: int) -> Days:
    """Returns all days of a month."""
    return unit_around("month", date(year, month, 1))


def months_of(year: int, first: int, count: int) -> Days:
    """Returns the days of `count` months, starting with month `first` of a year."""
    start = date(year, first, 1)
    return start, shift(start, "month", count)


def year_days(year: int) -> Days:
    """Returns all days of a year."""
    return date(year, 1, 1), date(year + 1, 1, 1)


def one_day(year: int, month: int, day: int) -> Days | None:
    """Returns a single day, or None if the date does not exist."""
    try:
        start = date(year, month, day)
    except ValueError:
        return None
    return start, start + timedelta(days=1)


def week_days(year: int, week: int) -> Days | None:
    """Returns an ISO week, Monday to Monday, or None if the year has no such week."""
    try:
        start = date.fromisocalendar(year, week, 1)
    except ValueError:
        return None
    return start, start + timedelta(days=7)


def past_weekday(today: date, weekday: int) -> date:
    """Returns the most recent such weekday before today."""
    return today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)


def past_weekend(today: date) -> Days:
    """Returns the most recent Saturday and Sunday that are both past."""
    saturday = past_weekday(today - timedelta(days=1), _SATURDAY)
    return saturday, saturday + timedelta(days=2)


def _first_day(unit: Unit, day: date) -> date:
    if unit == "day":
        return day
    if unit in _DAYS:
        monday = day - timedelta(days=day.weekday())
        return monday + timedelta(days=_SATURDAY) if unit == "weekend" else monday
    months = _MONTHS[unit]
    if months <= _YEAR_MONTHS:
        return date(day.year, (day.month - 1) // months * months + 1, 1)
    years = months // _YEAR_MONTHS
    return date(day.year // years * years, 1, 1)
