"""Test files: small valid ones of every format, and hostile ones that would harm a careless parser."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="r1" Type="{RELATIONS}/officeDocument" Target="word/document.xml"/>'
    "</Relationships>"
)


def pdf(pages: list[list[str]], *, locked: bool = False, title: str = "") -> bytes:
    """A PDF file with the given lines on its pages; a locked one cannot be opened without its password."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(count))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {count}>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for n, lines in enumerate(pages):
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {5 + 2 * n} 0 R"
            "/Resources<</Font<</F1 3 0 R>>>>>>".encode()
        )
        objects.append(_content(lines))
    objects.append(f"<</Title({title})>>".encode())
    trailer = f"/Root 1 0 R/Info {len(objects)} 0 R"
    if locked:
        key = "00" * 32
        objects.append(f"<</Filter/Standard/V 1/R 2/P -4/O<{key}>/U<{key}>>>".encode())
        trailer += f"/Encrypt {len(objects)} 0 R/ID[<00><00>]"
    return _pdf_file(objects, trailer)


def pdf_with_annotations(lines: list[str], *, fields: dict[str, str], comments: list[str]) -> bytes:
    """A PDF file of one page with text fields (name, value) and comments."""
    annotations = [
        f"<</Type/Annot/Subtype/Widget/FT/Tx/T({name})/V({value})/Rect[50 600 200 620]/P 4 0 R>>"
        for name, value in fields.items()
    ]
    annotations += [
        f"<</Type/Annot/Subtype/Text/Contents({text})/Rect[50 500 70 520]/P 4 0 R>>"
        for text in comments
    ]
    first = 6
    references = [f"{first + place} 0 R" for place in range(len(annotations))]
    form = " ".join(references[: len(fields)])
    objects = [
        f"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[{form}]>>>>".encode(),
        b"<</Type/Pages/Kids[4 0 R]/Count 1>>",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        (
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 5 0 R"
            f"/Resources<</Font<</F1 3 0 R>>>>/Annots[{' '.join(references)}]>>"
        ).encode(),
        _content(lines),
        *(one.encode() for one in annotations),
    ]
    return _pdf_file(objects, "/Root 1 0 R")


def _content(lines: list[str]) -> bytes:
    shown = "".join(f"({line}) Tj T* " for line in lines)
    stream = f"BT /F1 10 Tf 14 TL 50 740 Td {shown}ET".encode()
    return b"<</Length %d>>stream\n%b\nendstream" % (len(stream), stream)


def _pdf_file(objects: list[bytes], trailer: str) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj%b endobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += f"trailer<</Size {len(objects) + 1}{trailer}>>\nstartxref\n{start}\n%%EOF".encode()
    return bytes(out)


def docx(body: str, **members: bytes) -> bytes:
    """A Word document with the given body and further files in its archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        archive.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
        )
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of a Word document's body."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


def zip_bomb(mebibytes: int) -> bytes:
    """A small Word document that unpacks to more than this many mebibytes."""
    return docx(paragraph("small"), bomb=bytes(mebibytes * 2**20))


MIXED = "Größe und Übermaß\n".encode() + "déjà\n".encode("latin-1")
HARMLESS = {
    "good.md": b"# Good\n\nA note that is read.",
    "good.html": b"<title>Good page</title><p>A page that is read.",
    "good.pdf": pdf([["A file that is read."]]),
    "good.docx": docx(paragraph("A document that is read.")),
    "good.eml": b"From: Ada <ada@example.org>\nSubject: Good\n\nA mail that is read.",
    "good.messages.jsonl": b'{"thread": "t1", "author": "Ada", "text": "A message that is read."}',
}


def fill(folder: Path) -> dict[str, str]:
    """Fills a folder with hostile and harmless files; returns the expected reason of each hostile file by its name."""
    for name, data in HARMLESS.items():
        (folder / name).write_bytes(data)
    (folder / "bomb.docx").write_bytes(zip_bomb(300))
    for name in ("huge.txt", "huge.jsonl"):
        with (folder / name).open("wb") as huge:
            huge.truncate(2 * 2**30)
    (folder / "locked.pdf").write_bytes(pdf([["secret"]], locked=True))
    (folder / "long.pdf").write_bytes(pdf([[] for _ in range(10_000)]))
    (folder / "mixed.txt").write_bytes(MIXED)
    (folder / "nul.txt").write_bytes(b"a\x00b")
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 and nothing else")
    (folder / "loop").symlink_to(folder)
    (folder / "self.md").symlink_to(folder / "self.md")
    os.mkfifo(folder / "pipe.txt")
    return {
        "bomb.docx": "unpacks to over 256 MiB",
        "huge.txt": "is larger than",
        "huge.jsonl": "line 1: is longer than",
        "locked.pdf": "is encrypted",
        "long.pdf": "has 10000 pages: at most 2000 are taken",
        "mixed.txt": "is not UTF-8 text (byte 23): it mixes UTF-8 with another encoding",
        "nul.txt": "the document holds a NUL character",
        "broken.docx": "is not a readable DOCX file",
        "loop": "links back to a folder that holds it",
        "self.md": "too many levels of symbolic links",
        "pipe.txt": "is not a file",
    }
