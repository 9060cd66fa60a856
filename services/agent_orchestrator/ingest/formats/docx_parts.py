"""Parts of a Word document that its conversion to HTML leaves out, read from its XML before the conversion.

Fields and form values become plain runs, links without a target lose their reference, and comments, headers and footers
are returned as text.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from services.agent_orchestrator.ingest.formats.damage import parse_xml

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_BODY = "word/document.xml"
_UNREAD = ("word/comments.xml", "word/header", "word/footer")
_LINKED = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")


@dataclass(frozen=True, slots=True)
class WordParts:
    """A document for the conversion, its stated title, and the text of its other parts."""

    data: bytes
    title: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def prepare_parts(data: bytes) -> WordParts:
    """Reads the parts. Raises errors of the ZIP and XML libraries for damaged files."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    changed = {name: _with_plain_fields(members, name) for name in _LINKED if name in members}
    headers = _texts(members, "word/header")
    footers = _texts(members, "word/footer")
    comments = _texts(members, "word/comments.xml")
    return WordParts(
        _archive({**members, **changed}), _title(members), headers, (*comments, *footers)
    )


def _with_plain_fields(members: dict[str, bytes], name: str) -> bytes:
    root = parse_xml(members[name])
    targets = _targets(members, name)
    for parent in list(root.iter()):
        for place, child in reversed(list(enumerate(parent))):
            if child.tag == _W + "fldSimple":
                parent[place : place + 1] = list(child)
            elif child.tag == _W + "hyperlink" and child.get(_R + "id", "") not in targets:
                child.attrib.pop(_R + "id", None)
            elif child.tag == _W + "fldChar":
                _show_form_value(parent, place, child)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _show_form_value(run: ET.Element, place: int, field: ET.Element) -> None:
    """Adds the chosen entry of a list, or the mark of a checked box, which are stored outside of the text."""
    value = ""
    for choice in field.iter(_W + "ddList"):
        chosen = choice.find(_W + "result")
        entries = [entry.get(_W + "val", "") for entry in choice.findall(_W + "listEntry")]
        index = int(chosen.get(_W + "val", "0")) if chosen is not None else 0
        value = entries[index] if 0 <= index < len(entries) else ""
    if value:
        text = ET.Element(_W + "t")
        text.text = value
        run.insert(place, text)


def _targets(members: dict[str, bytes], name: str) -> set[str]:
    folder, _, file = name.rpartition("/")
    relations = members.get(f"{folder}/_rels/{file}.rels")
    if relations is None:
        return set()
    return {
        one.get("Id", "")
        for one in parse_xml(relations).iter(_RELATIONSHIP)
        if one.get("Target") is not None
    } | {""}


def _texts(members: dict[str, bytes], prefix: str) -> tuple[str, ...]:
    """Returns the distinct paragraphs of the parts whose names begin this way; each page repeats its header."""
    found = (
        text
        for name in sorted(members)
        if name.startswith(prefix) and name.endswith(".xml")
        for text in _paragraphs(parse_xml(members[name]))
    )
    return tuple(dict.fromkeys(found))


def _paragraphs(root: ET.Element) -> Iterator[str]:
    for paragraph in root.iter(_W + "p"):
        text = "".join(_characters(paragraph)).strip()
        # A number alone is the page's.
        if text and not text.isdigit():
            yield text


def _characters(paragraph: ET.Element) -> Iterator[str]:
    for one in paragraph.iter():
        if one.tag == _W + "t":
            yield one.text or ""
        elif one.tag in {_W + "tab", _W + "br"}:
            yield " "


def _title(members: dict[str, bytes]) -> str:
    core = members.get("docProps/core.xml")
    if core is None:
        return ""
    return next((one.text or "" for one in parse_xml(core).iter(_TITLE)), "")


def _archive(members: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()
