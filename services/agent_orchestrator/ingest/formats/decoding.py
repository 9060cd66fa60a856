"""Decodes bytes: in the encoding that the file declares, otherwise UTF-8, otherwise a reliably detected one."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from services.agent_orchestrator.ingest.documents import UnreadableError

# Longer byte order marks first: that of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Multi-byte UTF-8 characters, which text in another encoding rarely contains by chance.
_UTF8_CHARACTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_HIGH = re.compile(rb"[\x80-\xff]")
# Bytes used for detection: its cost grows with the text, its accuracy hardly does.
_SAMPLE = 256 * 1024
_PIECE = 256 * 1024


def utf8_pieces(data: bytes) -> Iterator[str]:
    """Yields the text of UTF-8 bytes, with or without a byte order mark, in pieces. Raises UnreadableError otherwise.

    Decoding holds the interpreter lock; other threads can run between pieces.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    for start in range(0, len(data), _PIECE):
        end = start + _PIECE
        try:
            yield decoder.decode(data[start:end], final=end >= len(data))
        except UnicodeDecodeError:
            raise UnreadableError("is not UTF-8 text: save it as UTF-8") from None


def decode(data: bytes, declared: str = "") -> str:
    """Decodes bytes in any encoding that can be determined reliably; `declared` is the encoding that the file names.

    Raises UnreadableError for bytes that fit no encoding, mix several, or fit several equally well.
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
    """Returns an encoding in which the bytes are words of a known language; None for no match or a short text."""
    from charset_normalizer import from_bytes  # noqa: PLC0415 - needed only for files that are not UTF-8

    best = from_bytes(data[:_SAMPLE]).best()
    return best.encoding if best is not None and best.coherence > 0 else None
