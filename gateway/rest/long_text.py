"""The long text of a JSON body, taken out a piece at a time.

A JSON parser keeps the interpreter to itself until it has all of a string: other requests would wait for one document.
Between pieces they go on. What is left of the body is small, and is read as any other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pydantic_core import from_json

from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Iterator

    Body = bytes | bytearray
    Spans = list[tuple[int, int]]

PIECE_BYTES = 256 * 1024
_CHARACTER_BYTES = 4
_MARK = re.compile(rb'["{}\[\],:]')
_DEEPER = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}
# Whole characters and escapes, both halves of a surrogate pair together: a piece may end after any of them.
_WHOLE = re.compile(
    rb'(?:[^"\\]++|\\[^u]|\\u(?:[dD][89abAB]\w\w\\u\w{4}|(?![dD][89abAB])\w{4}))*+', re.DOTALL
)


class Bounds(NamedTuple):
    """How much may stand beside a text; `piece` is the most bytes of it at once: at least 12, a surrogate pair."""

    size: int
    values: int
    piece: int = PIECE_BYTES


class Taken(NamedTuple):
    """A body whose text is empty now, and that text as pieces of UTF-8; None where the body has no such text."""

    rest: Body
    text: list[bytes] | None


def take_text(body: Body, name: str, bounds: Bounds) -> Taken:
    """Takes the text `name` out of the JSON object in `body`. Whether the rest is JSON is not looked at.

    InvalidFieldError for a text that is no JSON string, and when more stands beside it than the bounds allow.
    """
    text = None
    # Where a name is given twice, the last one counts: so it does for the parser that reads the rest.
    for text in _texts(body, name, bounds):  # noqa: B007
        pass
    rest = body if text is None else body[: text[0][0]] + body[text[-1][1] :]
    if len(rest) > bounds.size:
        raise _too_much(bounds)
    if text is None:
        return Taken(rest, None)
    return Taken(rest, [_plain(body[start:end]).encode() for start, end in text if end > start])


def _texts(body: Body, wanted: str, bounds: Bounds) -> Iterator[Spans]:
    """The pieces of each text of the name in the outermost object."""
    depth = place = taken = commas = 0
    name, before = "", b""
    while mark := _MARK.search(body, place, place + bounds.size):
        start = place = mark.end()
        if mark[0] == b'"':
            spans = list(_spans(body, start, bounds.piece))
            end = spans[-1][1]
            place = end + 1
            if depth == 1 and before != b":":
                name = _plain(body[start:end])
            elif depth == 1 and name == wanted:
                taken += end - start
                yield spans
        commas += mark[0] == b","
        if place - taken > bounds.size or commas > bounds.values:
            raise _too_much(bounds)
        depth += _DEEPER.get(mark[0], 0)
        before = mark[0]


def _spans(body: Body, start: int, piece: int) -> Iterator[tuple[int, int]]:
    """The string whose content begins at `start`, in pieces of whole characters: the last ends at its closing quote."""
    while True:
        match = _WHOLE.match(body, start, start + piece)
        end = match.end() if match else start
        if body[end : end + 1] == b'"':
            yield start, end
            return
        if end == start + piece:
            end = _before_split(body, end)
        if end == start:
            raise _no_string()
        yield start, end
        start = end


def _before_split(body: Body, end: int) -> int:
    """`end`, or where the character begins that it would part."""
    for place in range(end, end - _CHARACTER_BYTES, -1):
        if body[place : place + 1] and body[place] & 0xC0 != 0x80:  # noqa: PLR2004 - goes on a character of UTF-8
            return place
    return end


def _plain(string: Body) -> str:
    try:
        plain: str = from_json(b'"%b"' % bytes(string))
    except ValueError:
        raise _no_string() from None
    return plain


def _no_string() -> InvalidFieldError:
    return InvalidFieldError(FieldError("body", "Invalid JSON: a text is no JSON string"))


def _too_much(bounds: Bounds) -> InvalidFieldError:
    told = f"may hold at most {bounds.size} bytes and {bounds.values} values beside its text"
    return InvalidFieldError(FieldError("body", told))
