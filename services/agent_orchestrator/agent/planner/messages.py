"""Messages in passages of threads: each has a heading with its author and time, which holds for all of its text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from services.runtime.patterns import compile_linear

# "Jon (2023-01-20 16:04): text" or, without an author, "2023-01-20 16:04: text". Both begin a block of the passage.
_HEADING: Final = compile_linear(
    r"(?:\A|\n\n)(?:([^\n]{1,200}?) \((\d{4}-\d\d-\d\d \d\d:\d\d)\)|(\d{4}-\d\d-\d\d \d\d:\d\d)): "
)


@dataclass(frozen=True, slots=True)
class Message:
    """A message in a passage: who wrote it when, and from where to where its text reaches."""

    author: str
    time: datetime
    start: int
    end: int


def messages_in(passage: str) -> list[Message]:
    """Returns the messages of a passage in order; text before the first heading belongs to none."""
    found = [
        (match, time)
        for match in _HEADING.finditer(passage)
        if (time := _parsed(match[2] or match[3])) is not None
    ]
    ends = [*(match.start() for match, _ in found[1:]), len(passage)]
    return [
        Message(match[1] or "", time, match.end(), end)
        for (match, time), end in zip(found, ends, strict=False)
    ]


def _parsed(written: str) -> datetime | None:
    try:
        return datetime.strptime(written, "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
    except ValueError:
        return None
