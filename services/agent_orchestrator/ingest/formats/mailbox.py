"""Mailboxes (mbox): where each message begins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise

_PREFIX = b"From "
# A separator names the sender and the time; with a time in the form of asctime it needs no blank line before it.
_TIME = re.compile(rb"\d:\d\d")
_ASCTIME = re.compile(
    rb"From \S{1,320} {1,3}(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {1,2}"
    rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} {1,2}\d{1,2}:\d\d"
)
_MAX_LINE = 1000
# Lines of a message that look like a separator are escaped in a mailbox.
_ESCAPED = re.compile(rb"^>(>{0,100}From )", re.MULTILINE)


def count_mails(data: bytes) -> int:
    """Counts the messages of a mailbox."""
    return sum(1 for _ in _starts(data))


def split_mailbox(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Yields each message of a mailbox as a mailbox of one, and the offset after it. Lazy: searches on demand."""
    for start, end in pairwise(chain(_starts(data), [len(data)])):
        yield data[start:end], end


def without_separator(data: bytes) -> bytes:
    """Returns a mailbox's message as it was sent: without the separator line and the escapes."""
    if not data.startswith(_PREFIX):
        return data
    _, _, message = data.partition(b"\n")
    return _ESCAPED.sub(rb"\1", message)


def _starts(data: bytes) -> Iterator[int]:
    """Yields the offset of each separator; also that of a first message without one."""
    first = True
    for start in _separators(data):
        if first and data[:start].strip():
            yield 0
        first = False
        yield start
    if first and data.strip():
        yield 0


def _separators(data: bytes) -> Iterator[int]:
    start = data.find(_PREFIX)
    while start >= 0:
        if start == 0 or data[start - 1 : start] == b"\n":
            line = data[start : start + _MAX_LINE].split(b"\n", 1)[0]
            if _ASCTIME.match(line) or (_follows_blank_line(data, start) and _TIME.search(line)):
                yield start
        start = data.find(_PREFIX, start + 1)


def _follows_blank_line(data: bytes, start: int) -> bool:
    return data[max(start - 4, 0) : start].replace(b"\r", b"").endswith(b"\n\n") or not (
        data[:start].strip() if start <= _MAX_LINE else True
    )
