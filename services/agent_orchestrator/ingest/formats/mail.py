"""Mail: a message becomes a document that begins with its main headers, followed by its text parts in order."""

from __future__ import annotations

import email
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage, Message
from email.parser import BytesHeaderParser
from email.policy import default
from itertools import islice

from services.agent_orchestrator.ingest.dates import read_leniently
from services.agent_orchestrator.ingest.document_warnings import DocumentWarning, WarningReason
from services.agent_orchestrator.ingest.documents import MAX_ID, MAX_TITLE, Metadata
from services.agent_orchestrator.ingest.formats.decoding import decode_part
from services.agent_orchestrator.ingest.formats.html import html_layout, html_text
from services.agent_orchestrator.ingest.formats.mail_headers import addresses, header, sent_time
from services.agent_orchestrator.ingest.formats.mailbox import without_separator
from services.agent_orchestrator.ingest.layout import Layout, Writer, clean, paragraphs

MAX_SHOWN = 10_000
MAX_HEADER = 1000
MAX_ATTACHMENTS = 100
MAX_PARTS = 1000
# Messages attached to messages attached to the message, and so on.
MAX_DEPTH = 10
# Lower-case labels: the extractor of names takes capitalized ones for names.
_SHOWN = (("From", "from"), ("To", "to"), ("Cc", "cc"), ("Date", "date"))
_READ_TYPES = frozenset({"text/plain", "text/html", "text/markdown", "text/csv", "text/enriched"})
# A plain version that lacks more of the words of the HTML version than this share is not the same text.
_MAX_LACKING = 0.5
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Mail:
    """A message: its id if it has one, its text, its metadata, and when it was sent."""

    id: str
    layout: Layout
    metadata: Metadata
    time: datetime | None


def read_mail(data: bytes, limit: int) -> Mail:
    """Parses one message, including attached messages and texts; other attachments are named, not read."""
    message, notices = _parsed(without_separator(data.removeprefix(_BOM).lstrip(b"\r\n")))
    reader = _Reader(limit, warnings=notices)
    reader.read(message)
    subject = header(message, "Subject")[:MAX_TITLE]
    text = reader.writer.layout().text
    return Mail(
        id=_id(header(message, "Message-ID")),
        layout=Layout(text, paragraphs(text), title=subject, warnings=reader.all_warnings()),
        metadata=_metadata(message, reader.attachments),
        time=reader.time,
    )


def _parsed(data: bytes) -> tuple[EmailMessage, list[DocumentWarning]]:
    try:
        return email.message_from_bytes(data, policy=default), []
    except RecursionError:
        notice = "Its parts are nested too deep: it was read as one text."
        warning = DocumentWarning(WarningReason.PART_LEFT_OUT, notice)
        return _as_message(BytesHeaderParser(policy=default).parsebytes(data)), [warning]


def _as_message(message: Message) -> EmailMessage:
    if not isinstance(message, EmailMessage):
        raise TypeError("the policy creates other messages")
    return message


