"""The text of mails: every text part in order, names, attached messages; and where messages of a mailbox begin."""

from __future__ import annotations

from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.ingest.content_types import MAIL, MAILBOX
from services.agent_orchestrator.ingest.documents import ParsedDocument, Upload
from services.agent_orchestrator.ingest.formats.mailbox import count_mails, split_mailbox
from services.agent_orchestrator.ingest.formats.parsing import parse

HEADERS = b"From: Ana <ana@example.org>\nSubject: S\nDate: Tue, 05 Mar 2024 10:00:00 +0100\n"
SHOWN = "from: Ana <ana@example.org>\ndate: Tue, 05 Mar 2024 10:00:00 +0100"


def read(data: bytes) -> ParsedDocument:
    [one] = parse(Upload(MAIL, data, source="in/mail.eml"))
    assert isinstance(one, ParsedDocument), one
    return one


def body(data: bytes) -> str:
    return read(HEADERS + data).text.removeprefix(SHOWN).strip()


def reasons(document: ParsedDocument) -> list[str]:
    return [one.reason for one in document.warnings]


def multipart(kind: str, *parts: bytes) -> bytes:
    inner = b"".join(b"--x\n" + part + b"\n" for part in parts)
    return b"MIME-Version: 1.0\nContent-Type: multipart/%s; boundary=x\n\n%s--x--\n" % (
        kind.encode(),
        inner,
    )


PLAIN = b"Content-Type: text/plain; charset=utf-8\n\n"
HTML = b"Content-Type: text/html; charset=utf-8\n\n"
PICTURE = (
    b"Content-Type: image/png\nContent-Disposition: inline; filename=p.png\n"
    b"Content-Transfer-Encoding: base64\n\nAAAA"
)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("\nGrüße aus Zürich".encode(), "Grüße aus Zürich"),
        ("Content-Type: text/plain; charset=us-ascii\n\nGrüße".encode(), "Grüße"),
        ("Content-Type: text/plain; charset=x-unknown\n\nGrüße".encode(), "Grüße"),
        (b"Content-Type: text/plain; charset=iso-8859-1\n\n\x93Hi\x94 5 \x80", "“Hi” 5 €"),
        (b"Content-Type: text/plain; charset=gb2312\n\n" + "朱镕基".encode("gb18030"), "朱镕基"),
        (b"\n" + "会議は火曜日".encode("iso-2022-jp"), "会議は火曜日"),
        (
            b'Content-Type: text/html\n\n<meta charset="koi8-r"><p>' + "Привет".encode("koi8-r"),
            "Привет",
        ),
        (
            b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nR3LDvMOfZQ==",
            "Grüße",
        ),
    ],
)
def test_a_mail_is_decoded_like_every_file(data: bytes, text: str) -> None:
    assert body(data) == text


def test_every_text_part_is_kept_in_order() -> None:
    data = multipart("mixed", PLAIN + b"Before.", PICTURE, HTML + b"<p>Between.", PLAIN + b"After.")
    assert body(data) == "Before.\n\nBetween.\n\nAfter."


@pytest.mark.parametrize(
    ("plain", "html", "text"),
    [
        ("  \n", "<p>The whole text.", "The whole text."),
        (
            "This mail requires an HTML viewer.",
            "<p>The deadline was moved to Friday, says Ana.",
            "The deadline was moved to Friday, says Ana.",
        ),
        ("The whole text.", "<p>The <b>whole</b> text.", "The whole text."),
        ("The whole text, in plain words.", "", "The whole text, in plain words."),
    ],
)
def test_the_alternative_that_contains_the_text_is_read(plain: str, html: str, text: str) -> None:
    assert body(multipart("alternative", PLAIN + plain.encode(), HTML + html.encode())) == text


def test_an_attached_message_is_read_and_named() -> None:
    inner = b"Content-Type: message/rfc822\n\nFrom: Ben <ben@example.org>\nSubject: Budget\n\nThe budget is 5 million."
    document = read(HEADERS + multipart("mixed", PLAIN + b"See below.", inner))
    assert document.text.endswith(
        "See below.\n\nfrom: Ben <ben@example.org>\nsubject: Budget\n\nThe budget is 5 million."
    )
    assert (document.metadata["attachments"], document.warnings) == (["Budget"], ())


def test_messages_that_are_nested_too_deep_are_left_out_with_a_warning() -> None:
    message = b"Subject: inner\n\ninnermost"
    for depth in range(40):
        message = b"Subject: level %d\nContent-Type: message/rfc822\n\n" % depth + message
    document = read(HEADERS + b"Content-Type: message/rfc822\n\n" + message)
    assert "level 39" in document.text
    assert reasons(document) == ["part_left_out"]


def test_a_mail_that_nests_beyond_the_parser_is_read_as_one_text() -> None:
    data = b"Content-Type: message/rfc822\n\n" * 5000 + b"Subject: x\n\ninnermost"
    document = read(HEADERS + data)
    assert "innermost" in document.text
    assert reasons(document) == ["part_left_out"]


