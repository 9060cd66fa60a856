"""Validity as numbers: epoch seconds, with a number beyond every date for an open end."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

OPEN = float(2**60)


_DAY = 86_400


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment_of(value: float | None) -> datetime | None:
    """Returns the instant of a number; None for an open end."""
    return None if value is None or abs(value) >= OPEN else _EPOCH + timedelta(seconds=value)


def start_of(value: datetime | None) -> float:
    """Returns an interval's start in epoch seconds; an open start is −2^60."""
    return -OPEN if value is None else value.timestamp()


def end_of(value: datetime | None) -> float:
    """Returns an interval's exclusive end in epoch seconds; an open end is 2^60."""
    return OPEN if value is None else value.timestamp()


def seconds_and_nanoseconds(value: datetime | None) -> tuple[int, int] | None:
    """Returns an instant as whole epoch seconds, rounded down, and nanoseconds; None if open."""
    if value is None:
        return None
    since = value - _EPOCH
    return since.days * 86_400 + since.seconds, since.microseconds * 1_000


def range_bounds(start: datetime | None, end: datetime | None) -> tuple[float, float]:
    """Returns `since` and `until` for a `FactFilter` that matches what overlaps start ≤ t < end."""
    return start_of(start), OPEN if end is None else just_before(end.timestamp())


def just_before(seconds: float) -> float:
    """Returns the last number before an instant; a fixed step would be lost in rounding far from 1970."""
    return math.nextafter(seconds, -math.inf)


def is_within_a_day(start: datetime | None, end: datetime | None) -> bool:
    """Returns whether an interval begins and ends within one UTC day: an event rather than a state."""
    if start is None or end is None:
        return False
    return end_of(end) <= day_after(start_of(start))


def day_after(seconds: float) -> float:
    """Returns the first instant of the following UTC day."""
    return (seconds // _DAY + 1) * _DAY


def is_reversed(start: datetime | None, end: datetime | None) -> bool:
    """Returns whether an interval ends at or before its start."""
    return start is not None and end is not None and end <= start
