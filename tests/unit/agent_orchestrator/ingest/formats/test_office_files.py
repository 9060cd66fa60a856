"""Presentations, spreadsheets, OpenDocument, RTF, books, Outlook messages: their whole text, in order."""

from __future__ import annotations

from datetime import UTC, date, datetime
from io import BytesIO
from typing import Any

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI

from services.agent_orchestrator.ingest.content_types import (
    CSV,
    EPUB,
    ODP,
    ODS,
    ODT,
    OUTLOOK,
    PPTX,
    RST,
    RTF,
    TSV,
    XLS,
    XLSX,
)
from services.agent_orchestrator.ingest.documents import (
    MIB,
    Limits,
    ParsedDocument,
    Rejected,
    Upload,
)
from services.agent_orchestrator.ingest.formats.parsing import count_documents, parse
from tests.hostile import zip_bomb
from tests.office_files import archive, epub, opendocument, outlook, pptx, xlsx

COMMENTS = (
    (
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments",
        (
            b'<p:cmLst xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main">'
            b"<p:cm><p:text>Too much.</p:text></p:cm></p:cmLst>"
        ),
    ),
    (
        "http://schemas.microsoft.com/office/2018/10/relationships/comments",
        (
            b'<c xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
            b"<a:p><a:r><a:t>Agreed.</a:t></a:r></a:p></c>"
        ),
    ),
)


def read(kind: str, data: bytes | str, source: str = "in/file") -> ParsedDocument:
    upload = Upload(kind, data.encode() if isinstance(data, str) else data, source=source)
    assert count_documents(upload) == 1
    [one] = parse(upload)
    assert isinstance(one, ParsedDocument), one
    return one


def test_a_slide_is_a_page_with_its_title_text_table_and_notes() -> None:
    data = pptx(
        ("Plan", ["Ana leads the harbour.", "It opens in May."]),
        ("Costs", []),
        table=[["Item", "2024"], ["Crane", "10"]],
        notes="Thank Bo.",
    )
    document = read(PPTX, data)
    assert document.title == "Plan"
    first, second = (document.text[piece.start : piece.end] for piece in document.pieces)
    assert first == "## Plan\n\nAna leads the harbour.\nIt opens in May."
    assert (
        second
        == "## Costs\n\nColumns: Item; 2024\nRow 2: Item: Crane; 2024: 10\n\nNotes: Thank Bo."
    )
    assert [piece.page for piece in document.pieces] == [1, 2]


def test_charts_and_comments_of_a_slide_are_kept() -> None:
    presentation = Presentation(BytesIO(pptx(("Costs", []))))
    slide = presentation.slides[0]
    chart = CategoryChartData()  # type: ignore[no-untyped-call]  # the library has few types
    chart.categories = ["Crane", "Rope"]
    chart.add_series("2024", (10, 1.5))  # type: ignore[no-untyped-call]
    slide.shapes.add_chart(XL_CHART_TYPE.BAR_CLUSTERED, 0, 0, 99, 99, chart)
    for number, (kind, body) in enumerate(COMMENTS):
        part = Part(
            PackURI(f"/ppt/comments/{number}.xml"),
            "application/xml",
            presentation.part.package,
            body,
        )
        slide.part.relate_to(part, kind)
    out = BytesIO()
    presentation.save(out)
    assert read(PPTX, out.getvalue()).text == (
        "## Costs\n\nColumns: Category; 2024\nRow 2: Category: Crane; 2024: 10\n"
        "Row 3: Category: Rope; 2024: 1.5\n\nComment: Too much.\n\nComment: Agreed."
    )


def test_slides_without_text_are_named() -> None:
    [warning] = read(PPTX, pptx(("Plan", []), ("", []), ("", []))).warnings
    assert warning.where == "slides 2-3"


