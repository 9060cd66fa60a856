"""The encodings in which bytes are decoded: by mark, by validity, by label, by likelihood."""

from __future__ import annotations

import pytest

from services.agent_orchestrator.ingest.content_types import PLAIN
from services.agent_orchestrator.ingest.document_warnings import WarningReason
from services.agent_orchestrator.ingest.documents import ParsedDocument, UnreadableError, Upload
from services.agent_orchestrator.ingest.formats.decoding import codec_of, decode, decode_part
from services.agent_orchestrator.ingest.formats.html import html_text
from services.agent_orchestrator.ingest.formats.parsing import count_documents, parse


@pytest.mark.parametrize(
    ("label", "written_in", "text"),
    [
        ("gb2312", "gb18030", "朱镕基的“会议”"),
        ("GBK", "gb18030", "北京 € 会议"),
        ("iso-8859-1", "cp1252", "“Quoted” – 5 €"),
        ("latin1", "cp1252", "“Quoted” – 5 €"),
        ("us-ascii", "cp1252", "Grüße"),
        ("shift_jis", "cp932", "①会議は髙橋さん"),
        ("ks_c_5601-1987", "cp949", "똠방각하 회의"),
        ("x-sjis", "cp932", "会議"),
        (" 'KOI8-R' ", "koi8-r", "Привет"),
        ("utf-7", "utf-7", "Grüße"),
        ("hz-gb-2312", "hz", "会议"),
    ],
)
def test_a_label_means_what_browsers_take_it_for(label: str, written_in: str, text: str) -> None:
    assert decode(text.encode(written_in), label) == (text, None)


@pytest.mark.parametrize("label", ["us-ascii", "iso-8859-1", "x-unknown", "gb2312", "utf-16", ""])
def test_valid_utf8_outweighs_any_label(label: str) -> None:
    assert decode("Grüße aus Zürich".encode(), label).text == "Grüße aus Zürich"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize(
    "text", ["Minutes of the meeting\n", "会議は火曜日。\nNext line", "Ошибка 5\n"]
)
def test_wide_encodings_need_no_byte_order_mark(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)) == (text, None)


def test_japanese_with_escape_sequences_needs_no_label() -> None:
    assert (
        decode("会議は火曜日に行われます。".encode("iso-2022-jp")).text
        == "会議は火曜日に行われます。"
    )


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("shift_jis", "会議は火曜日に行われます。"),
        ("shift_jis", "障害の原因は証明書の期限切れでした。"),
        ("euc-jp", "議事録：三月五日の定例会議について。"),
        ("big5", "憑證過期導致結帳服務中斷。"),
        ("big5", "台北市"),
        ("euc-kr", "서울특별시"),
        ("euc-kr", "인증서가 만료되어 결제 서비스가 중단되었다."),
        ("gb18030", "新的负责人是王小明。"),
        ("cp1251", "Заседание перенесено"),
        ("koi8-r", "Встреча состоится во вторник"),
        ("cp1253", "Η συνάντηση αναβλήθηκε για την Τρίτη"),
        ("cp1250", "Zażółć gęślą jaźń, spotkanie w środę."),
        ("cp1252", "Größe: 5"),
        ("cp1255", "הפגישה תתקיים ביום שלישי"),
        ("cp874", "การประชุมจะจัดขึ้นในวันอังคาร"),
    ],
)
def test_short_texts_without_a_label_are_detected_with_a_warning(encoding: str, text: str) -> None:
    decoded = decode(text.encode(encoding))
    assert decoded.text == text
    assert [one.reason for one in decoded.warnings] == [WarningReason.ENCODING_GUESSED]


def test_a_wrong_label_is_no_reason_to_refuse_a_text() -> None:
    assert decode("Grüße aus Zürich".encode("cp1252"), "euc-jp").text == "Grüße aus Zürich"


def test_a_part_that_fits_no_encoding_is_read_with_replaced_characters() -> None:
    decoded = decode_part("Größe ".encode() * 9 + b"d\xe9j\xe0")
    assert decoded.text == "Größe " * 9 + "d\ufffdj\ufffd"
    assert [one.reason for one in decoded.warnings] == [WarningReason.CHARACTERS_REPLACED]


def test_labels_of_no_known_encoding_have_no_codec() -> None:
    assert [codec_of(label) for label in ("", "x-unknown", "replacement", "iso-2022-kr")] == [
        ""
    ] * 4


@pytest.mark.parametrize(
    "page",
    [
        '<meta charset="windows-1251"><p>Привет, мир</p>',
        "<meta http-equiv='Content-Type' content='text/html; charset=windows-1251'><p>Привет, мир</p>",
        '<?xml version="1.0" encoding="windows-1251"?><html><p>Привет, мир</p></html>',
    ],
)
def test_a_page_states_its_encoding_itself(page: str) -> None:
    assert html_text(page.encode("cp1251")) == (page, None)


def test_control_characters_are_no_text() -> None:
    with pytest.raises(UnreadableError, match="save it as UTF-8"):
        decode(bytes(range(1, 256)))


@pytest.mark.parametrize("length", [1, 10_000])
def test_a_text_in_utf16_without_a_mark_is_accepted_whatever_its_length(length: int) -> None:
    data = ("Minutes of the meeting\n" * length).encode("utf-16-le")
    upload = Upload(PLAIN, data, source="a.txt")
    assert count_documents(upload) == 1
    [document] = parse(upload)
    assert isinstance(document, ParsedDocument)
    assert document.text.count("Minutes") == length
