"""Text of Word and PDF files besides their body: fields, comments, headers, form values, pages without text."""

from __future__ import annotations

import pytest

from services.agent_orchestrator.ingest.content_types import DOCX, PDF
from services.agent_orchestrator.ingest.documents import ParsedDocument, Upload
from services.agent_orchestrator.ingest.formats.parsing import parse
from tests.hostile import RELATIONS, WORD, docx, paragraph, pdf, pdf_with_annotations


def read(kind: str, data: bytes) -> ParsedDocument:
    [one] = parse(Upload(kind, data, source="in/file"))
    assert isinstance(one, ParsedDocument), one
    return one


def part(root: str, body: str) -> bytes:
    return f'<w:{root} xmlns:w="{WORD}">{body}</w:{root}>'.encode()


def test_results_of_fields_are_text() -> None:
    date = '<w:fldSimple w:instr="DATE"><w:r><w:t>Friday</w:t></w:r></w:fldSimple>'
    field = f"<w:p><w:r><w:t>Due </w:t></w:r>{date}</w:p>"
    assert read(DOCX, docx(field)).text == "Due Friday"


def test_the_chosen_entry_of_a_list_is_text() -> None:
    field = (
        '<w:p><w:r><w:t>State </w:t></w:r><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList>'
        '<w:result w:val="1"/><w:listEntry w:val="open"/><w:listEntry w:val="closed"/></w:ddList></w:ffData>'
        "</w:fldChar></w:r><w:r><w:instrText> FORMDROPDOWN </w:instrText></w:r>"
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )
    assert read(DOCX, docx(field)).text == "State closed"


def test_headers_comments_and_footers_are_kept_without_page_numbers() -> None:
    members = {
        "word/header1.xml": part("hdr", paragraph("Confidential")),
        "word/header2.xml": part("hdr", paragraph("Confidential")),
        "word/footer1.xml": part("ftr", paragraph("Acme Inc.") + paragraph("7")),
        "word/comments.xml": part(
            "comments", f'<w:comment w:id="0">{paragraph("Check this.")}</w:comment>'
        ),
    }
    document = read(DOCX, docx(paragraph("Body."), **members))
    assert document.text == "Confidential\n\nBody.\n\nCheck this.\n\nAcme Inc."
    assert document.pieces[0].end == len(document.text)


def test_a_link_without_a_target_keeps_its_text() -> None:
    link = f'<w:p><w:hyperlink xmlns:r="{RELATIONS}" r:id="rId99"><w:r><w:t>the plan</w:t></w:r></w:hyperlink></w:p>'
    assert read(DOCX, docx(link)).text == "the plan"


STYLES = part(
    "styles", '<w:style w:type="paragraph" w:styleId="T1"><w:name w:val="Title"/></w:style>'
)
LINKED_STYLES = (
    b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="s" '
    b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>'
    b"</Relationships>"
)


@pytest.mark.parametrize(
    ("stated", "title"),
    [("Quarterly report", "Quarterly report"), ("Document1", "Plan"), ("", "Plan")],
)
def test_a_document_is_titled_by_its_properties_or_its_title_paragraph(
    stated: str, title: str
) -> None:
    core = (
        f'<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{stated}</dc:title></c>'.encode()
    )
    members = {
        "docProps/core.xml": core,
        "word/styles.xml": STYLES,
        "word/_rels/document.xml.rels": LINKED_STYLES,
    }
    assert read(DOCX, docx(paragraph("Plan", "T1") + paragraph("Body."), **members)).title == title


def test_types_in_xml_are_refused() -> None:
    [one] = parse(
        Upload(
            DOCX,
            docx(
                paragraph("x"), **{"word/comments.xml": b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"}
            ),
        )
    )
    assert not isinstance(one, ParsedDocument)
    assert one.reason == "is not a readable DOCX file"


def test_pages_without_text_are_named() -> None:
    document = read(PDF, pdf([[], ["Some text."], [], [], ["More text."], []]))
    [warning] = document.warnings
    assert (warning.reason, warning.where) == ("pages_without_text", "pages 1, 3-4, 6")
    assert warning.text.startswith("4 of 6 pages")


@pytest.mark.parametrize("title", ["untitled", "Microsoft Word - x.doc", "C:\\x\\y.doc", ""])
def test_a_pdf_with_a_meaningless_title_is_titled_by_its_file(title: str) -> None:
    assert read(PDF, pdf([["Text."]], title=title.replace("\\", "\\\\"))).title == "file"


def test_form_values_and_comments_of_a_pdf_are_text() -> None:
    data = pdf_with_annotations(
        ["Application"], fields={"Name": "Ana Kovac"}, comments=["Approved by Ben."]
    )
    assert read(PDF, data).text == "Application\n\nName: Ana Kovac\n\nApproved by Ben."
