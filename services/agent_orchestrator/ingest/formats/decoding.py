"""Bytes to text: as the file says of itself, else UTF-8, else the one encoding that the bytes make sense in."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from services.agent_orchestrator.ingest.documents import UnreadableError

# The longer marks first: that of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Sequences that no text in another encoding holds by chance as often as text in UTF-8 does.
_UTF8_CHARACTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_HIGH = re.compile(rb"[\x80-\xff]")
# Detection looks at this much: its cost grows with the text, its answer hardly does.
_SAMPLE = 256 * 1024
_PIECE = 256 * 1024


def utf8_pieces(data: bytes) -> Iterator[str]:
    """The text of UTF-8 bytes, with or without a mark, in pieces. UnreadableError for others.

    The interpreter goes on with nothing else while it decodes: between pieces, other threads do.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    for start in range(0, len(data), _PIECE):
        end = start + _PIECE
        try:
            yield decoder.decode(data[start:end], final=end >= len(data))
        except UnicodeDecodeError:
            raise UnreadableError("is not UTF-8 text: save it as UTF-8") from None


def decode(data: bytes, declared: str = "") -> str:
    """The text of bytes in any encoding that can be told for certain, `declared` being what they say of themselves.

    UnreadableError for bytes that are in none, in several, or in one of several that fit.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _as(encoding, data[len(mark) :])
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        refusal = _not_utf8(error)
    if _is_text_encoding(declared):
        return _as(declared, data)
    if _mixes_utf8(data):
        raise UnreadableError(f"{refusal}: it mixes UTF-8 with another encoding")
    guessed = _guess(data)
    if guessed is None:
        raise UnreadableError(f"{refusal}: save it as UTF-8")
    return _as(guessed, data)


def _as(encoding: str, data: bytes) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(f"is not {encoding.upper()} text (byte {error.start})") from None


def _not_utf8(error: UnicodeDecodeError) -> UnreadableError:
    return UnreadableError(f"is not UTF-8 text (byte {error.start})")


def _is_text_encoding(name: str) -> bool:
    try:
        return bool(name) and codecs.lookup(name).name != "utf-8" and b"".decode(name) == ""
    except (LookupError, ValueError):
        return False


def _mixes_utf8(data: bytes) -> bool:
    valid = sum(len(found) for found in _UTF8_CHARACTER.findall(data))
    return valid > len(_HIGH.findall(data)) - valid


def _guess(data: bytes) -> str | None:
    """An encoding in which the bytes are words of a known language; None when there is none or the text is short."""
    from charset_normalizer import from_bytes  # noqa: PLC0415 - only for files that are not UTF-8

    best = from_bytes(data[:_SAMPLE]).best()
    return best.encoding if best is not None and best.coherence > 0 else None
