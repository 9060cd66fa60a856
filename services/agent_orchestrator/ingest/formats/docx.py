"""The text of a Word document: headings, lists, tables and notes, converted via HTML."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from services.agent_orchestrator.ingest.documents import MIB, Limits, UnreadableError
from services.agent_orchestrator.ingest.formats.docx_parts import WordParts, prepare_parts
from services.agent_orchestrator.ingest.formats.html import html_layout
from services.agent_orchestrator.ingest.formats.titles import stated_title
from services.agent_orchestrator.ingest.layout import Layout, Writer

# An encrypted document, or one from before 2007, is not a ZIP archive but an OLE container.
_OLD_CONTAINER = bytes.fromhex("d0cf11e0a1b11ae1")
_BODY = "word/document.xml"
# The style of a document's title counts as its first heading.
_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => h2:fresh"


def read_docx(data: bytes, limits: Limits) -> Layout:
    """Returns the text of a document. Raises UnreadableError if it is damaged, locked or would unpack to too much."""
    if data.startswith(_OLD_CONTAINER):
        raise UnreadableError("is encrypted, or of Word before 2007")
    try:
        _check(data, limits)
        parts = prepare_parts(data)
        html = _html(parts.data)
    except UnreadableError:
        raise
    except MemoryError:
        raise
    # The library raises many kinds of errors for damaged XML and ZIP; all of them are caused by the file.
    except Exception:  # noqa: BLE001
        raise UnreadableError("is not a readable DOCX file") from None
    return _joined(parts, html_layout(html, limits.text), limits)


def _joined(parts: WordParts, body: Layout, limits: Limits) -> Layout:
    """Returns the whole text: headers, body, comments, footers."""
    writer = Writer(limits.text, title=stated_title(parts.title) or body.title)
    for text in parts.before:
        writer.add(text)
    writer.add_layout(body)
    for text in parts.after:
        writer.add(text)
    return writer.layout()


def _check(data: bytes, limits: Limits) -> None:
    """Refuses archives that would unpack to too much data: no member yields more bytes than the archive declares."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if len(members) > limits.members:
            raise UnreadableError(f"holds over {limits.members} files")
        if sum(member.file_size for member in members) > limits.unpacked_bytes:
            raise UnreadableError(f"unpacks to over {limits.unpacked_bytes // MIB} MiB")
        if any(member.flag_bits & 1 for member in members):
            raise UnreadableError("is encrypted")
        archive.getinfo(_BODY)


def _html(data: bytes) -> str:
    import mammoth  # noqa: PLC0415 - needed only to read DOCX

    def no_image(_image: Any) -> list[Any]:
        return []

    converted: Any = mammoth.convert_to_html(
        io.BytesIO(data), convert_image=no_image, style_map=_STYLES
    )  # type: ignore[no-untyped-call]
    return str(converted.value)
