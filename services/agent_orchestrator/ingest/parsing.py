"""From an upload's bytes to its documents, by content type, in the process and the thread that asks for it.

`Parsers` (in `parsers`) is the way in for whatever runs jobs: it lets a child process read what could do harm.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from services.agent_orchestrator.ingest.decoding import decode, utf8_pieces
from services.agent_orchestrator.ingest.documents import (
    ParsedDocument,
    Rejected,
    UnreadableError,
    check_text,
)
from services.agent_orchestrator.ingest.formats.docx import read_docx
from services.agent_orchestrator.ingest.formats.html import read_html
from services.agent_orchestrator.ingest.formats.mail import count_mails, read_mail, split_mailbox
from services.agent_orchestrator.ingest.formats.markdown import read_markdown
from services.agent_orchestrator.ingest.formats.messages import (
    Thread,
    count_threads,
    read_messages,
)
from services.agent_orchestrator.ingest.formats.pdf import read_pdf
from services.agent_orchestrator.ingest.front_matter import read_front_matter
from services.agent_orchestrator.ingest.json_lines import count_lines, read_json_lines
from services.agent_orchestrator.ingest.layout import Layout, check_length, paragraphs
from services.agent_orchestrator.ingest.limits import Limits
from services.agent_orchestrator.ingest.outcomes import (
    document_of,
    mail_document,
    thread_document,
)
from services.agent_orchestrator.ingest.upload import (
    DOCX,
    HTML,
    JSON_LINES,
    MAIL,
    MAILBOX,
    MARKDOWN,
    MESSAGES,
    PDF,
    PLAIN,
    Upload,
)

__all__ = ["Outcome", "Upload", "count_documents", "is_light", "parse"]

Outcome = ParsedDocument | Rejected

_LIMITS = Limits()
# Bytes of text whose encoding is found in some milliseconds: whoever sends it is told at once when there is none.
_SHORT = 32 * 1024


def count_documents(upload: Upload) -> int:
    """How many documents an upload holds, readable or not. UnreadableError for a single one that is empty or no text.

    No more is told of what is inside yet: each document, and each bad line, fails for itself.
    """
    if upload.content_type == JSON_LINES:
        return count_lines(upload.data)
    if upload.content_type == MESSAGES:
        return count_threads(upload.data, _thread_of(upload))
    if upload.content_type == MAILBOX:
        return count_mails(upload.data)
    if not upload.data or upload.data.isspace():
        raise UnreadableError("is empty")
    if upload.content_type in {PLAIN, MARKDOWN} and len(upload.data) <= _SHORT:
        _checked(decode(upload.data))
    elif is_light(upload):
        _check_utf8(upload.data)
    return 1


def is_light(upload: Upload) -> bool:
    """Whether reading it takes no more than decoding and the JSON of the standard library.

    Those take time and memory in proportion to the upload, which is limited, and have no parser of anybody else's that
    a file could crash: a process of its own would only cost.
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
    """The documents of an upload, in order. An error that no parser should raise is left to the caller."""
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
    if upload.content_type == HTML:
        return document_of(upload, read_html(upload.data, limits.text))
    if upload.content_type == PDF:
        return document_of(upload, read_pdf(upload.data, limits))
    if upload.content_type == DOCX:
        return document_of(upload, read_docx(upload.data, limits))
    if upload.content_type in {MAIL, MAILBOX}:
        own_id = upload.content_type == MAILBOX
        return mail_document(read_mail(upload.data, limits.text), upload, own_id=own_id)
    text = _checked(decode(upload.data))
    check_length(len(text), limits.text)
    if upload.content_type == MARKDOWN:
        return _markdown(upload, text)
    return document_of(upload, Layout(text, paragraphs(text)))


def _markdown(upload: Upload, text: str) -> ParsedDocument:
    values, body_start = read_front_matter(text)
    if not text[body_start:].strip():
        raise UnreadableError("has no text after its front matter")
    return document_of(upload, read_markdown(text, body_start), values, body_start)


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