def test_a_body_without_its_boundary_lines_is_kept() -> None:
    data = b"Content-Type: multipart/mixed; boundary=missing\n\nThe boundary never came."
    assert body(data) == "The boundary never came."
    assert body(b"Content-Type: multipart/mixed\n\nNo boundary at all.") == "No boundary at all."


def test_attached_files_are_named_and_those_that_were_not_read_are_said() -> None:
    note = (
        b"Content-Type: text/plain\nContent-Disposition: attachment; filename=note.txt\n\nThe note."
    )
    pdf = b"Content-Type: application/pdf\nContent-Disposition: attachment; filename=report.pdf\n\n%PDF"
    document = read(HEADERS + multipart("mixed", PLAIN + b"Hi.", note, pdf, PICTURE))
    assert document.text.endswith("Hi.\n\nnote.txt\n\nThe note.")
    assert document.metadata["attachments"] == ["note.txt", "report.pdf", "p.png"]
    [warning] = document.warnings
    assert (warning.reason, warning.where) == ("part_left_out", "attachments")
    assert "report.pdf (application/pdf)" in warning.text


def test_thousands_of_parts_are_bounded_and_said() -> None:
    document = read(HEADERS + multipart("mixed", *[PLAIN + b"part %d" % n for n in range(1_500)]))
    assert "part 900" in document.text
    assert "part 1400" not in document.text
    assert "1501 parts" in document.warnings[0].text


@pytest.mark.parametrize(
    ("sender", "shown"),
    [
        ("ana@example.org (Ana Kovac)", "Ana Kovac <ana@example.org>"),
        ('"Kovac, Ana" <ana@example.org>', '"Kovac, Ana" <ana@example.org>'),
        ("=?utf-8?q?Ana_Kova=C4=8D?= <ana@example.org>", "Ana Kovač <ana@example.org>"),
        ("=?gb2312?B?1uzpRg==?= <a@example.org>", "朱镕 <a@example.org>"),
        ("Ana Kovač <ana@example.org>", "Ana Kovač <ana@example.org>"),
        ("=?utf-8?b?5pel?= =?utf-8?b?5pys?= <a@example.org>", "日本 <a@example.org>"),
        ("=?utf-8?b?5p?= broken", "broken"),
    ],
)
def test_names_of_senders_are_kept(sender: str, shown: str) -> None:
    assert shown in read(b"From: " + sender.encode() + b"\nSubject: S\n\nHi.").text


def test_a_date_in_another_form_is_read_and_an_unreadable_one_said() -> None:
    assert read(b"Date: 2024-03-05 10:00\n\nHi").valid_time == datetime(2024, 3, 5, 10, tzinfo=UTC)
    unreadable = read(b"Date: long ago\n\nHi")
    assert (unreadable.valid_time, reasons(unreadable)) == (None, ["date_not_understood"])


def test_blank_lines_and_a_mark_before_the_headers_are_skipped() -> None:
    assert read(b"\xef\xbb\xbf\r\n\nSubject: S\n\nHi.").title == "S"


MESSAGE = b"Subject: %d\n\nText.\n\n"
LINE = b"From ana@example.org Tue Mar  5 10:00:00 2024\n"


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (LINE + MESSAGE % 1 + LINE + MESSAGE % 2, 2),
        (b"\n" + LINE + MESSAGE % 1 + LINE + MESSAGE % 2, 2),
        (b"\r\n\r\n" + LINE + MESSAGE % 1, 1),
        (LINE + b"Subject: 1\n\nText.\n" + LINE + MESSAGE % 2, 2),
        (MESSAGE % 1 + LINE + MESSAGE % 2, 2),
        (MESSAGE % 1, 1),
        (LINE + b"Subject: 1\n\nText.\nFrom here on 10:00 it rains.\n\n>From me\n", 1),
        (LINE.replace(b"\n", b"\r\n") + b"Subject: 1\r\n\r\nText.\r\n\r\n" + LINE + MESSAGE % 2, 2),
        (b" \n", 0),
    ],
)
def test_a_mailbox_is_split_at_its_separators(data: bytes, count: int) -> None:
    assert count_mails(data) == count
    documents = list(parse(Upload(MAILBOX, data, source="in/box.mbox")))
    assert len(documents) == count
    assert [one.title for one in documents if isinstance(one, ParsedDocument)] == [
        str(number + 1) for number in range(count)
    ]


@given(st.binary(max_size=300), st.integers(0, 3))
def test_a_mailbox_loses_no_byte(data: bytes, separators: int) -> None:
    box = (LINE + data + b"\n\n") * separators + data
    parts = list(split_mailbox(box))
    assert len(parts) == count_mails(box)
    assert b"".join(part for part, _ in parts).strip() == box.strip()


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1),
        min_size=1,
        max_size=5,
    )
)
def test_any_mail_written_by_the_standard_library_keeps_its_words(words: list[str]) -> None:
    message = EmailMessage(policy=SMTP)
    message["From"] = "Ana <ana@example.org>"
    message.set_content("\n".join(words))
    message.add_attachment("\n".join(words), filename="again.txt")
    text = read(message.as_bytes()).text
    assert all(text.count(word) >= 2 for word in words)
