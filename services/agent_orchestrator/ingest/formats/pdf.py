"""The text of a PDF file, page by page, with lines rejoined into paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from services.agent_orchestrator.ingest.documents import Limits, UnreadableError
from services.agent_orchestrator.ingest.formats.pages import warn_of_pages_without_text
from services.agent_orchestrator.ingest.formats.pdf_extras import page_notes
from services.agent_orchestrator.ingest.formats.titles import stated_title
from services.agent_orchestrator.ingest.layout import BLOCK, Layout, Writer, clean

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_PASSWORD_ERRORS = frozenset({4, 5})
# A hyphen at the end of a line that separates the parts of one word.
_HYPHEN = re.compile(r"\ufffe(?:\r?\n)?")
# A line shorter than this share of the page's longest line ends a paragraph.
_SHORT = 0.75
_SENTENCE_END = (".", "!", "?", ":", "…", "。", "！", "？", '"', "”")


def read_pdf(data: bytes, limits: Limits) -> Layout:
    """Returns the text of all pages. Raises UnreadableError for a file that is locked, damaged, too long or empty."""
    document = _open(data)
    with closing(document):
        count = len(document)
        if count > limits.pages:
            raise UnreadableError(f"has {count} pages: at most {limits.pages} are taken")
        writer = Writer(limits.text, title=_title(document))
        document.init_forms()  # type: ignore[no-untyped-call]
        for number in range(count):
            _read_page(document, number, writer)
    layout = writer.layout()
    if not layout.text:
        raise UnreadableError(f"has no text on its {count} pages: they may be pictures")
    warn_of_pages_without_text(writer, count)
    return layout


def _open(data: bytes) -> PdfDocument:
    from pypdfium2 import PdfDocument, PdfiumError  # noqa: PLC0415 - needed only to read PDF

    try:
        return PdfDocument(data)  # type: ignore[no-untyped-call]
    except PdfiumError as error:
        if getattr(error, "err_code", None) in _PASSWORD_ERRORS:
            raise UnreadableError("is encrypted") from None
        raise UnreadableError("is not a readable PDF file") from None


def _title(document: PdfDocument) -> str:
    info: Any = document.get_metadata_dict(skip_empty=True)  # type: ignore[no-untyped-call]
    return stated_title(clean(str(info.get("Title", ""))))


def _read_page(document: PdfDocument, number: int, writer: Writer) -> None:
    page = document[number]
    text_page = page.get_textpage()
    with closing(page), closing(text_page):
        text = text_page.get_text_range()
        added = [one for one in page_notes(page, document.formenv) if one not in text]
    begun = False
    for paragraph in (*_paragraphs(text), *added):
        start = writer.add(paragraph, BLOCK)
        if start is not None and not begun:
            writer.pages.append((start, number + 1))
            begun = True


def _paragraphs(text: str) -> Iterator[str]:
    lines = _HYPHEN.sub(_joined, text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    longest = max(map(len, lines), default=0)
    held: list[str] = []
    for line in lines:
        if held and _begins(held, line, longest):
            yield " ".join(held)
            held = []
        if line.strip():
            held.append(line.strip())
    if held:
        yield " ".join(held)


def _begins(held: Sequence[str], line: str, longest: int) -> bool:
    """Whether a paragraph begins with `line`: the line before ended early and this one does not continue a sentence."""
    if not line.strip():
        return True
    ended = held[-1].endswith(_SENTENCE_END)
    goes_on = not ended and line.lstrip()[0].islower()
    return len(held[-1]) < _SHORT * longest and not goes_on


def _joined(hyphen: re.Match[str]) -> str:
    return "" if hyphen.string[hyphen.end() : hyphen.end() + 1].islower() else "-"
