"""Decodes bytes of any format: a byte order mark, valid UTF-8, the declared encoding, otherwise the most likely one.

Labels of encodings mean what browsers take them for (WHATWG Encoding Standard): `iso-8859-1` is windows-1252, `gb2312`
is GB 18030. A label never outweighs bytes that are valid UTF-8, because other encodings rarely are by chance.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

import webencodings
from chardetng_py import EncodingDetector

from services.agent_orchestrator.ingest.document_warnings import DocumentWarning, WarningReason
from services.agent_orchestrator.ingest.documents import UnreadableError

# Longer byte order marks first: that of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
# Encodings of seven bits, whose bytes are valid UTF-8 as well: the escape sequences that only they contain.
_ESCAPED = (
    (b"\x1b$)C", "iso2022_kr"),
    (b"\x1b$", "iso2022_jp_2"),
    (b"\x1b(J", "iso2022_jp_2"),
    (b"\x1b(I", "iso2022_jp_ext"),
)
# Encodings of seven bits without escape sequences, used only if they are declared.
_SEVEN_BITS = {"utf-7": "utf-7", "hz-gb-2312": "hz", "hz": "hz"}
# The decoders that browsers use contain more characters than Python's of the same name.
_DECODERS = {"gbk": "gb18030"}
# Characters in UTF-16 that a text hardly contains: their presence means that the byte order is another.
_UNLIKELY = re.compile(
    "[\x00-\x08\x0e-\x1a\x1c-\x1f\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff]"
)
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
# Multi-byte UTF-8 characters, which text in another encoding rarely contains by chance.
_UTF8_CHARACTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_HIGH = re.compile(rb"[\x80-\xff]")
_KANA = re.compile("[ぁ-ゖァ-ヺ]")
_HALF_WIDTH = re.compile("[\uff61-\uff9f]")
# Bytes used for detection: its cost grows with the text, its accuracy hardly does.
_SAMPLE = 256 * 1024
_MIN_CONTROLS = 0.4
_PIECE = 256 * 1024


class Decoded(NamedTuple):
    """A text, and a warning if it may differ from what was written."""

    text: str
    warning: DocumentWarning | None = None

    @property
    def warnings(self) -> list[DocumentWarning]:
        """The warning as a list."""
        return [self.warning] if self.warning else []


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


def codec_of(label: str) -> str:
    """Returns Python's codec for an encoding's label; "" for a label that browsers do not know."""
    known = webencodings.lookup(label.strip().strip("'\""))  # type: ignore[no-untyped-call]  # no types
    if known is None or known.name in {"replacement", "x-user-defined"}:
        return ""
    name = str(known.codec_info.name)
    return _DECODERS.get(name, name)


def decode(data: bytes, declared: str = "") -> Decoded:
    """Decodes the bytes of a file; `declared` is the encoding that the file names.

    Raises UnreadableError for bytes that fit no encoding or mix several.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Decoded(_as(encoding, data[len(mark) :]))
    text = _seven_bits(data, declared) or _wide(data, declared)
    if text is not None:
        return Decoded(text)
    try:
        return Decoded(data.decode())
    except UnicodeDecodeError as error:
        refusal = f"is not UTF-8 text (byte {error.start})"
    text = _strict(codec_of(declared), data)
    if text is not None:
        return Decoded(text)
    if _mixes_utf8(data):
        raise UnreadableError(f"{refusal}: it mixes UTF-8 with another encoding")
    return _guessed(data, refusal)


def decode_part(data: bytes, declared: str = "") -> Decoded:
    """Decodes a part of a file whose other parts are read in any case: characters that cannot be read are replaced."""
    try:
        return decode(data, declared)
    except UnreadableError:
        text = data.decode(codec_of(declared) or "utf-8", "replace")
    count = text.count("\ufffd")
    notice = f"{count} bytes fit no character encoding and were replaced."
    return Decoded(text, DocumentWarning(WarningReason.CHARACTERS_REPLACED, notice))


def _as(encoding: str, data: bytes) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(f"is not {encoding.upper()} text (byte {error.start})") from None


def _strict(encoding: str, data: bytes) -> str | None:
    try:
        return data.decode(encoding) if encoding else None
    except (UnicodeDecodeError, LookupError):
        return None


def _seven_bits(data: bytes, declared: str) -> str | None:
    """Returns the text of an encoding whose bytes are all ASCII, recognized by escape sequences or the label."""
    if b"\x1b" in data:
        for escape, encoding in _ESCAPED:
            if escape in data and (text := _strict(encoding, data)) is not None:
                return text
    named = _SEVEN_BITS.get(declared.strip().lower(), "")
    return _strict(named, data) if named and data.isascii() else None


def _wide(data: bytes, declared: str) -> str | None:
    """Returns the text of UTF-16 or UTF-32 without a byte order mark: bytes of other encodings contain no zero."""
    if b"\x00" not in data or _is_utf8_text(data):
        return None
    named = codec_of(declared)
    likely = [named] if named in _WIDE else []
    for encoding in (*likely, *sorted(_WIDE, key=lambda name: -_spaces(data, name))):
        text = _strict(encoding, data)
        if text is not None and not _UNLIKELY.search(text):
            return text
    return None


def _is_utf8_text(data: bytes) -> bool:
    """Whether bytes with zeros are UTF-8: if they were in a wide encoding, every other byte would be a control."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return len(_CONTROLS.findall(data[:_SAMPLE])) < _MIN_CONTROLS * len(data[:_SAMPLE])


def _spaces(data: bytes, encoding: str) -> int:
    """Counts characters that every text contains, encoded this way at a position of a whole character."""
    sample = data[:_PIECE]
    width = len(" ".encode(encoding))
    return sum(
        sample[at : at + width] in common
        for common in [frozenset(mark.encode(encoding) for mark in " \n\r,.e")]
        for at in range(0, min(len(sample), 8192), width)
    )


def _mixes_utf8(data: bytes) -> bool:
    valid = sum(len(found) for found in _UTF8_CHARACTER.findall(data))
    return valid > len(_HIGH.findall(data)) - valid


def _guessed(data: bytes, refusal: str) -> Decoded:
    """Decodes in the most likely encoding, as a browser does for pages without a label."""
    if _CONTROLS.search(data):
        raise UnreadableError(f"{refusal}: save it as UTF-8")
    encoding = _detected(data)
    text = _strict(encoding, data)
    if text is None:
        raise UnreadableError(f"{refusal}: save it as UTF-8")
    notice = f"The encoding is not declared and was taken for {encoding}: save it as UTF-8 if characters are wrong."
    return Decoded(text, DocumentWarning(WarningReason.ENCODING_GUESSED, notice))


def _detected(data: bytes) -> str:
    # Two-byte kana are the one frequent sequence that the detector takes for Cyrillic in a text of one sentence.
    japanese = _strict("cp932", data)
    if japanese and len(_KANA.findall(japanese)) > 1 and not _HALF_WIDTH.search(japanese):
        return "cp932"
    detector = EncodingDetector()
    detector.feed(data[:_SAMPLE], last=len(data) <= _SAMPLE)
    name = detector.guess(tld=None, allow_utf8=False)
    return codec_of(name) or name
