"""Office files, books and Outlook messages for tests, written by libraries, or by hand where none writes them."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pptx import Presentation
from pptx.util import Inches
from xlsxwriter import Workbook

_ODF = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("style", "style"),
        ("presentation", "presentation"),
    )
)
_DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'


def archive(members: Mapping[str, bytes | str]) -> bytes:
    """Returns a ZIP archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in members.items():
            target.writestr(name, data)
    return out.getvalue()


def xlsx(
    sheets: Mapping[str, Sequence[Sequence[Any]]], merged: Mapping[str, str] | None = None
) -> bytes:
    """Returns a workbook; `merged` are the texts of ranges of cells in its first sheet, such as `B2:B3`."""
    out = io.BytesIO()
    with Workbook(out, {"in_memory": True, "default_date_format": "yyyy-mm-dd"}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
        for cells, text in (merged or {}).items():
            book.worksheets()[0].merge_range(cells, text)
    return out.getvalue()


def pptx(
    *slides: tuple[str, Sequence[str]],
    table: Sequence[Sequence[str]] = (),
    notes: str = "",
    title: str = "",
) -> bytes:
    """Returns a presentation of titles and their lines; the table and the notes are those of the last slide."""
    presentation = Presentation()
    presentation.core_properties.title = title
    for heading, lines in slides:
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = heading
        slide.placeholders[1].text = "\n".join(lines)
    if table:
        size = len(table), len(table[0])
        cells = slide.shapes.add_table(*size, Inches(1), Inches(1), Inches(4), Inches(2)).table
        for r, row in enumerate(table):
            for c, text in enumerate(row):
                cells.cell(r, c).text = text
    if notes:
        slide.notes_slide.notes_text_frame.text = notes
    out = io.BytesIO()
    presentation.save(out)
    return out.getvalue()


def opendocument(kind: str, body: str, title: str = "", styles: str = "") -> bytes:
    """Returns an OpenDocument file of a kind: `text` or `presentation`; `styles` are the styles of its pages."""
    content = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    meta = f"<office:meta><dc:title>{title}</dc:title></office:meta>"
    names = f"{_ODF} {_DC}"
    members = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f"<office:document-content {names}>{content}</office:document-content>",
        "meta.xml": f"<office:document-meta {names}>{meta}</office:document-meta>",
        "styles.xml": f"<office:document-styles {names}>{styles}</office:document-styles>",
    }
    return archive(members)


def epub(*chapters: str, title: str = "") -> bytes:
    """Returns a book, whose chapters are the bodies of pages; they are stored in the reverse of their order."""
    numbers = range(len(chapters))
    items = "".join(f'<item id="c{n}" href="text/c%20{n}.xhtml"/>' for n in reversed(numbers))
    order = "".join(f'<itemref idref="c{n}"/>' for n in numbers)
    package = (
        f'<package xmlns="http://www.idpf.org/2007/opf"><metadata {_DC}><dc:title>{title}</dc:title>'
        f"</metadata><manifest>{items}</manifest><spine>{order}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/package.opf"/></rootfiles></container>'
    )
    pages = {
        f"OPS/text/c {n}.xhtml": f"<html><body>{body}</body></html>"
        for n, body in reversed(list(enumerate(chapters)))
    }
    members = {"META-INF/container.xml": container, "OPS/package.opf": package, **pages}
    return archive({"mimetype": "application/epub+zip", **members})


_SENT = 0x0039
_METHOD = 0x3705
_BY_VALUE = 1
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
Members = dict[str, "bytes | Members"]


