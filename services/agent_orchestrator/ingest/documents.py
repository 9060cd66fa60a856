"""An upload and the result of parsing it: documents, refusals, limits, dates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

from services.agent_orchestrator.ingest.document_warnings import DocumentWarning
from services.runtime.metadata_limits import MAX_METADATA_DEPTH, MAX_METADATA_TEXT_BYTES
from services.runtime.times import clamp_time

MAX_ID = 512
MAX_TITLE = 1000
MAX_SOURCE = 2000
MAX_VALUES = 10_000

Metadata = dict[str, Any]


class Piece(NamedTuple):
    """A future chunk: characters from `start` to `end` of its document's text.

    `page` is the page that it begins on, 0 in a text without pages; `time` is when its content was written, if the
    document has no single time.
    """

    start: int
    end: int
    page: int = 0
    time: datetime | None = None


class Place(NamedTuple):
    """Where another document of an upload begins: bytes before it, and lines if each document is a line."""

    offset: int = 0
    line: int = 0


BEGINNING = Place()


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document's text and metadata. `text` is the full text; `body_start` is the offset of its content.

    `pieces` are its chunks; if empty, it is split as plain text from `body_start`.
    """

    document_id: str
    title: str
    source: str
    text: str
    metadata: Metadata = field(default_factory=dict)
    valid_time: datetime | None = None
    body_start: int = 0
    pieces: tuple[Piece, ...] = ()
    # What was not taken, or not as written.
    warnings: tuple[DocumentWarning, ...] = ()
    # The position after the document, if reading can resume there.
    end: Place = field(default=BEGINNING, compare=False)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A document that was refused: its id or line, and the reason, which contains none of its text."""

    document_id: str
    reason: str
    end: Place = field(default=BEGINNING, compare=False)


class UnreadableError(Exception):
    """A document or line cannot be read; the message is the reason, without the document's own text."""


def check_values(document_id: str, title: str, source: str, metadata: Metadata) -> None:
    """Raises UnreadableError if a value is too long for the tiers or cannot be stored."""
    for name, value, limit in (
        ("id", document_id, MAX_ID),
        ("title", title, MAX_TITLE),
        ("source", source, MAX_SOURCE),
    ):
        check_text(name, value)
        if len(value) > limit:
            raise UnreadableError(f"{name} is longer than {limit} characters")
    size = 0
    for count, text in enumerate(_texts(metadata)):
        if count >= MAX_VALUES:
            raise UnreadableError(f"metadata has more than {MAX_VALUES} values")
        check_text("metadata", text)
        size += len(text.encode())
        if size > MAX_METADATA_TEXT_BYTES:
            reason = f"metadata has more than {MAX_METADATA_TEXT_BYTES} bytes of names and texts"
            raise UnreadableError(reason)


def check_text(name: str, text: str) -> None:
    """Raises UnreadableError for text that cannot be stored: NUL characters, unpaired surrogates."""
    if "\x00" in text:
        raise UnreadableError(f"{name} holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UnreadableError(f"{name} holds characters that are not Unicode text") from None


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Yields every key and text in a JSON value, and "" for every other value; nesting and work are limited."""
    if depth > MAX_METADATA_DEPTH:
        raise UnreadableError(f"metadata is nested deeper than {MAX_METADATA_DEPTH} levels")
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, depth + 1)
    else:
        yield value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Upload:
    """The raw input of a job, sufficient to run the job again."""

    content_type: str
    data: bytes = field(repr=False)
    document_id: str = ""
    title: str = ""
    source: str = ""
    metadata: Metadata = field(default_factory=dict)
    valid_time: datetime | None = None
    # When its documents are deleted automatically.
    expire_time: datetime | None = None
    # What was read before; `data` is only the rest.
    begin: Place = BEGINNING
    # Number of documents of `data` that were read before. They may be replaced by placeholders if parsing is slow.
    done: int = 0


MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for reading one upload; documents beyond them are refused with a reason."""

    # Of processor time.
    seconds: float = 60.0
    memory_bytes: int = 1024 * MIB
    # Characters of text in one document: about the length of a document with 10,000 chunks.
    text: int = 16_000_000
    pages: int = 2000
    # The total unpacked size of a compressed file, and its maximum number of files.
    unpacked_bytes: int = 256 * MIB
    members: int = 10_000


def read_date(name: str, value: Any) -> datetime | None:
    """Parses an ISO 8601 date or time, or a date that YAML parsed; without a zone it is UTC. None for None.

    Raises UnreadableError for any other value.
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        value = _from_text(name, value)
    if isinstance(value, datetime):
        return clamp_time(_in_utc(name, value))
    if isinstance(value, date):
        return clamp_time(datetime.combine(value, time(), UTC))
    raise UnreadableError(f"{name} is not an ISO 8601 date")


def _from_text(name: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise UnreadableError(f"{name} is not an ISO 8601 date") from None


def _in_utc(name: str, value: datetime) -> datetime:
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise UnreadableError(f"{name} is outside of the years 1–9999") from None
