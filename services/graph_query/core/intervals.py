"""Validity as numbers: epoch seconds, with a number beyond every date for an open end."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

OPEN = float(2**60)


_DAY = 86_400


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment_of(value: float | None) -> datetime | None:
    """The instant of a number; None for an open end."""
    return None if value is None or abs(value) >= OPEN else _EPOCH + timedelta(seconds=value)


def start_of(value: datetime | None) -> float:
    """An interval's start in epoch seconds; open is −2^60."""
    return -OPEN if value is None else value.timestamp()


def end_of(value: datetime | None) -> float:
    """An interval's end, the first instant outside, in epoch seconds; open is 2^60."""
    return OPEN if value is None else value.timestamp()


def seconds_and_nanoseconds(value: datetime | None) -> tuple[int, int] | None:
    """An instant as whole epoch seconds, towards the past, and nanoseconds; None is open."""
    if value is None:
        return None
    since = value - _EPOCH
    return since.days * 86_400 + since.seconds, since.microseconds * 1_000


def range_bounds(start: datetime | None, end: datetime | None) -> tuple[float, float]:
    """`since` and `until` of a half-open range for `FactFilter`: what overlaps start ≤ t < end."""
    return start_of(start), OPEN if end is None else just_before(end.timestamp())


def just_before(seconds: float) -> float:
    """The last number before an instant; far from 1970 less than that is lost when it is subtracted."""
    return math.nextafter(seconds, -math.inf)


def is_within_a_day(start: datetime | None, end: datetime | None) -> bool:
    """Whether an interval begins and ends within one day of UTC: what happened then rather than what lasted."""
    if start is None or end is None:
        return False
    return end_of(end) <= day_after(start_of(start))


def day_after(seconds: float) -> float:
    """The first instant of the day after an instant's, in UTC."""
    return (seconds // _DAY + 1) * _DAY


def is_reversed(start: datetime | None, end: datetime | None) -> bool:
    """Whether an interval ends at its start or before it."""
    return start is not None and end is not None and end <= start
