"""Mail: a message becomes a document that begins with its main headers; a mailbox, one document for each message."""

from __future__ import annotations

import email
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import default
from email.utils import parsedate_to_datetime
from itertools import chain, pairwise

from services.agent_orchestrator.ingest.documents import MAX_ID, MAX_TITLE, Metadata
from services.agent_orchestrator.ingest.formats.html import html_layout
from services.agent_orchestrator.ingest.layout import Layout, Writer, clean, paragraphs

# Each message of a mailbox begins with a line that names sender and time, after a blank line. The blank line is checked
# last: searching for a fixed prefix is many times faster.
_FROM = re.compile(
    rb"From (?:(?<=\AFrom )|(?<=\n\nFrom )|(?<=\n\r\nFrom ))[^\r\n]{0,300}\d:\d\d[^\r\n]{0,100}\r?\n"
)
# Lines of a message that look like such a line are escaped in a mailbox.
_MARKED = re.compile(rb"^>(>{0,100}From )", re.MULTILINE)
_SHOWN = ("From", "To", "Cc", "Date")
MAX_HEADER = 1000
MAX_ATTACHMENTS = 100


@dataclass(frozen=True, slots=True)
class Mail:
    """A message: its id if it has one, its text, its metadata, and when it was sent."""

    id: str
    layout: Layout
    metadata: Metadata
    time: datetime | None


def count_mails(data: bytes) -> int:
    """Counts the messages of a mailbox."""
    return sum(1 for _ in _FROM.finditer(data))


def split_mailbox(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Yields each message of a mailbox as a mailbox of one, and the offset after it. Lazy: searches on demand."""
    starts = (match.start() for match in _FROM.finditer(data))
    for start, end in pairwise(chain(starts, [len(data)])):
        yield data[start:end], end


def read_mail(data: bytes, limit: int) -> Mail:
    """Parses one message. Its text starts with its main headers; attachments are named in the metadata, not read."""
    if data.startswith(b"From "):
        data = _MARKED.sub(rb"\1", _FROM.sub(b"", data, count=1))
    message = email.message_from_bytes(data, policy=default)
    subject = _header(message, "Subject")[:MAX_TITLE]
    writer = Writer(limit, title=subject)
    writer.add("\n".join(_shown(message)))
    writer.add(_body(message, limit))
    text = writer.layout().text
    return Mail(
        id=_id(_header(message, "Message-ID")),
        layout=Layout(text, paragraphs(text), title=subject),
        metadata=_metadata(message),
        time=_time(message),
    )


def _shown(message: EmailMessage) -> Iterator[str]:
    for name in _SHOWN:
        value = _header(message, name)
        if value:
            yield f"{name}: {value}"


def _header(message: EmailMessage, name: str) -> str:
    # The library raises errors for damaged headers when it reads them.
    try:
        value = str(message.get(name) or "")
    except (ValueError, IndexError, AttributeError, TypeError):
        return ""
    return " ".join(clean(value).split())[:MAX_HEADER]


def _body(message: EmailMessage, limit: int) -> str:
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    try:
        text = part.get_content()
    except LookupError:  # an unknown character set
        payload = part.get_payload(decode=True)
        text = payload.decode("latin-1") if isinstance(payload, bytes) else ""
    if part.get_content_type() == "text/html":
        return html_layout(str(text), limit).text
    return str(text)


def _metadata(message: EmailMessage) -> Metadata:
    metadata: Metadata = {"from": _header(message, "From"), "to": _header(message, "To")}
    references = _header(message, "References") or _header(message, "In-Reply-To")
    root = references.split() or [_header(message, "Message-ID")]
    metadata["thread"] = _id(root[0])
    names = (clean(part.get_filename() or "") for part in message.iter_attachments())
    metadata["attachments"] = [name for name in names if name][:MAX_ATTACHMENTS]
    return {name: value for name, value in metadata.items() if value}


def _id(metadata: str) -> str:
    return metadata.strip("<> ")[:MAX_ID]


def _time(message: EmailMessage) -> datetime | None:
    try:
        sent = parsedate_to_datetime(_header(message, "Date"))
        return (sent if sent.tzinfo else sent.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
