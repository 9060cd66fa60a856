"""The text of a Word document: headings, lists, tables and notes, converted via HTML."""

from __future__ import annotations

import io
from typing import Any

from services.agent_orchestrator.ingest.documents import Limits, UnreadableError
from services.agent_orchestrator.ingest.formats.damage import OLE_MARK, check_archive, readable
from services.agent_orchestrator.ingest.formats.docx_parts import WordParts, prepare_parts
from services.agent_orchestrator.ingest.formats.html import html_layout
from services.agent_orchestrator.ingest.formats.titles import stated_title
from services.agent_orchestrator.ingest.layout import Layout, Writer

# The style of a document's title counts as its first heading.
_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => h2:fresh"


def read_docx(data: bytes, limits: Limits) -> Layout:
    """Returns the text of a document. Raises UnreadableError if it is damaged, locked or would unpack to too much."""
    if data.startswith(OLE_MARK):
        raise UnreadableError("is encrypted, or of Word before 2007")
    with readable("DOCX file"):
        check_archive(data, limits)
        parts = prepare_parts(data)
        return _joined(parts, html_layout(_html(parts.data), limits.text), limits)


def _joined(parts: WordParts, body: Layout, limits: Limits) -> Layout:
    """Returns the whole text: headers, body, comments, footers."""
    writer = Writer(limits.text, title=stated_title(parts.title) or body.title)
    for text in parts.before:
        writer.add(text)
    writer.add_layout(body)
    for text in parts.after:
        writer.add(text)
    return writer.layout()


def _html(data: bytes) -> str:
    import mammoth  # noqa: PLC0415 - needed only to read DOCX

    def no_image(_image: Any) -> list[Any]:
        return []

    converted: Any = mammoth.convert_to_html(
        io.BytesIO(data), convert_image=no_image, style_map=_STYLES
    )  # type: ignore[no-untyped-call]
    return str(converted.value)
