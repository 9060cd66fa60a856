"""A document's text with the positions where its parts begin, used for chunking, pages and citations."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypeVar

from services.agent_orchestrator.ingest.document_warnings import DocumentWarning
from services.agent_orchestrator.ingest.documents import UnreadableError

# The rank of a break: smaller is stronger. Headings have their level, 1 to 6.
BLOCK = 7
ITEM = 8
ROW = 9

_PARAGRAPH_END = re.compile(r"\n[ \t\r\f\v]{0,1000}\n\s*")
# Characters to remove because they cannot be stored or displayed: controls, lone surrogates, non-characters.
_UNTEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufeff\ufffe\uffff]")
_Value = TypeVar("_Value")


class Break(NamedTuple):
    """A part of the text begins at `offset`; `rank` is the strength of the break."""

    offset: int
    rank: int


@dataclass(frozen=True, slots=True)
class Layout:
    """A text, its breaks in order, and the page and message of each range of it."""

    text: str
    breaks: Sequence[Break]
    title: str = ""
    pages: Sequence[tuple[int, int]] = ()
    times: Sequence[tuple[int, datetime]] = ()
    warnings: Sequence[DocumentWarning] = ()

    def page(self, offset: int) -> int:
        """Returns the page, from 1, of a character; 0 in a text without pages."""
        return _at(self.pages, offset) or 0


@dataclass(slots=True)
class Writer:
    """Builds a text from blocks. Raises UnreadableError if it exceeds `limit` characters."""

    limit: int
    title: str = ""
    pages: list[tuple[int, int]] = field(default_factory=list)
    times: list[tuple[int, datetime]] = field(default_factory=list)
    warnings: list[DocumentWarning] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _breaks: list[Break] = field(default_factory=list)
    _length: int = 0

    def add(self, block: str, rank: int = BLOCK, *, close: bool = False) -> int | None:
        """Adds a block; returns its offset, or None if it is blank. `close` adds it without a blank line before it."""
        block = clean(block).rstrip().lstrip("\n")
        if not block.strip():
            return None
        if self._parts:
            self._put("\n" if close else "\n\n")
        start = self._length
        self._breaks.append(Break(start, rank))
        self._put(block)
        return start

    def add_layout(self, layout: Layout) -> None:
        """Adds a text with its breaks."""
        if not layout.text:
            return
        if self._parts:
            self._put("\n\n")
        start = self._length
        self._breaks += (Break(start + one.offset, one.rank) for one in layout.breaks)
        self._put(layout.text)

    def layout(self) -> Layout:
        """Returns the text so far."""
        text = "".join(self._parts)
        return Layout(text, self._breaks, self.title, self.pages, self.times, self.warnings)

    @property
    def length(self) -> int:
        """The number of characters so far."""
        return self._length

    def _put(self, text: str) -> None:
        self._length += len(text)
        check_length(self._length, self.limit)
        self._parts.append(text)


def paragraphs(text: str, start: int = 0) -> list[Break]:
    """Returns the breaks of plain text: its paragraphs, separated by blank lines."""
    ends = (match.end() for match in _PARAGRAPH_END.finditer(text, start))
    return [Break(offset, BLOCK) for offset in (start, *ends)]


def clean(text: str) -> str:
    """Removes characters that cannot be stored; lines end in a newline."""
    return _UNTEXT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def check_length(length: int, limit: int) -> None:
    """Raises UnreadableError for a text that is too long for one document."""
    if length > limit:
        raise UnreadableError(f"holds more than {limit} characters of text: split it")


def _at(marks: Sequence[tuple[int, _Value]], offset: int) -> _Value | None:
    place = bisect_right(marks, offset, key=lambda mark: mark[0])
    return marks[place - 1][1] if place else None
