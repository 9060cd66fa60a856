"""Parses bytes to documents by content type; ids, titles, metadata and times of the upload take precedence."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Any

from services.agent_orchestrator.ingest.chunking import split
from services.agent_orchestrator.ingest.content_types import (
    CSV,
    DOCX,
    EPUB,
    HTML,
    JSON_LINES,
    MAIL,
    MAILBOX,
    MARKDOWN,
    MESSAGES,
    ODP,
    ODS,
    ODT,
    OUTLOOK,
    PDF,
    PLAIN,
    PPTX,
    RST,
    RTF,
    TSV,
    XLS,
    XLSX,
)
from services.agent_orchestrator.ingest.dates import DateReading, read_from_name, read_leniently
from services.agent_orchestrator.ingest.document_warnings import (
    DocumentWarning,
    WarningReason,
    bounded,
)
from services.agent_orchestrator.ingest.documents import (
    MAX_SOURCE,
    MAX_TITLE,
    Limits,
    Metadata,
    ParsedDocument,
    Piece,
    Rejected,
    UnreadableError,
    Upload,
    check_text,
    check_values,
)
from services.agent_orchestrator.ingest.formats.decoding import decode, utf8_pieces
from services.agent_orchestrator.ingest.formats.delimited import read_delimited
from services.agent_orchestrator.ingest.formats.docx import read_docx
from services.agent_orchestrator.ingest.formats.epub import read_epub
from services.agent_orchestrator.ingest.formats.front_matter import (
    FrontMatter,
    as_json,
    read_front_matter,
)
from services.agent_orchestrator.ingest.formats.html import read_html
from services.agent_orchestrator.ingest.formats.json_lines import count_lines, read_json_lines
from services.agent_orchestrator.ingest.formats.mail import Mail, read_mail
from services.agent_orchestrator.ingest.formats.mailbox import count_mails, split_mailbox
from services.agent_orchestrator.ingest.formats.markdown import read_markdown
from services.agent_orchestrator.ingest.formats.message_threads import (
    Thread,
    count_threads,
    read_messages,
)
from services.agent_orchestrator.ingest.formats.opendocument import read_opendocument
from services.agent_orchestrator.ingest.formats.outlook import read_outlook
from services.agent_orchestrator.ingest.formats.pdf import read_pdf
from services.agent_orchestrator.ingest.formats.pptx import read_pptx
from services.agent_orchestrator.ingest.formats.rst import read_rst
from services.agent_orchestrator.ingest.formats.rtf import read_rtf
from services.agent_orchestrator.ingest.formats.spreadsheets import read_spreadsheet
from services.agent_orchestrator.ingest.formats.titles import file_name
from services.agent_orchestrator.ingest.layout import Break, Layout, check_length, paragraphs
from services.runtime.ids import derived_uuid

__all__ = ["Outcome", "Upload", "count_documents", "is_light", "parse"]

Outcome = ParsedDocument | Rejected

_LIMITS = Limits()
# Texts up to this size are decoded in milliseconds, so that the caller learns of an unknown encoding immediately.
_SHORT = 32 * 1024


def count_documents(upload: Upload) -> int:
    """Counts an upload's documents, readable or not. Raises UnreadableError for a single one that is empty or not text.

    The content is not examined yet: each document, and each bad line, fails separately.
    """
    if upload.content_type == JSON_LINES:
        return count_lines(upload.data)
    if upload.content_type == MESSAGES:
        return count_threads(upload.data, _thread_of(upload))
    if upload.content_type == MAILBOX:
        return count_mails(upload.data)
    if not upload.data or upload.data.isspace():
        raise UnreadableError("is empty")
    is_text = upload.content_type in {PLAIN, MARKDOWN, *_TEXT_LAYOUTS}
    # Zero bytes are characters of UTF-16 and UTF-32, which have no other mark.
    if is_text and (len(upload.data) <= _SHORT or b"\x00" in upload.data):
        _checked(decode(upload.data).text)
    elif is_light(upload):
        _check_utf8(upload.data)
    return 1


def is_light(upload: Upload) -> bool:
    """Whether reading it needs only decoding and the standard library's JSON parser.

    Their time and memory are proportional to the upload, which is limited, and they use no third-party parser that a
    file could crash: a separate process would only cost time.
    """
    if upload.content_type in {JSON_LINES, MESSAGES}:
        return True
    if upload.content_type != PLAIN:
        return False
    try:
        deque(utf8_pieces(upload.data), maxlen=0)
    except UnreadableError:
        return False
    return True


def parse(upload: Upload, limits: Limits = _LIMITS) -> Iterator[Outcome]:
    """Yields the documents of an upload, in order. Unexpected parser errors reach the caller."""
    if upload.content_type == JSON_LINES:
        yield from read_json_lines(
            upload.data,
            metadata=upload.metadata,
            valid_time=upload.valid_time,
            begin=upload.begin,
        )
    elif upload.content_type == MESSAGES:
        for thread in _threads(upload, limits):
            if isinstance(thread, Rejected):
                yield thread
            else:
                yield _or_rejected(thread.id, partial(thread_document, thread, upload))
    elif upload.content_type == MAILBOX:
        for mail, _ in split_mailbox(upload.data):
            yield _single_or_rejected(replace(upload, data=mail), limits)
    else:
        yield _single_or_rejected(upload, limits)


def _single_or_rejected(upload: Upload, limits: Limits) -> Outcome:
    return _or_rejected(upload.document_id or upload.source, partial(_single, upload, limits))


def _or_rejected(name: str, read: Callable[[], ParsedDocument]) -> Outcome:
    try:
        return read()
    except UnreadableError as error:
        return Rejected(name, str(error))


def _single(upload: Upload, limits: Limits) -> ParsedDocument:
    if (read := _LAYOUTS.get(upload.content_type)) is not None:
        return document_of(upload, read(upload.data, limits))
    if upload.content_type == OUTLOOK:
        return mail_document(read_outlook(upload.data, limits.text), upload, own_id=False)
    if upload.content_type in {MAIL, MAILBOX}:
        own_id = upload.content_type == MAILBOX
        return mail_document(read_mail(upload.data, limits.text), upload, own_id=own_id)
    decoded = decode(upload.data)
    text = _checked(decoded.text)
    check_length(len(text), limits.text)
    if upload.content_type == MARKDOWN:
        return _markdown(upload, text, decoded.warnings)
    layout = _TEXT_LAYOUTS.get(upload.content_type, _plain)(text, limits.text)
    return document_of(upload, replace(layout, warnings=decoded.warnings))


_LAYOUTS: dict[str, Callable[[bytes, Limits], Layout]] = {
    DOCX: read_docx,
    EPUB: read_epub,
    HTML: lambda data, limits: read_html(data, limits.text),
    ODP: read_opendocument,
    ODS: read_spreadsheet,
    ODT: read_opendocument,
    PDF: read_pdf,
    PPTX: read_pptx,
    RTF: lambda data, limits: read_rtf(data, limits.text),
    XLS: read_spreadsheet,
    XLSX: read_spreadsheet,
}
_TEXT_LAYOUTS: dict[str, Callable[[str, int], Layout]] = {
    CSV: read_delimited,
    RST: read_rst,
    TSV: read_delimited,
}


def _plain(text: str, _limit: int) -> Layout:
    return Layout(text, paragraphs(text))


def _markdown(upload: Upload, text: str, warnings: Sequence[DocumentWarning]) -> ParsedDocument:
    matter = read_front_matter(text)
    if not text[matter.body_start :].strip():
        raise UnreadableError("has no text after its front matter")
    layout = read_markdown(text, matter.body_start)
    return document_of(upload, replace(layout, warnings=warnings), matter)


def _threads(upload: Upload, limits: Limits) -> Iterator[Thread | Rejected]:
    return read_messages(upload.data, _thread_of(upload), limits.text, upload.done)


def _thread_of(upload: Upload) -> str:
    return upload.document_id or upload.source


def _check_utf8(data: bytes) -> None:
    filled = False
    for piece in utf8_pieces(data):
        check_text("the document", piece)
        filled = filled or bool(piece.strip())
    if not filled:
        raise UnreadableError("is empty")


def _checked(text: str) -> str:
    check_text("the document", text)
    if not text.strip():
        raise UnreadableError("is empty")
    return text


_OWN_FIELDS = ("title", "date", "source")
VALID_AT_ORIGIN = "valid_at_origin"


_NO_FRONT_MATTER = FrontMatter({})


def document_of(
    upload: Upload, layout: Layout, matter: FrontMatter = _NO_FRONT_MATTER
) -> ParsedDocument:
    """Builds the document of an upload with a single document; `matter` has the file's own metadata."""
    values, body_start, _ = matter
    if not layout.text[body_start:].strip():
        raise UnreadableError("has no text")
    source = upload.source or _text_value(values, "source")
    stated = _text_value(values, "title")
    title = upload.title or stated or layout.title or file_name(source)
    warnings = [*layout.warnings, *matter.warnings, *_cut_title(stated)]
    title = title[:MAX_TITLE]
    valid_time, origin = _valid_time(upload, read_leniently("date", values.get("date")), warnings)
    metadata = {**_extra(values, source), **origin, **upload.metadata}
    document_id = upload.document_id or source or derived_uuid("document", title, layout.text)
    check_values(document_id, title, source, metadata)
    return ParsedDocument(
        document_id=document_id,
        title=title,
        source=source,
        text=layout.text,
        metadata=metadata,
        valid_time=valid_time,
        body_start=body_start,
        pieces=_pieces(layout, body_start),
        warnings=bounded(warnings),
    )


