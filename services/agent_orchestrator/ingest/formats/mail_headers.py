"""Headers of mails as text: decoded words, names of senders and recipients, dates."""

from __future__ import annotations

import base64
import binascii
import quopri
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import getaddresses, parsedate_to_datetime

from services.agent_orchestrator.ingest.formats.decoding import decode_part
from services.agent_orchestrator.ingest.layout import clean
from services.runtime.patterns import compile_linear

# Characters of a raw header that are read.
MAX_RAW = 64 * 1024
# Longer lists of addresses are shown as they are: the library's parser takes time that is quadratic in their length.
_MAX_PARSED = 2000
_WORD = compile_linear(r"=\?([^? \t\r\n]{1,80})\?([bBqQ])\?([^?]*)\?=")


def header(message: EmailMessage, name: str) -> str:
    """Returns the first header of a name as one line of text; "" if it is missing."""
    return next(iter(headers(message, name)), "")


def headers(message: EmailMessage, name: str) -> Iterator[str]:
    """Yields the headers of a name, each as one line of text."""
    for given, value in message.raw_items():
        if given.lower() == name.lower():
            yield " ".join(clean(_decoded(_unescaped(str(value)))).split())


def addresses(text: str) -> str:
    """Returns addresses in the form `Name <address>`; names in comments, `address (Name)`, become names as well.

    Text that is not a list of addresses is unchanged.
    """
    if "(" not in text or len(text) > _MAX_PARSED:
        return text
    try:
        found = getaddresses([text])
    except RecursionError:
        return text
    if not all(address for _, address in found):
        return text
    return ", ".join(f"{name} <{address}>" if name else address for name, address in found)


def sent_time(text: str) -> datetime | None:
    """Returns the time of a `Date` header; None if it is not in the form of mails."""
    try:
        sent = parsedate_to_datetime(text)
        return (sent if sent.tzinfo else sent.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _unescaped(raw: str) -> str:
    """Returns a raw header as text: the library represents bytes that are not ASCII by surrogates."""
    raw = raw[:MAX_RAW]
    try:
        data = raw.encode("ascii", "surrogateescape")
    except UnicodeEncodeError:
        return raw
    return raw if raw.isascii() else decode_part(data).text


def _decoded(text: str) -> str:
    """Returns text with its encoded words decoded. A character may span adjacent words of the same encoding."""
    parts: list[str] = []
    charset, held, end = "", b"", 0
    for word in _WORD.finditer(text):
        between = text[end : word.start()]
        label = word[1].partition("*")[0]
        if held and (between.strip() or label.lower() != charset.lower()):
            parts.append(decode_part(held, charset).text)
            held = b""
        if between.strip() or not end:
            parts.append(between)
        charset, held, end = label, held + _bytes(word[2], word[3]), word.end()
    return "".join((*parts, decode_part(held, charset).text if held else "", text[end:]))


def _bytes(kind: str, text: str) -> bytes:
    data = text.encode("ascii", "replace")
    if kind in "qQ":
        return quopri.decodestring(data, header=True)
    try:
        return base64.b64decode(data + b"=" * (-len(data) % 4))
    except (binascii.Error, ValueError):
        return data
