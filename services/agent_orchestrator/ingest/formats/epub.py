"""Books (EPUB): their chapters in reading order, which are pages of HTML."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from posixpath import dirname, normpath
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from services.agent_orchestrator.ingest.documents import Limits
from services.agent_orchestrator.ingest.formats.damage import check_archive, parse_xml, readable
from services.agent_orchestrator.ingest.formats.html import html_layout, html_text
from services.agent_orchestrator.ingest.formats.titles import stated_title
from services.agent_orchestrator.ingest.layout import Layout, Writer

_CONTAINER = "META-INF/container.xml"
_ROOTFILE = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_OPF = "{http://www.idpf.org/2007/opf}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"


def read_epub(data: bytes, limits: Limits) -> Layout:
    """Returns the text of all chapters. Raises UnreadableError if it is damaged, or would unpack to too much."""
    with readable("EPUB file"):
        check_archive(data, limits)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            root = parse_xml(archive.read(_CONTAINER)).find(f".//{_ROOTFILE}")
            path = root.get("full-path", "") if root is not None else ""
            package = parse_xml(archive.read(path))
            title = stated_title("".join(one.text or "" for one in package.iter(_TITLE)))
            writer = Writer(limits.text, title=title)
            for name in _chapters(package, path):
                chapter = html_layout(html_text(archive.read(name)).text, limits.text)
                writer.title = writer.title or chapter.title
                writer.add_layout(chapter)
    return writer.layout()


def _chapters(package: ET.Element, path: str) -> Iterator[str]:
    """Yields the names of the archive's members in reading order."""
    hrefs = {item.get("id"): item.get("href", "") for item in package.iter(f"{_OPF}item")}
    for entry in package.iter(f"{_OPF}itemref"):
        if href := hrefs.get(entry.get("idref")):
            yield normpath(f"{dirname(path)}/{unquote(href)}").lstrip("/")
