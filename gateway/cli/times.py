"""Text output of times and durations."""

from __future__ import annotations

from datetime import UTC, datetime

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def parse(text: str | None) -> datetime | None:
    """Parses a time of an answer; None if missing or invalid."""
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)


def moment(text: str | None) -> str:
    """`2024-04-18 20:10:00Z`; "" for no time."""
    found = parse(text)
    return f"{found.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z" if found else ""


def day(text: str | None) -> str:
    """`2024-04-18`; "" for no time."""
    return moment(text)[:10]


def age(text: str | None, now: datetime) -> str:
    """`5 min ago`; "" for no time, and for a time in the future by this machine's clock."""
    found = parse(text)
    seconds = (now - found).total_seconds() if found else -1.0
    return f"{duration(seconds)} ago" if seconds >= 0 else ""


def moment_and_age(text: str | None, now: datetime) -> str:
    """Both, the age in parentheses."""
    passed = age(text, now)
    return f"{moment(text)} ({passed})" if passed else moment(text)


def between(start: str | None, end: str | None) -> str:
    """Returns the duration from one time to another; "" if one is missing."""
    since, until = parse(start), parse(end)
    return duration((until - since).total_seconds()) if since and until else ""


def duration(seconds: float) -> str:
    """`3 s`, `5 min`, `2 h`, `4 d`: rounded down to one unit; below a second in tenths."""
    if seconds < 1:
        return f"{max(seconds, 0):.1f} s"
    for size, name in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {name}"
    return f"{int(seconds)} s"