def _valid_time(
    upload: Upload, stated: DateReading, warnings: list[DocumentWarning]
) -> tuple[datetime | None, Metadata]:
    """Returns since when a document is valid: the caller's time, else its own date, else the date in its file's name.

    Adds the warnings of the date that was used or not understood; metadata name a date that comes from the file's name.
    """
    if upload.valid_time:
        return upload.valid_time, {}
    warnings += stated.warnings
    if stated.time:
        return stated.time, {}
    named = read_from_name(upload.source)
    warnings += named.warnings
    return named.time, {VALID_AT_ORIGIN: "file name"} if named.time else {}


def _cut_title(title: str) -> list[DocumentWarning]:
    if len(title) <= MAX_TITLE:
        return []
    notice = f"The title was cut after {MAX_TITLE} characters."
    return [DocumentWarning(WarningReason.PART_LEFT_OUT, notice, "title")]


def thread_document(thread: Thread, upload: Upload) -> ParsedDocument:
    """Builds the document of a message thread, which takes its id from the thread's name."""
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
    """Builds the document of a mail; in a mailbox it has its `own_id`, otherwise the upload's id."""
    if not mail.layout.text:
        raise UnreadableError("has no text")
    given = "" if own_id else upload.document_id or upload.source
    title = mail.layout.title if own_id else upload.title or mail.layout.title
    title = title or file_name(upload.source)
    warnings = [*mail.layout.warnings]
    # The mails of a mailbox do not share the date of its name.
    named = replace(upload, source="") if own_id else upload
    valid_time, origin = _valid_time(named, DateReading(mail.time), warnings)
    metadata = {**mail.metadata, **origin, **upload.metadata}
    document_id = given or mail.id or derived_uuid("document", title, mail.layout.text)
    check_values(document_id, title, upload.source, metadata)
    return ParsedDocument(
        document_id=document_id,
        title=title,
        source=upload.source,
        text=mail.layout.text,
        metadata=metadata,
        valid_time=valid_time,
        pieces=_pieces(mail.layout),
        warnings=bounded(warnings),
    )


def _pieces(layout: Layout, start: int = 0) -> tuple[Piece, ...]:
    """Returns the pieces. No piece crosses the end of a page: a hit names the page of its text."""
    pages = [offset for offset, _ in layout.pages if offset > start]
    return tuple(
        Piece(span.start, span.end, layout.page(span.start))
        for first, end in pairwise([start, *pages, len(layout.text)])
        for span in split(layout.text, first, breaks=_within(layout.breaks, first, end), end=end)
    )


def _within(breaks: Sequence[Break], start: int, end: int) -> Sequence[Break]:
    first, last = (bisect_left(breaks, edge, key=lambda b: b.offset) for edge in (start, end))
    return breaks[first:last]


def _text_value(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    limit = MAX_SOURCE if name == "source" else None
    return str(value).strip()[:limit] if isinstance(value, str | int | float) else ""


def _extra(values: dict[str, Any], source: str) -> Metadata:
    """Returns the values of the front matter that have no field of their own."""
    extra = {key: as_json(value) for key, value in values.items() if key not in _OWN_FIELDS}
    source_value = _text_value(values, "source")
    return {**extra, "source": source_value} if source_value and source_value != source else extra
