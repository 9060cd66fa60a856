"""The date format of answers: days, with a phrase for facts that have ended."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

from services.agent_orchestrator.agent.results import ResultItem

_LAST_INSTANT = timedelta(microseconds=1)


def day(instant: datetime, zone: tzinfo) -> str:
    """Formats a local day: "3 February 2025"."""
    local = instant.astimezone(zone)
    return f"{local.day} {local:%B %Y}"


def holding(item: ResultItem, now: datetime, zone: tzinfo) -> str:
    """Formats the validity of a fact, in parentheses; empty if no date is known."""
    start, end = item.valid_from, item.valid_until
    if item.is_event:
        return "" if start is None else f" (on {day(start, zone)})"
    if end is not None and end <= now:
        begin = "" if start is None else f"from {day(start, zone)} "
        return f" (ended: {begin}until {day(end, zone)})"
    if end is not None:
        begin = "" if start is None else f"from {day(start, zone)} "
        return f" ({begin}until {day(end, zone)})"
    return "" if start is None else f" (since {day(start, zone)})"


def reference(start: datetime, end: datetime | None, zone: tzinfo) -> str:
    """Formats the time that an answer refers to: "1 January 2024 to 31 January 2024"."""
    if end is None or end - start <= timedelta(days=1):
        return day(start, zone)
    return f"{day(start, zone)} to {day(end - _LAST_INSTANT, zone)}"


def is_current(item: ResultItem, now: datetime) -> bool:
    """Whether a fact is true now; a single event stays true."""
    began = item.valid_from is None or item.valid_from <= now
    return began and (item.is_event or item.valid_until is None or item.valid_until > now)


def overlaps(item: ResultItem, start: datetime | None, end: datetime | None) -> bool:
    """Whether a fact was true at any moment of a half-open range."""
    begins_before_end = end is None or item.valid_from is None or item.valid_from < end
    ends_after_start = start is None or item.valid_until is None or item.valid_until > start
    return begins_before_end and ends_after_start