@dataclass(slots=True)
class _Reader:
    """Collects the text of a message and of the messages attached to it."""

    limit: int
    warnings: list[DocumentWarning] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    time: datetime | None = None
    writer: Writer = field(init=False)
    _parts: int = 0

    def __post_init__(self) -> None:
        self.writer = Writer(self.limit)

    def read(self, message: EmailMessage, depth: int = 0) -> None:
        """Writes the headers and the text parts of a message."""
        self.writer.add("\n".join(self._shown(message, depth)))
        start = self.writer.length
        self._read_part(message, depth)
        if self.writer.length == start:
            self._read_outside(message)
        if depth == 0:
            self.time = self._time(message)

    def all_warnings(self) -> Sequence[DocumentWarning]:
        """Returns the warnings, including which attachments were not read."""
        warnings = list(self.warnings)
        if self._parts > MAX_PARTS:
            notice = f"It has {self._parts} parts: the first {MAX_PARTS} were read."
            warnings.append(DocumentWarning(WarningReason.PART_LEFT_OUT, notice))
        if self.unread:
            names = ", ".join(self.unread[:MAX_ATTACHMENTS])
            notice = f"{len(self.unread)} attached files were named, not read: {names}"
            warnings.append(DocumentWarning(WarningReason.PART_LEFT_OUT, notice, "attachments"))
        return warnings

    def _shown(self, message: EmailMessage, depth: int) -> Iterator[str]:
        for name, label in _SHOWN:
            value = header(message, name)
            shown = value if name == "Date" else addresses(value)
            if len(shown) > MAX_SHOWN:
                notice = f"The header {name} was cut after {MAX_SHOWN} characters."
                self.warnings.append(DocumentWarning(WarningReason.PART_LEFT_OUT, notice))
            if shown:
                yield f"{label}: {shown[:MAX_SHOWN]}"
        if depth and (subject := header(message, "Subject")):
            yield f"subject: {subject[:MAX_SHOWN]}"

    def _time(self, message: EmailMessage) -> datetime | None:
        given = header(message, "Date")
        if not given or (time := sent_time(given)) is not None:
            return time if given else None
        reading = read_leniently("date", given)
        self.warnings += reading.warnings
        return reading.time

    def _read_part(self, part: EmailMessage, depth: int) -> None:
        self._parts += 1
        if self._parts > MAX_PARTS:
            return
        kind = part.get_content_type()
        if kind == "message/rfc822" and part.is_multipart():
            self._read_attached(part, depth)
        elif kind == "multipart/alternative" and part.is_multipart():
            self._read_alternatives(list(_children(part)), depth)
        elif part.is_multipart():
            for child in _children(part):
                self._read_part(child, depth)
        elif kind in _READ_TYPES or part.get_content_maintype() in {"multipart", "message"}:
            self._read_text(part)
        else:
            self._name(part)

    def _read_attached(self, part: EmailMessage, depth: int) -> None:
        [inner, *_] = _children(part)
        name = part.get_filename() or header(inner, "Subject")
        self.attachments.append(_named(name or "message"))
        if depth < MAX_DEPTH:
            self.read(inner, depth + 1)
        else:
            notice = f"Messages nested deeper than {MAX_DEPTH} levels were not read."
            self.warnings.append(DocumentWarning(WarningReason.PART_LEFT_OUT, notice))

    def _read_alternatives(self, parts: Sequence[EmailMessage], depth: int) -> None:
        """Reads the alternative that contains the text: the plain one, unless another contains much more."""
        shown = [part for part in parts if part.get_content_type() != "text/calendar"] or parts
        versions = [(part, _words(part, self.limit)) for part in shown[:MAX_PARTS]]
        if not versions:
            return
        richest, words = max(versions, key=lambda version: len(version[1]))
        plain, said = versions[0]
        lacking = len(words - said)
        self._read_part(plain if lacking <= _MAX_LACKING * len(words) and said else richest, depth)

    def _read_text(self, part: EmailMessage) -> None:
        name = _named(part.get_filename() or "")
        if name:
            self.attachments.append(name)
        if name and part.get_content_disposition() == "attachment":
            self.writer.add(name)
        text, warnings = _text(part, self.limit)
        self.warnings += warnings
        self.writer.add(text)

    def _read_outside(self, message: EmailMessage) -> None:
        """Keeps the text around the parts of a message without any text in them."""
        for text in (message.preamble, message.epilogue):
            if text:
                self.writer.add(decode_part(_raw_bytes(text)).text)

    def _name(self, part: EmailMessage) -> None:
        name = _named(part.get_filename() or "")
        kind = part.get_content_type()
        is_shown_picture = part.get_content_maintype() == "image" and not (
            name and part.get_content_disposition() == "attachment"
        )
        if name:
            self.attachments.append(name)
        if not is_shown_picture:
            self.unread.append(f"{name} ({kind})" if name else kind)


def _children(part: EmailMessage) -> Iterator[EmailMessage]:
    payload = part.get_payload()
    if isinstance(payload, list):
        yield from (child for child in payload if isinstance(child, EmailMessage))


def _words(part: EmailMessage, limit: int) -> set[str]:
    """Returns the distinct words of an alternative, which may have parts of its own."""
    words: set[str] = set()
    for one in islice(part.walk(), MAX_PARTS):
        if one.get_content_type() in _READ_TYPES and not one.is_multipart():
            words.update(_text(_as_message(one), limit)[0].casefold().split())
    return words


def _text(part: EmailMessage, limit: int) -> tuple[str, Sequence[DocumentWarning]]:
    data = part.get_payload(decode=True)
    data = data if isinstance(data, bytes) else b""
    charset = str(part.get_content_charset() or "")
    if part.get_content_type() == "text/html":
        html = html_text(data, charset, decode_part)
        return html_layout(html.text, limit).text, html.warnings
    decoded = decode_part(data, charset)
    return decoded.text, decoded.warnings


def _raw_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _named(name: str) -> str:
    return " ".join(clean(name).split())[:MAX_HEADER]


def _metadata(message: EmailMessage, attachments: Sequence[str]) -> Metadata:
    metadata: Metadata = {
        name.lower(): addresses(header(message, name))[:MAX_HEADER] for name in ("From", "To")
    }
    references = header(message, "References") or header(message, "In-Reply-To")
    root = references.split() or [header(message, "Message-ID")]
    metadata["thread"] = _id(root[0])
    metadata["attachments"] = list(attachments[:MAX_ATTACHMENTS])
    return {name: value for name, value in metadata.items() if value}


def _id(text: str) -> str:
    return text.strip("<> ")[:MAX_ID]
