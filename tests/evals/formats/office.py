"""Word and PDF files. Other office formats have their place here."""

from __future__ import annotations

from collections.abc import Iterator

from tests.evals.formats.case import Case
from tests.hostile import RELATIONS, WORD, docx, paragraph, pdf, pdf_with_annotations

_BODY = "The checkout service was down for two hours."


def office_cases() -> Iterator[Case]:
    """Yields all cases of Word and PDF files."""
    yield from _word()
    yield from _pdf()


def _part(root: str, body: str) -> bytes:
    return f'<w:{root} xmlns:w="{WORD}">{body}</w:{root}>'.encode()


def _word() -> Iterator[Case]:
    yield Case("body.docx", docx(paragraph(_BODY)), _BODY, "body.docx")
    yield Case(
        "umlauts.docx", docx(paragraph("Größe der Straße in Zürich")), "Größe der Straße in Zürich"
    )
    date = '<w:p><w:r><w:t>Due </w:t></w:r><w:fldSimple w:instr="X"><w:r><w:t>Friday</w:t></w:r></w:fldSimple></w:p>'
    yield Case("field.docx", docx(date), "Due Friday")
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
