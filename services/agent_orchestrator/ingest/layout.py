"""A document's text together with where its parts begin: what chunking, pages and citations go by."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypeVar

from services.agent_orchestrator.ingest.documents import UnreadableError

# How strong a break is: the smaller the stronger. Headings have their level, 1 to 6.
BLOCK = 7
ITEM = 8
ROW = 9

_PARAGRAPH_END = re.compile(r"\n[ \t\r\f\v]*\n\s*")
# What no store or no reader can hold: controls but tab and newline, halves of surrogate pairs, non-characters.
_UNTEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufeff\ufffe\uffff]")
_Value = TypeVar("_Value")


class Break(NamedTuple):
    """At `offset` a part of the text begins; `rank` tells how much of a new part it is."""

    offset: int
    rank: int


@dataclass(frozen=True, slots=True)
class Layout:
    """A text, its breaks in order, and which page and which message each stretch of it belongs to."""

    text: str
    breaks: Sequence[Break]
    title: str = ""
    pages: Sequence[tuple[int, int]] = ()
    times: Sequence[tuple[int, datetime]] = ()

    def page(self, offset: int) -> int:
        """The page, from 1, that the character is on; 0 in a text without pages."""
        return _at(self.pages, offset) or 0


@dataclass(slots=True)
class Writer:
    """Puts a text together from blocks. UnreadableError when it grows over `limit` characters."""

    limit: int
    title: str = ""
    pages: list[tuple[int, int]] = field(default_factory=list)
    times: list[tuple[int, datetime]] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _breaks: list[Break] = field(default_factory=list)
    _length: int = 0

    def add(self, block: str, rank: int = BLOCK, *, close: bool = False) -> int | None:
        """Adds a block and tells where it begins; `close` to the one before, without a blank line. None when blank."""
        block = clean(block).rstrip().lstrip("\n")
        if not block.strip():
            return None
        if self._parts:
            self._put("\n" if close else "\n\n")
        start = self._length
        self._breaks.append(Break(start, rank))
        self._put(block)
        return start

    def layout(self) -> Layout:
        """The text so far."""
        return Layout("".join(self._parts), self._breaks, self.title, self.pages, self.times)

    def _put(self, text: str) -> None:
        self._length += len(text)
        check_length(self._length, self.limit)
        self._parts.append(text)


def paragraphs(text: str, start: int = 0) -> list[Break]:
    """The breaks of plain text: its paragraphs, which blank lines part."""
    ends = (match.end() for match in _PARAGRAPH_END.finditer(text, start))
    return [Break(offset, BLOCK) for offset in (start, *ends)]


def clean(text: str) -> str:
    """Text without what no store can hold; lines end in a newline."""
    return _UNTEXT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def check_length(length: int, limit: int) -> None:
    """UnreadableError for a text that is too long for one document."""
    if length > limit:
        raise UnreadableError(f"holds more than {limit} characters of text: split it")


def _at(marks: Sequence[tuple[int, _Value]], offset: int) -> _Value | None:
    place = bisect_right(marks, offset, key=lambda mark: mark[0])
    return marks[place - 1][1] if place else None
