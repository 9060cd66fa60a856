"""Splits text into chunks of limited length, cut between a text's parts, otherwise sentences, lines or words.

Only the text around a position decides whether a chunk begins there, never the text long before it. An edit therefore
moves only nearby cuts; all other chunks keep their content, and with it their ids, vectors and extracted facts.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from services.agent_orchestrator.ingest.layout import Break, paragraphs

MAX_CHUNK = 1500
# An edit further away than this share of the limit does not move a chunk's beginning. A larger value makes chunks
# longer and an edit more expensive.
REACH = 0.4
# Characters at the start of a part that identify it: a later change does not move a cut.
PRINT = 32

_FINER = 10
_LINE_END = re.compile(r"\n+")
_WORD_END = re.compile(r"\s+")

Cut = Callable[[str, "Span"], Iterator[int]]


class Span(NamedTuple):
    """Characters of a text from `start` (inclusive) to `end` (exclusive)."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """The number of characters."""
        return self.end - self.start


class Unit(NamedTuple):
    """A part that is not split further, and the rank of the break before it."""

    span: Span
    rank: int


def split(
    text: str,
    start: int = 0,
    limit: int = MAX_CHUNK,
    breaks: Sequence[Break] | None = None,
    *,
    end: int | None = None,
) -> list[Span]:
    """Splits `text` from `start` to `end` into chunk spans, in order, none empty or longer than `limit` characters.

    `breaks` are the beginnings of the text's parts; blank lines if it is None. No chunk begins or ends with whitespace;
    only whitespace is left out. A text within the limit is one chunk.
    """
    whole = _trimmed(text, Span(start, len(text) if end is None else end))
    if whole.length <= limit:
        return [whole] if whole.length else []
    units = list(_units(text, whole, paragraphs(text, start) if breaks is None else breaks, limit))
    edges = [0, *anchors(text, units, int(limit * REACH)), len(units)]
    return [span for first, last in pairwise(edges) for span in _packed(units[first:last], limit)]


def anchors(text: str, units: Sequence[Unit], reach: int) -> list[int]:
    """Returns the units that always begin a chunk: their break is the strongest within `reach` characters each way.

    Breaks of equal rank are ordered by a hash of the following text, which is evenly distributed and deterministic.
    Both ends of the text count as stronger than any break.
    """
    keys = [_key(text, unit) for unit in units]
    found: list[int] = []
    end = units[-1].span.end
    before = _nearest(units, keys, range(len(units)), or_equal=True)
    after = _nearest(units, keys, range(len(units) - 1, -1, -1), or_equal=False)
    for i, unit in enumerate(units):
        back = before.get(i, units[0].span.start)
        ahead = after.get(i, end)
        if i and min(unit.span.start - back, ahead - unit.span.start) > reach:
            found.append(i)
    return found


def _nearest(
    units: Sequence[Unit], keys: Sequence[tuple[int, int]], order: range, *, or_equal: bool
) -> dict[int, int]:
    """Returns for each unit the position of the nearest stronger break on one side."""
    nearest: dict[int, int] = {}
    stack: list[int] = []
    for i in order:
        while stack and (
            keys[stack[-1]] > keys[i] or (not or_equal and keys[stack[-1]] == keys[i])
        ):
            stack.pop()
        if stack:
            nearest[i] = units[stack[-1]].span.start
        stack.append(i)
    return nearest


def _key(text: str, unit: Unit) -> tuple[int, int]:
    start = unit.span.start
    return unit.rank, zlib.crc32(text[start : min(start + PRINT, unit.span.end)].encode())


def _packed(units: Sequence[Unit], limit: int) -> Iterator[Span]:
    """Joins adjacent units into as few chunks as necessary, of similar length."""
    total = units[-1].span.end - units[0].span.start
    goal = total / -(-total // limit)
    held = units[0].span
    for unit in units[1:]:
        joined = Span(held.start, unit.span.end)
        if joined.length <= limit and held.length < goal:
            held = joined
        else:
            yield held
            held = unit.span
    yield held


def _units(text: str, whole: Span, breaks: Sequence[Break], limit: int) -> Iterator[Unit]:
    ranks = {place.offset: place.rank for place in reversed(breaks)}
    inside = [offset for offset in ranks if whole.start < offset < whole.end]
    offsets = [whole.start, *sorted(inside)]
    for start, end in zip(offsets, [*offsets[1:], whole.end], strict=True):
        part = _trimmed(text, Span(start, end))
        if part.length:
            yield from _cut(text, part, ranks.get(start, _FINER), _CUTS, limit)


def _cut(text: str, part: Span, rank: int, cuts: Sequence[Cut], limit: int) -> Iterator[Unit]:
    """Yields the part unchanged if it is within the limit, otherwise split into finer and finer pieces."""
    if part.length <= limit:
        yield Unit(part, rank)
    elif not cuts:
        for start in range(part.start, part.end, limit):
            yield Unit(Span(start, min(start + limit, part.end)), _FINER + len(_CUTS))
    else:
        finer = _FINER + len(_CUTS) - len(cuts)
        for piece in _pieces(text, part, cuts[0]):
            own = rank if piece.start == part.start else finer
            yield from _cut(text, piece, own, cuts[1:], limit)


def _pieces(text: str, part: Span, cut: Cut) -> Iterator[Span]:
    start = part.start
    for end in (*cut(text, part), part.end):
        piece = _trimmed(text, Span(start, end))
        start = end
        if piece.length:
            yield piece


def _sentences(text: str, part: Span) -> Iterator[int]:
    return (part.start + end for end in sentence_ends(text[part.start : part.end]))


def _lines(text: str, part: Span) -> Iterator[int]:
    return (match.end() for match in _LINE_END.finditer(text, part.start, part.end))


def _words(text: str, part: Span) -> Iterator[int]:
    return (match.end() for match in _WORD_END.finditer(text, part.start, part.end))


_CUTS: tuple[Cut, ...] = (_sentences, _lines, _words)


def _trimmed(text: str, span: Span) -> Span:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


# The library processes a text as a whole, some in quadratic time, and returns verbose results: a window limits both.
_WINDOW = 2 * 1024


def sentence_ends(text: str, language: str = "en") -> Iterator[int]:
    """Yields the offset after each sentence of `text` except the last, including the whitespace after the sentence."""
    # Imported with the first long text: most processes never split one.
    from sentencex.sentencex import get_sentence_boundaries  # noqa: PLC0415

    start = 0
    while start < len(text):
        window = text[start : start + _WINDOW]
        ends = [found["end_index"] for found in get_sentence_boundaries(language, window)]
        # The last sentence of a window may continue in the next one.
        used = ends[:-1] if len(window) == _WINDOW else ends
        yield from (start + end for end in used if start + end < len(text))
        start += used[-1] if used and used[-1] > 0 else len(window)