def outlook(
    *,
    subject: str,
    sender: str,
    to: Mapping[str, str],
    body: str,
    sent: datetime,
    files: Mapping[str, bytes],
) -> bytes:
    """Returns a message as Outlook stores it; `to` are addresses by name."""
    ticks = int((sent - _EPOCH).total_seconds()) * 10_000_000
    counts = struct.pack("<8x4I8x", len(to), len(files), len(to), len(files))
    address = f"{sender.lower()}@example.org"
    texts = {0x0037: subject, 0x0C1A: sender, 0x5D01: address, 0x0C1F: address, 0x1000: body}
    root = _stored(counts + struct.pack("<HHIq", 0x40, _SENT, 6, ticks), texts)
    for number, (name, one) in enumerate(to.items()):
        root[f"__recip_version1.0_#{number:08X}"] = _stored(bytes(8), {0x3001: name, 0x39FE: one})
    for number, (name, data) in enumerate(files.items()):
        head = bytes(8) + struct.pack("<HHIq", 3, _METHOD, 6, _BY_VALUE)
        attached = _stored(head, {0x3707: name, 0x370E: "text/plain"}, {0x3701: data})
        root[f"__attach_version1.0_#{number:08X}"] = attached
    return compound_file(root)


def _stored(
    head: bytes, texts: Mapping[int, str], contents: Mapping[int, bytes] | None = None
) -> Members:
    """Returns the streams of an object: a list of its properties, and one for each text or content."""
    values = {(key, 0x1F): text.encode("utf-16-le") for key, text in texts.items()}
    values |= {(key, 0x102): data for key, data in (contents or {}).items()}
    listed = (struct.pack("<HHIII", kind, key, 6, len(v), 0) for (key, kind), v in values.items())
    streams = {f"__substg1.0_{key:04X}{kind:04X}": value for (key, kind), value in values.items()}
    return {**streams, "__properties_version1.0": head + b"".join(listed)}


_SECTOR, _MINI, _END, _FREE = 512, 64, 0xFFFFFFFE, 0xFFFFFFFF


def compound_file(root: Members) -> bytes:
    """Returns an OLE container of small streams and storages."""
    entries: list[list[Any]] = [["Root Entry", 5, _FREE, _FREE, 0, 0]]
    mini, mini_table = bytearray(), list[int]()

    def fill(owner: int, members: Members) -> None:
        below = _FREE
        # Siblings are a tree in the order of their names; a chain to the right is one.
        for name in sorted(members, key=lambda one: (len(one), one.upper()), reverse=True):
            value = members[name]
            place = len(entries)
            entries.append([name, 1 if isinstance(value, dict) else 2, below, _FREE, 0, 0])
            below = place
            if isinstance(value, dict):
                fill(place, value)
            else:
                entries[place][4:] = [len(mini_table), len(value)]
                count = -(-len(value) // _MINI)
                first = len(mini_table)
                mini_table.extend([*range(first + 1, first + count), _END] if count else [])
                mini.extend(value.ljust(count * _MINI, b"\0"))
        entries[owner][3] = below

    fill(0, root)
    tables = [
        b"".join(_entry(*one) for one in entries),
        bytes(mini),
        b"".join(struct.pack("<I", one) for one in mini_table),
    ]
    sizes = [-(-len(one) // _SECTOR) for one in tables]
    starts = [1, 1 + sizes[0], 1 + sizes[0] + sizes[1]]
    entries[0][4:] = [starts[1], len(mini)]
    tables[0] = b"".join(_entry(*one) for one in entries)
    fat = [0xFFFFFFFD]
    for start, size in zip(starts, sizes, strict=True):
        fat += [*range(start + 1, start + size), _END]
    fills = (bytes(1), bytes(1), b"\xff")
    body = b"".join(
        one.ljust(size * _SECTOR, fill)
        for one, size, fill in zip(tables, sizes, fills, strict=True)
    )
    header = struct.pack(
        "<8s16xHHHHH6x9I109I",
        bytes.fromhex("d0cf11e0a1b11ae1"), 0x3E, 3, 0xFFFE, 9, 6, 0, 1, starts[0], 0, 4096, starts[2], sizes[2],
        _END, 0, *[0, *[_FREE] * 108],
    )  # fmt: skip
    return header + struct.pack("<128I", *fat, *[_FREE] * (128 - len(fat))) + body


def _entry(name: str, kind: int, *places: int) -> bytes:
    """Returns an entry of the directory; `places` are its sibling, its first child, its start and its size."""
    right, child, start, size = places
    text = name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16xI16xIQ", text, len(text) + 2, kind, 1, _FREE, right, child, 0, start, size
    )
