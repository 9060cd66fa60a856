"""Message threads: JSON lines of `{"thread", "author"?, "time"?, "text", "id"?}`, one document for each thread.

A message stays together with its author and time. Messages within minutes of the first one form an exchange.
A chunk covers one exchange and is valid from the time of its last message: a search as of a time finds the messages
written by then, and no later ones. A thread that has grown remains the same document, and only its last exchange
changes.
"""

from __future__ import annotations

import io
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from services.agent_orchestrator.ingest.chunking import split
from services.agent_orchestrator.ingest.documents import (
    Metadata,
    Piece,
    Rejected,
    UnreadableError,
    check_values,
    read_date,
)
from services.agent_orchestrator.ingest.formats.json_lines import (
    given_text,
    line_values,
    text_value,
)
from services.agent_orchestrator.ingest.layout import Break, Layout, Writer

_BOM = b"\xef\xbb\xbf"
MAX_PARTICIPANTS = 100
# Messages further apart than this, or further from the first of an exchange, belong to different exchanges.
MAX_GAP = timedelta(minutes=5)
MAX_EXCHANGES = 5_000


class Message(NamedTuple):
    """One line: a message with its author and time."""

    id: str
    thread: str
    author: str
    time: datetime | None
    text: str


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread's messages as one text, its future chunks, and the time of the first message."""

    id: str
    layout: Layout
    metadata: Metadata
    pieces: tuple[Piece, ...] = ()
    since: datetime | None = None


def read_messages(
    data: bytes, thread: str, limit: int, done: int = 0
) -> Iterator[Thread | Rejected]:
    """Yields the threads in order of their first message; messages without a thread name belong to `thread`.

    Unreadable lines are reported by number. Of several messages with one id, the last replaces the first, in its place.
    The first `done` outcomes are placeholders: a thread may end with the last line, so all lines must be read.
    """
    threads: dict[str, dict[str, Message]] = {}
    refused = 0
    for number, message in _messages(data, thread):
        if isinstance(message, Rejected):
            yield message
            refused += 1
            continue
        messages = threads.setdefault(message.thread, {})
        messages[message.id or f"\0{number}"] = message
    for place, (name, messages) in enumerate(threads.items(), start=refused):
        if place < done:
            yield Rejected(name, "was read before")
        else:
            yield _thread(name, list(messages.values()), limit)


def count_threads(data: bytes, thread: str) -> int:
    """Counts the outcomes of `read_messages`: threads and unreadable lines."""
    names: set[str] = set()
    refused = 0
    for _, message in _messages(data, thread):
        if isinstance(message, Rejected):
            refused += 1
        else:
            names.add(message.thread)
    return refused + len(names)


def _messages(data: bytes, thread: str) -> Iterator[tuple[int, Message | Rejected]]:
    """Yields each non-blank line with its number."""
    for number, line in enumerate(io.BytesIO(data), start=1):
        if line.strip():
            yield number, _read(number, line, thread)


def _read(number: int, line: bytes, thread: str) -> Message | Rejected:
    try:
        return _message(line.removeprefix(_BOM) if number == 1 else line, thread)
    except UnreadableError as error:
        return Rejected(f"line {number}", str(error))


def _message(line: bytes, thread: str) -> Message:
    values = line_values(line)
    name = text_value(values, "thread", numbers=True) or thread
    author = text_value(values, "author")
    check_values(name, author, "", {})
    if not name:
        raise UnreadableError("thread is missing")
    text = given_text(values)
    time = read_date("time", values.get("time"))
    return Message(text_value(values, "id", numbers=True), name, author, time, text)


def _thread(name: str, messages: list[Message], limit: int) -> Thread | Rejected:
    writer = Writer(limit)
    last: datetime | None = None
    try:
        for message in messages:
            start = writer.add(_said(message))
            # Messages without a time keep their position after the message before them.
            last = message.time or last
            if start is not None and last is not None:
                writer.times.append((start, last))
    except UnreadableError as error:
        return Rejected(name, str(error))
    authors = dict.fromkeys(message.author for message in messages if message.author)
    participants = list(authors)[:MAX_PARTICIPANTS]
    layout = writer.layout()
    return Thread(
        name,
        layout,
        {"participants": participants} if participants else {},
        tuple(_pieces(layout)),
        min((time for _, time in layout.times), default=None),
    )


def _pieces(layout: Layout) -> Iterator[Piece]:
    """Yields the chunks of each exchange, each with the time of the latest message that it contains text of."""
    starts = [start for start, _ in layout.times]
    times = [time for _, time in layout.times]
    begins = [0, *_exchanges(layout.times)]
    for begin, end in pairwise([*begins, len(layout.text)]):
        for span in split(layout.text, begin, breaks=_between(layout.breaks, begin, end), end=end):
            first = max(bisect_right(starts, span.start) - 1, 0)
            spoken = times[first : bisect_left(starts, span.end)]
            yield Piece(span.start, span.end, time=max(spoken, default=None))


def _exchanges(times: Sequence[tuple[int, datetime]]) -> list[int]:
    """Returns where each exchange after the first begins. In threads with very many, exchanges are longer."""
    gap = MAX_GAP
    while len(found := _begins(times, gap)) > MAX_EXCHANGES:
        gap *= 2
    return found


def _begins(times: Sequence[tuple[int, datetime]], gap: timedelta) -> list[int]:
    found = []
    first = times[0][1] if times else None
    for (_, before), (at, time) in pairwise(times):
        if abs(time - before) >= gap or (first is not None and abs(time - first) >= gap):
            found.append(at)
            first = time
    return found


def _between(breaks: Sequence[Break], begin: int, end: int) -> Sequence[Break]:
    first, last = (bisect_left(breaks, at, key=lambda one: one.offset) for at in (begin, end))
    return breaks[first:last]


def _said(message: Message) -> str:
    when = f"{message.time:%Y-%m-%d %H:%M}" if message.time else ""
    who = f"{message.author} ({when})" if message.author and when else message.author or when
    return f"{who}: {message.text}" if who else message.text
