"""OpenDocument texts and presentations (ODT, ODP), converted via HTML. Spreadsheets are read as tables.

Headings, lists, tables and notes keep their place; what tracked changes have deleted is left out.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from html import escape
from xml.etree import ElementTree as ET

from services.agent_orchestrator.ingest.documents import Limits
from services.agent_orchestrator.ingest.formats.damage import check_archive, parse_xml, readable
from services.agent_orchestrator.ingest.formats.html import html_layout
from services.agent_orchestrator.ingest.formats.titles import stated_title
from services.agent_orchestrator.ingest.layout import Layout, Writer

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_SKIPPED = frozenset({_TEXT + "tracked-changes", _TEXT + "note-citation", _DC + "date"})
_NOTES = frozenset({_TEXT + "note", _OFFICE + "annotation"})
_PARAGRAPHS = frozenset({_TEXT + "p", _TEXT + "h"})
_TAGS = {
    _TEXT + "p": "p",
    _TEXT + "list": "ul",
    _TEXT + "list-item": "li",
    _TABLE + "table": "table",
    _TABLE + "table-row": "tr",
    _TABLE + "table-cell": "td",
    _TABLE + "covered-table-cell": "td",
    _DRAW + "page": "section",
    _DRAW + "text-box": "div",
    _OFFICE + "annotation": "div",
    _TEXT + "note": "div",
}
_CHARACTERS = {_TEXT + "s": " ", _TEXT + "tab": " ", _TEXT + "line-break": "<br>"}
_MAX_LEVEL = 6


def read_opendocument(data: bytes, limits: Limits) -> Layout:
    """Returns the text of a document. Raises UnreadableError if it is damaged, locked or would unpack to too much."""
    with readable("OpenDocument file"):
        check_archive(data, limits)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            body = parse_xml(archive.read("content.xml")).find(_OFFICE + "body")
            meta = _parsed(archive, "meta.xml")
            styles = _parsed(archive, "styles.xml")
        title = next((one.text or "" for one in meta.iter(_DC + "title")), "")
        html = "".join(_Converter().html(body)) if body is not None else ""
    text = html_layout(html, limits.text)
    writer = Writer(limits.text, title=stated_title(title) or text.title)
    for header in _around(styles, "header"):
        writer.add(header)
    writer.add_layout(text)
    for footer in _around(styles, "footer"):
        writer.add(footer)
    return writer.layout()


def _parsed(archive: zipfile.ZipFile, name: str) -> ET.Element:
    """Returns a part of the document; an empty element if it has none."""
    return parse_xml(archive.read(name)) if name in archive.namelist() else ET.Element("none")


def _around(styles: ET.Element, part: str) -> Iterator[str]:
    """Yields the distinct paragraphs of the headers or footers of all pages, except numbers, which are the pages'."""
    found = (
        "".join(one.itertext()).strip()
        for place in styles.iter(_STYLE + part)
        for one in place.iter(_TEXT + "p")
    )
    yield from (text for text in dict.fromkeys(found) if text and not text.isdigit())


class _Converter:
    """Converts elements to HTML. Notes and comments follow the paragraph that they belong to."""

    def __init__(self) -> None:
        self._notes: list[ET.Element] = []

    def html(self, element: ET.Element) -> Iterator[str]:
        """Yields the HTML of an element in parts."""
        yield _CHARACTERS.get(element.tag, "")
        tag = _tag(element)
        yield f"<{tag}>" if tag else ""
        yield escape(element.text or "")
        for child in element:
            if child.tag in _NOTES:
                self._notes.append(child)
            elif child.tag not in _SKIPPED:
                yield from self.html(child)
            yield escape(child.tail or "")
        yield f"</{tag}>" if tag else ""
        if element.tag in _PARAGRAPHS:
            notes, self._notes = self._notes, []
            for note in notes:
                yield from self.html(note)


def _tag(element: ET.Element) -> str:
    if element.tag == _TEXT + "h":
        level = element.get(_TEXT + "outline-level", "1")
        return f"h{min(int(level), _MAX_LEVEL)}"
    return _TAGS.get(element.tag, "")
