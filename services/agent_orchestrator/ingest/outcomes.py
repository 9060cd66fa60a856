"""What was read, as documents: with ids, titles, metadata and times of the upload where it says them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from services.agent_orchestrator.ingest.chunking import split
from services.agent_orchestrator.ingest.dates import read_date
from services.agent_orchestrator.ingest.documents import (
    MAX_SOURCE,
    MAX_TITLE,
    Metadata,
    ParsedDocument,
    Piece,
    UnreadableError,
    check_values,
)
from services.agent_orchestrator.ingest.formats.mail import Mail
from services.agent_orchestrator.ingest.formats.messages import Thread
from services.agent_orchestrator.ingest.front_matter import as_json
from services.agent_orchestrator.ingest.layout import Break, Layout
from services.agent_orchestrator.ingest.upload import Upload
from services.runtime.ids import derived_uuid

_OWN_FIELDS = ("title", "date", "source")


def document_of(
    upload: Upload,
    layout: Layout,
    values: dict[str, Any] | None = None,
    body_start: int = 0,
) -> ParsedDocument:
    """The document of an upload that is one; `values` are what it says of itself."""
    values = values or {}
    if not layout.text[body_start:].strip():
        raise UnreadableError("has no text")
    source = upload.source or _told(values, "source")
    title = upload.title or _told(values, "title") or layout.title or _last_part(source)
    metadata = {**_extra(values, source), **upload.metadata}
    title = title[:MAX_TITLE]
    document_id = upload.document_id or source or derived_uuid("document", title, layout.text)
    check_values(document_id, title, source, metadata)
    return ParsedDocument(
        document_id=document_id,
        title=title,
        source=source,
        text=layout.text,
        metadata=metadata,
        valid_time=upload.valid_time or read_date("date", values.get("date")),
        body_start=body_start,
        pieces=_pieces(layout, body_start),
    )


def thread_document(thread: Thread, upload: Upload) -> ParsedDocument:
    """The document of a message thread, which is named by its thread."""
    title = upload.title or thread.id
    metadata = {**thread.metadata, **upload.metadata}
    check_values(thread.id, title, upload.source, metadata)
    return ParsedDocument(
        document_id=thread.id,
        title=title,
        source=upload.source,
        text=thread.layout.text,
        metadata=metadata,
        valid_time=thread.since or upload.valid_time,
        pieces=thread.pieces,
    )


def mail_document(mail: Mail, upload: Upload, *, own_id: bool) -> ParsedDocument:
    """The document of a mail; one of a mailbox goes by its `own_id`, others by the upload's."""
    if not mail.layout.text:
        raise UnreadableError("has no text")
    given = "" if own_id else upload.document_id or upload.source
    title = mail.layout.title if own_id else upload.title or mail.layout.title
    title = title or _last_part(upload.source)
    metadata = {**mail.metadata, **upload.metadata}
    document_id = given or mail.id or derived_uuid("document", title, mail.layout.text)
    check_values(document_id, title, upload.source, metadata)
    return ParsedDocument(
        document_id=document_id,
        title=title,
        source=upload.source,
        text=mail.layout.text,
        metadata=metadata,
        valid_time=upload.valid_time or mail.time,
        pieces=_pieces(mail.layout),
    )


def _pieces(layout: Layout, start: int = 0) -> tuple[Piece, ...]:
    """No piece goes over the end of a page: a hit names the page that its text is on."""
    pages = [offset for offset, _ in layout.pages if offset > start]
    return tuple(
        Piece(span.start, span.end, layout.page(span.start))
        for first, end in pairwise([start, *pages, len(layout.text)])
        for span in split(layout.text, first, breaks=_within(layout.breaks, first, end), end=end)
    )


def _within(breaks: Sequence[Break], start: int, end: int) -> Sequence[Break]:
    first, last = (bisect_left(breaks, edge, key=lambda b: b.offset) for edge in (start, end))
    return breaks[first:last]


def _told(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    return str(value).strip()[:MAX_SOURCE] if isinstance(value, str | int | float) else ""


def _extra(values: dict[str, Any], source: str) -> Metadata:
    """What the front matter says beyond the fields that have a place of their own."""
    extra = {key: as_json(value) for key, value in values.items() if key not in _OWN_FIELDS}
    told = _told(values, "source")
    return {**extra, "source": told} if told and told != source else extra


def _last_part(source: str) -> str:
    return source.rstrip("/").rpartition("/")[2]
