"""Text to chunks: spans of at most a limit, cut between paragraphs, else sentences, else words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_CHUNK = 1500
# From this length on a heading starts a chunk of its own: a change then moves the cuts of its section only.
MIN_SECTION = 500

_PARAGRAPH_END = re.compile(r"\n[ \t\r\f\v]*\n\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)\]]*\s+|\n+")
_WORD_END = re.compile(r"\s+")
_HEADING = re.compile(r"#{1,6}[ \t]")


class Span(NamedTuple):
    """Characters `start` up to `end` of a text."""

    start: int
    end: int


def split(text: str, start: int = 0, limit: int = MAX_CHUNK) -> list[Span]:
    """Spans of the chunks of `text` from `start` on, in order, none empty, none longer than `limit` characters.

    No chunk begins or ends with white space; nothing but white space is left out. A text within the limit is one.
    """
    whole = _trimmed(text, Span(start, len(text)))
    if whole.start == whole.end:
        return []
    if whole.end - whole.start <= limit:
        return [whole]
    return list(_packed(text, _units(text, whole, limit), limit))


def _packed(text: str, units: Iterator[Span], limit: int) -> Iterator[Span]:
    """Neighbouring units put together while they fit."""
    held: Span | None = None
    for unit in units:
        if held is None:
            held = unit
        elif unit.end - held.start <= limit and not _starts_section(text, held, unit):
            held = Span(held.start, unit.end)
        else:
            yield held
            held = unit
    if held is not None:
        yield held


def _starts_section(text: str, held: Span, unit: Span) -> bool:
    return held.end - held.start >= MIN_SECTION and _HEADING.match(text, unit.start) is not None


def _units(text: str, span: Span, limit: int) -> Iterator[Span]:
    """Paragraphs; those over the limit as sentences; those over it as words; those over it cut."""
    for paragraph in _pieces(text, span, _PARAGRAPH_END):
        if paragraph.end - paragraph.start <= limit:
            yield paragraph
            continue
        for sentence in _pieces(text, paragraph, _SENTENCE_END):
            if sentence.end - sentence.start <= limit:
                yield sentence
            else:
                yield from _words(text, sentence, limit)


def _words(text: str, span: Span, limit: int) -> Iterator[Span]:
    for word in _pieces(text, span, _WORD_END):
        for start in range(word.start, word.end, limit):
            yield Span(start, min(start + limit, word.end))


def _pieces(text: str, span: Span, boundary: re.Pattern[str]) -> Iterator[Span]:
    start = span.start
    for match in boundary.finditer(text, span.start, span.end):
        piece = _trimmed(text, Span(start, match.end()))
        start = match.end()
        if piece.start < piece.end:
            yield piece
    rest = _trimmed(text, Span(start, span.end))
    if rest.start < rest.end:
        yield rest


def _trimmed(text: str, span: Span) -> Span:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)