def test_a_stated_title_of_a_presentation_is_its_title() -> None:
    assert read(PPTX, pptx(("Plan", []), title="Harbour 2024")).title == "Harbour 2024"
    assert read(PPTX, pptx(("Plan", []), title="PowerPoint Presentation")).title == "Plan"


def test_rows_of_sheets_name_their_columns_and_their_sheet() -> None:
    rows: list[Any] = [["Name", "Team", "Since"], ["Ana", "", date(2024, 5, 1)], ["Bo", "", 2023.5]]
    data = xlsx({"Staff": rows, "Stock": [["Item", "Sold"], ["Rope", True]]}, {"B2:B3": "Harbour"})
    assert read(XLSX, data, "in/book.xlsx").text == (
        "## Staff\n\nColumns of Staff: Name; Team; Since\n"
        "Row 2 of Staff: Name: Ana; Team: Harbour; Since: 2024-05-01\n"
        "Row 3 of Staff: Name: Bo; Team: Harbour; Since: 2023.5\n\n"
        "## Stock\n\nColumns of Stock: Item; Sold\nRow 2 of Stock: Item: Rope; Sold: yes"
    )


def test_a_sheet_without_a_name_of_its_own_is_not_named() -> None:
    assert read(XLSX, xlsx({"Sheet1": [["Item", "Cost"], ["Rope", 3]]})).text == (
        "Columns: Item; Cost\nRow 2: Item: Rope; Cost: 3"
    )


def test_empty_rows_and_columns_cost_nothing() -> None:
    far: list[Any] = ["x", *[None] * 500, "y"]
    empty: list[Any] = [[]] * 100_000
    data = xlsx({"Far": [*empty, far]})
    assert read(XLSX, data).text == "Row 100001 of Far: x; y"


def test_the_delimiter_of_a_table_is_recognized() -> None:
    expected = (
        "Columns: Name; Place\nRow 2: Name: Ana, B.; Place: two lines\nRow 3: Name: Bo; Place: West"
    )
    assert read(CSV, 'Name,Place\r\n"Ana, B.","two\nlines"\r\nBo,West\r\n').text == expected
    assert read(CSV, 'Name;Place\nAna, B.;"two\nlines"\nBo;West').text == expected
    assert read(CSV, "sep=|\nName|Place\nAna, B.|two lines\nBo|West").text == expected
    assert read(TSV, "Name\tPlace\nAna, B.\ttwo lines\nBo\tWest").text == expected
    assert read(CSV, "sep=\t\r\nName\tPlace\r\nAna, B.\ttwo lines\r\nBo\tWest").text == expected
    assert read(CSV, "1,5;2,5\n3,5;4,5").text == "Row 1: 1,5; 2,5\nRow 2: 3,5; 4,5"
    assert read(CSV, "Größe;Ort\n3;Köln\n4;Bonn".encode("cp1252")).text.startswith("Columns: Größe")


def test_an_opendocument_text_keeps_all_but_deleted_text() -> None:
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        '<text:h text:outline-level="2">Harbour</text:h>'
        "<text:p>One<text:s/>two<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>A note.</text:p></text:note-body></text:note> three.<office:annotation>"
        "<dc:date>2024-05-01</dc:date><text:p>A comment.</text:p></office:annotation></text:p>"
        "<text:p><draw:frame><draw:text-box><text:p>A box.</text:p></draw:text-box></draw:frame></text:p>"
        "<table:table><table:table-row><table:table-cell><text:p>Item</text:p></table:table-cell>"
        "<table:table-cell><text:p>Cost</text:p></table:table-cell></table:table-row></table:table>"
        "<text:list><text:list-item><text:p>first</text:p></text:list-item></text:list>"
    )
    document = read(ODT, opendocument("text", body))
    assert document.title == "Harbour"
    assert document.text == (
        "## Harbour\n\nOne two three.\n\nA note.\n\nA comment.\n\nA box.\nItem | Cost\n- first"
    )


