"""Extracts the long text of a JSON body piece by piece.

A JSON parser blocks the interpreter while it parses a string, so other requests would wait for one long document.
Between pieces they continue. The rest of the body has the size limit of other bodies, and is parsed like them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pydantic_core import from_json

from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Iterator

    Bytes = bytes | bytearray
    Spans = list[tuple[int, int]]


PIECE_BYTES = 256 * 1024
_CHARACTER_BYTES = 4
# Each mark takes a step in Python. No value needs more than five: an empty object with its key is `"":{},`.
_MARKS_A_VALUE = 8
_MARK = re.compile(rb'["{}\[\],:]')
_DEEPER = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}
# Whole characters and escapes, with both halves of a surrogate pair together: a piece may end after any match.
# Atomic inside the possessive repetition: Python before 3.11.5 matches too little if the group has alternatives.
_WHOLE = re.compile(
    rb'(?:(?>[^"\\]+|\\[^u]|\\u(?:[dD][89abAB]\w\w\\u\w{4}|(?![dD][89abAB])\w{4})))*+', re.DOTALL
)


class Bounds(NamedTuple):
    """Limits of the rest of the body; `piece` is the size of a piece in bytes, at least 12 (a surrogate pair)."""

    size: int
    values: int
    piece: int = PIECE_BYTES


class ExtractedText(NamedTuple):
    """A body with an empty text in place of the long one, and that text as pieces of UTF-8; None if there is none."""

    rest: Bytes
    text: list[bytes] | None


def take_text(body: Bytes, name: str, bounds: Bounds) -> ExtractedText:
    """Extracts the text `name` from the JSON object in `body`. Does not check whether the rest is valid JSON.

    Raises InvalidFieldError for a text that is not a JSON string, and if the rest exceeds the bounds.
    """
    text = None
    # If a name occurs twice, the last one is used, as in the parser that reads the rest.
    for text in _texts(body, name, bounds):  # noqa: B007
        pass
    rest = body if text is None else body[: text[0][0]] + body[text[-1][1] :]
    if len(rest) > bounds.size:
        raise _too_much(bounds)
    if text is None:
        return ExtractedText(rest, None)
    return ExtractedText(
        rest, [_plain(body[start:end]).encode() for start, end in text if end > start]
    )


def _texts(body: Bytes, wanted: str, bounds: Bounds) -> Iterator[Spans]:
    """Yields the pieces of each text with this name in the outermost object."""
    depth = taken = 0
    name, before = "", b""
    for count, (mark, spans) in enumerate(_marks(body, bounds), start=1):
        start, end = spans[0][0], spans[-1][1]
        own = depth == 1 and mark == b'"'
        is_text = own and before == b":" and name == wanted
        if is_text:
            taken += end - start
        if end - taken > bounds.size or count > bounds.values * _MARKS_A_VALUE:
            raise _too_much(bounds)
        if is_text:
            yield spans
        elif own and before != b":":
            name = _plain(body[start:end])
        depth += _DEEPER.get(mark, 0)
        before = mark


def _marks(body: Bytes, bounds: Bounds) -> Iterator[tuple[bytes, Spans]]:
    """Yields each structural mark outside of strings with its position; for an opening quote, the string in pieces."""
    place = 0
    while mark := _MARK.search(body, place, place + bounds.size):
        string = mark[0] == b'"'
        spans = list(_spans(body, mark.end(), bounds.piece)) if string else [mark.span()]
        yield mark[0], spans
        place = spans[-1][1] + string


def _spans(body: Bytes, start: int, piece: int) -> Iterator[tuple[int, int]]:
    """Yields the string whose content begins at `start`, in pieces of whole characters, up to its closing quote."""
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


def _before_split(body: Bytes, end: int) -> int:
    """Returns `end`, or the start of the character that it would split."""
    for place in range(end, end - _CHARACTER_BYTES, -1):
        if body[place : place + 1] and body[place] & 0xC0 != 0x80:  # noqa: PLR2004 - goes on a character of UTF-8
            return place
    return end


def _plain(string: Bytes) -> str:
    try:
        plain: str = from_json(b'"%b"' % bytes(string))
    except ValueError:
        raise _no_string() from None
    return plain


def _no_string() -> InvalidFieldError:
    return InvalidFieldError(FieldError("body", "is not valid JSON: a text is no JSON string"))


def _too_much(bounds: Bounds) -> InvalidFieldError:
    description = f"may hold at most {bounds.size} bytes and {bounds.values} values beside its text"
    return InvalidFieldError(FieldError("body", description))
