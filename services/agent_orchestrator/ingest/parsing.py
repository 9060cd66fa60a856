"""From an upload's bytes to its documents, by content type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from services.agent_orchestrator.ingest.dates import read_date
from services.agent_orchestrator.ingest.documents import (
    MAX_SOURCE,
    MAX_TITLE,
    Metadata,
    ParsedDocument,
    Rejected,
    UnreadableError,
    check_text,
    check_values,
)
from services.agent_orchestrator.ingest.front_matter import as_json, read_front_matter
from services.agent_orchestrator.ingest.json_lines import count_lines, read_json_lines
from services.runtime.ids import derived_uuid

JSON_LINES = "application/jsonl"
MARKDOWN = "text/markdown"

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*\S)", re.MULTILINE)
_CLOSING_HASHES = re.compile(r"[ \t]+#+$")
_OWN_FIELDS = ("title", "date", "source")


@dataclass(frozen=True, slots=True)
class Upload:
    """The raw input of a job: what it takes to run the job again."""

    content_type: str
    data: bytes = field(repr=False)
    document_id: str = ""
    title: str = ""
    source: str = ""
    metadata: Metadata = field(default_factory=dict)
    valid_time: datetime | None = None


def count_documents(upload: Upload) -> int:
    """How many documents an upload holds, readable or not. UnreadableError for a single document that is not.

    Nothing is told of JSON lines' insides yet: each bad line fails for itself.
    """
    if upload.content_type == JSON_LINES:
        return count_lines(upload.data)
    _decoded(upload.data)
    return 1


def parse(upload: Upload) -> Iterator[ParsedDocument | Rejected]:
    """The documents of an upload, in order."""
    if upload.content_type == JSON_LINES:
        yield from read_json_lines(
            upload.data, metadata=upload.metadata, valid_time=upload.valid_time
        )
        return
    try:
        yield _single(upload)
    except UnreadableError as error:
        yield Rejected(upload.document_id or upload.source, str(error))


def _single(upload: Upload) -> ParsedDocument:
    text = _decoded(upload.data)
    markdown = upload.content_type == MARKDOWN
    values, body_start = read_front_matter(text) if markdown else ({}, 0)
    if not text[body_start:].strip():
        raise UnreadableError("has no text after its front matter")
    source = upload.source or _told(values, "source")
    heading = _heading(text, body_start) if markdown else ""
    title = upload.title or _told(values, "title") or heading or _last_part(source)
    document_id = upload.document_id or source or derived_uuid("document", title, text)
    metadata = {**_extra(values, source), **upload.metadata}
    title = title[:MAX_TITLE]
    check_values(document_id, title, source, metadata)
    return ParsedDocument(
        document_id=document_id,
        title=title,
        source=source,
        text=text,
        metadata=metadata,
        valid_time=upload.valid_time or read_date("date", values.get("date")),
        body_start=body_start,
    )


def _decoded(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"is not UTF-8 text (byte {error.start})") from None
    check_text("the document", text)
    if not text.strip():
        raise UnreadableError("is empty")
    return text


def _told(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    return str(value).strip()[:MAX_SOURCE] if isinstance(value, str | int | float) else ""


def _extra(values: dict[str, Any], source: str) -> Metadata:
    """What the front matter says beyond the fields that have a place of their own."""
    extra = {key: as_json(value) for key, value in values.items() if key not in _OWN_FIELDS}
    told = _told(values, "source")
    return {**extra, "source": told} if told and told != source else extra


def _heading(text: str, body_start: int) -> str:
    found = _HEADING.search(text, body_start)
    return _CLOSING_HASHES.sub("", found.group(1)) if found else ""


def _last_part(source: str) -> str:
    return source.rstrip("/").rpartition("/")[2]