def test_headers_and_footers_of_an_opendocument_text_are_kept_once_without_page_numbers() -> None:
    header = "<style:header><text:p>Confidential</text:p></style:header>"
    footer = "<style:footer><text:p>Lemur <text:span>Limited</text:span></text:p><text:p>7</text:p></style:footer>"
    data = opendocument("text", "<text:p>Body.</text:p>", styles=header + header + footer)
    assert read(ODT, data).text == "Confidential\n\nBody.\n\nLemur Limited"


def test_an_opendocument_presentation_keeps_slides_and_notes() -> None:
    body = (
        "<draw:page><draw:frame><draw:text-box><text:p>Slide.</text:p></draw:text-box></draw:frame>"
        "<presentation:notes><text:p>Notes.</text:p></presentation:notes></draw:page>"
    )
    assert read(ODP, opendocument("presentation", body, "Plan")).text == "Slide.\n\nNotes."


def test_rich_text_keeps_all_characters_and_footnotes() -> None:
    rtf = (
        r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\info{\title x}}\f0 The \b harbour\b0  of K\'f6ln "
        r"\u8364? \u-10179?\u-8694?{\footnote A note.}.\par Second.\par}"
    )
    assert read(RTF, rtf).text == "The harbour of Köln € 😊 A note..\n\nSecond."


def test_restructured_text_is_read_without_its_markup_and_includes_nothing() -> None:
    rst = "Harbour\n=======\n\nAna *leads*.\n\n.. include:: /etc/passwd\n\n.. raw:: html\n\n   <b>raw</b>\n\n- one\n"
    document = read(RST, rst)
    assert document.title == "Harbour"
    assert document.text.startswith("# Harbour\n\nAna leads.")
    assert "root:" not in document.text


def test_chapters_of_a_book_are_read_in_reading_order() -> None:
    document = read(
        EPUB, epub("<h1>One</h1><p>Begin.</p>", "<h1>Two</h1><p>End.</p>", title="Ropes")
    )
    assert document.title == "Ropes"
    assert document.text == "# One\n\nBegin.\n\n# Two\n\nEnd."


def test_an_outlook_message_is_read_as_mail() -> None:
    sent = datetime(2024, 3, 5, 10, tzinfo=UTC)
    data = outlook(
        subject="Crane",
        sender="Ana",
        to={"Bo": "bo@example.org"},
        body="The crane is broken.",
        sent=sent,
        files={"list.txt": b"One rope."},
    )
    document = read(OUTLOOK, data)
    assert (document.title, document.valid_time) == ("Crane", sent)
    assert document.text == (
        'from: "Ana" <ana@example.org>\nto: Bo <bo@example.org>\ndate: Tue, 05 Mar 2024 10:00:00 +0000\n\n'
        "The crane is broken.\n\nlist.txt\n\nOne rope."
    )


BOMB = archive({"word/document.xml": bytes(300 * MIB)})


@pytest.mark.parametrize("kind", [EPUB, ODP, ODS, ODT, OUTLOOK, PPTX, RTF, XLS, XLSX])
@pytest.mark.parametrize("data", [b"no such file", archive({"a": b"b"}), BOMB, zip_bomb(1)[:400]])
def test_damaged_files_are_refused_with_a_reason(kind: str, data: bytes) -> None:
    [one] = parse(Upload(kind, data, source="in/file"))
    assert isinstance(one, Rejected)
    assert one.reason.startswith(("is not ", "unpacks to over "))


def test_a_presentation_with_too_many_slides_is_refused() -> None:
    upload = Upload(PPTX, pptx(("A", []), ("B", [])), source="a")
    [one] = parse(upload, Limits(pages=1))
    assert isinstance(one, Rejected)
    assert one.reason == "has 2 slides: at most 1 are taken"


def test_xml_that_declares_entities_is_refused() -> None:
    package = '<!DOCTYPE x [<!ENTITY a "b">]><package/>'
    [one] = parse(Upload(ODT, archive({"content.xml": package}), source="a"))
    assert isinstance(one, Rejected)
