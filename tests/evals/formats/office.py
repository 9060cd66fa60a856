"""Word, PDF and OpenDocument files, presentations, spreadsheets, tables, books, Outlook messages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime

from tests.evals.formats.case import Case
from tests.hostile import RELATIONS, WORD, docx, paragraph, pdf, pdf_with_annotations
from tests.office_files import epub, opendocument, outlook, pptx, xlsx

_BODY = "The checkout service was down for two hours."


def office_cases() -> Iterator[Case]:
    """Yields all cases."""
    yield from _word()
    yield from _pdf()
    yield from _slides()
    yield from _tables()
    yield from _others()


def _part(root: str, body: str) -> bytes:
    return f'<w:{root} xmlns:w="{WORD}">{body}</w:{root}>'.encode()


def _word() -> Iterator[Case]:
    yield Case("body.docx", docx(paragraph(_BODY)), _BODY, "body.docx")
    yield Case(
        "umlauts.docx", docx(paragraph("Größe der Straße in Zürich")), "Größe der Straße in Zürich"
    )
    field = '<w:p><w:r><w:t>Due </w:t></w:r><w:fldSimple w:instr="X"><w:r><w:t>Friday</w:t></w:r></w:fldSimple></w:p>'
    yield Case("field.docx", docx(field), "Due Friday")
    members = {
        "word/header1.xml": _part("hdr", paragraph("Confidential")),
        "word/footer1.xml": _part("ftr", paragraph("Lemur Limited")),
        "word/comments.xml": _part(
            "comments", f'<w:comment w:id="0">{paragraph("Check this number.")}</w:comment>'
        ),
    }
    text = f"Confidential {_BODY} Check this number. Lemur Limited"
    yield Case("parts.docx", docx(paragraph(_BODY), **members), text)
    link = f'<w:p><w:hyperlink xmlns:r="{RELATIONS}" r:id="rId9"><w:r><w:t>the plan</w:t></w:r></w:hyperlink></w:p>'
    yield Case("dangling.docx", docx(link + paragraph(_BODY)), f"the plan {_BODY}")
    for number, (stated, title) in enumerate(
        (("Ledger report", "Ledger report"), ("Document1", "core-1.docx"))
    ):
        core = f'<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{stated}</dc:title></c>'.encode()
        data = docx(paragraph(_BODY), **{"docProps/core.xml": core})
        yield Case(f"core-{number}.docx", data, _BODY, title)


def _pdf() -> Iterator[Case]:
    yield Case("one.pdf", pdf([[_BODY]], title="Ledger report"), _BODY, "Ledger report")
    for number, junk in enumerate(("untitled", "Microsoft Word - x.doc", "/home/ana/x.dvi")):
        yield Case(f"junk-{number}.pdf", pdf([[_BODY]], title=junk), _BODY, f"junk-{number}.pdf")
    pages = [[f"This is page number {number}."] for number in range(1, 6)]
    yield Case("pages.pdf", pdf(pages), " ".join(line for page in pages for line in page))
    yield Case("scans.pdf", pdf([[_BODY], [], [], []]), _BODY, warning="pages_without_text")
    form = pdf_with_annotations(
        ["Application"], fields={"Name": "Ana Kovac"}, comments=["Approved by Ben."]
    )
    yield Case("form.pdf", form, "Application Name Ana Kovac Approved by Ben.")


_TABLE = [["Service", "Owner", "Hours"], ["checkout", "Ana Kovac", "24"], ["ledger", "Ben", "8"]]
_TABLE_TEXT = " ".join(cell for row in _TABLE for cell in row)


def _slides() -> Iterator[Case]:
    data = pptx(("Outage", [_BODY]), ("Owners", []), table=_TABLE, notes="Thank Ben.")
    yield Case("slides.pptx", data, f"Outage {_BODY} Owners {_TABLE_TEXT} Thank Ben.", "Outage")
    data = pptx(("Outage", [_BODY]), ("", []))
    yield Case("blank.pptx", data, f"Outage {_BODY}", warning="pages_without_text")
    slide = f"<draw:page><draw:frame><draw:text-box><text:p>{_BODY}</text:p></draw:text-box></draw:frame></draw:page>"
    yield Case("slides.odp", opendocument("presentation", slide, "Outage"), _BODY, "Outage")


def _tables() -> Iterator[Case]:
    yield Case("book.xlsx", xlsx({"Owners": _TABLE}), _TABLE_TEXT, "book.xlsx")
    merged = xlsx({"A": [["Team", "Name"], ["", "Ana"], ["", "Ben"]]}, {"A2:A3": "Harbour"})
    yield Case("merged.xlsx", merged, "Team Name Harbour Ana Harbour Ben")
    yield Case(
        "two.xlsx", xlsx({"East": _TABLE, "West": _TABLE}), f"East {_TABLE_TEXT} West {_TABLE_TEXT}"
    )
    for name, delimiter in (("comma.csv", ","), ("semicolon.csv", ";"), ("tab.tsv", "\t")):
        text = "\n".join(delimiter.join(row) for row in _TABLE)
        yield Case(name, text.encode(), _TABLE_TEXT, name)
    yield Case(
        "latin.csv", "Straße;Größe\nMühlenweg;drei".encode("cp1252"), "Straße Größe Mühlenweg drei"
    )


def _others() -> Iterator[Case]:
    note = f'<text:h text:outline-level="1">Outage</text:h><text:p>{_BODY}</text:p>'
    yield Case("note.odt", opendocument("text", note), f"Outage {_BODY}", "Outage")
    yield Case("note.rtf", rb"{\rtf1\ansi\ansicpg1252 K\'f6ln \u8364?\par}", "Köln")
    yield Case("note.rst", f"Outage\n======\n\n{_BODY}\n".encode(), f"Outage {_BODY}", "Outage")
    yield Case(
        "book.epub", epub(f"<h1>One</h1><p>{_BODY}</p>", title="Ropes"), f"One {_BODY}", "Ropes"
    )
    yield Case("code.py", b"def crane() -> None:\n    lift()\n", "def crane None lift", "code.py")
    message = outlook(
        subject="Outage",
        sender="Ana",
        to={"Ben": "ben@example.org"},
        body=_BODY,
        sent=datetime(2024, 3, 5, 10, tzinfo=UTC),
        files={"list.txt": b"One rope."},
    )
    text = f"Ana Ben {_BODY} One rope."
    yield Case("mail.msg", message, text, "Outage", date(2024, 3, 5))
