"""The text, title, pages and times that are read from files of each format."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.agent_orchestrator.ingest import formats
from services.agent_orchestrator.ingest.content_types import (
    DOCX,
    HTML,
    MAIL,
    MAILBOX,
    MARKDOWN,
    MESSAGES,
    PDF,
    PLAIN,
)
from services.agent_orchestrator.ingest.documents import (
    MIB,
    Limits,
    ParsedDocument,
    Rejected,
    UnreadableError,
    Upload,
)
from services.agent_orchestrator.ingest.formats.decoding import decode
from services.agent_orchestrator.ingest.formats.parsing import count_documents, parse
from services.agent_orchestrator.ingest.pipeline.prepare import prepare
from tests.hostile import MIXED, docx, paragraph, pdf, zip_bomb

MAY = datetime(2024, 5, 1, 10, tzinfo=UTC)
SENTENCES = "It is a sentence of some ten words, more or less. "
GERMAN = "Ein schöner Tag für größere Übungen in der Küche, über alle Maße. " * 5


def read(kind: str, data: bytes, limits: Limits | None = None, **values: Any) -> ParsedDocument:
    [one] = parse(Upload(kind, data, **{"source": "in/file", **values}), limits or Limits())
    assert isinstance(one, ParsedDocument), one
    return one


def reason(kind: str, data: bytes, limits: Limits | None = None) -> str:
    [one] = parse(Upload(kind, data, source="in/file"), limits or Limits())
    assert isinstance(one, Rejected), one
    assert one.document_id == "in/file"
    return one.reason


PAGE = """<!doctype html><html><head><title> The
 page </title><style>p { color: red }</style></head><body><nav><a href="/">Home</a></nav>
<h1>First <i>heading</i></h1><p>Some <b>bold</b> text
and a <a href="https://example.org">link</a>.<br>Next line.</p>
<ul><li>one<li><p>two</p><ul><li>inner</ul></ul>
<table><tr> <th>a</th> <th>b</th></tr><tr><td><p>1</p></td><td>2</td></tr></table>
<pre>x = 1
  y</pre><script>alert("no")</script>last</body></html>"""
RENDERED = """# First heading

Some bold text and a link.
Next line.
- one
- two
- inner
a | b
1 | 2

x = 1
  y

last"""


def test_a_page_is_read_as_it_is_rendered() -> None:
    page = read(HTML, PAGE.encode())
    assert (page.title, page.text) == ("The page", RENDERED)


SITE = """<html><head><title>Install — Acme Docs</title></head><body>
<a href="#main">Skip to content</a>
<header><a href="/">Acme Docs</a> banner text</header>
<nav>menu text</nav><div role="navigation">more menu text</div><aside role="navigation">side text</aside>
<main id="main"><article><header><h1>Install<a class="headerlink" href="#install">¶</a></h1><p>By Ann</p></header>
<h2>Steps <a class="anchor" href="#steps">#</a></h2><p>Unpack it<a href="#fn1">1</a>, as in <a href="#c">C#</a>.</p>
<aside>Mind the gap.</aside><p hidden>Not shown.</p><footer>Changed in May.</footer></article></main>
<form role="search">Search text</form><footer>footer text</footer></body></html>"""


def test_navigation_and_other_elements_of_the_site_are_left_out() -> None:
    page = read(HTML, SITE.encode())
    assert page.title == "Install"
    assert page.text == (
        "# Install\n\nBy Ann\n\n## Steps\n\nUnpack it1, as in C#.\n\nMind the gap.\n\nChanged in May."
    )


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (
            "<header><h1>Minutes</h1><p>Ann, Bob</p></header><p>All agreed.",
            "# Minutes\n\nAnn, Bob\n\nAll agreed.",
        ),
        (
            "<header><p>Acme</p><div><h1><i>Plan</i></h1></div><p>x</p></header><main>Text.</main>",
            "# Plan\n\nText.",
        ),
        ("<header>Acme<h1>Acme</h1></header><main><h1>Plan</h1>Text.</main>", "# Plan\n\nText."),
        ("<nav><ul><li>One<li>Two</ul></nav>", "- One\n- Two"),
        (
            "<section><header>Part</header>Text.<footer>End</footer></section>",
            "Part\n\nText.\n\nEnd",
        ),
        ("<h2><a class='anchor' href='#x'>Old heading</a></h2>Text.", "## Old heading\n\nText."),
        (
            "<h2>New<a class='hash-link' href='#x'>\u200b</a><a class='anchor' href='/p#x'>Link</a></h2>",
            "## New",
        ),
        ("<p>Figures<a href='#note'>§</a> are here.", "Figures are here."),
    ],
)
def test_the_pages_own_content_is_kept(page: str, text: str) -> None:
    assert read(HTML, page.encode()).text == text


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Plan | Acme</title><meta property='og:site_name' content='Acme'>", "x", "Plan"),
        (
            "<title>Acme: Plan - ACME</title><meta name='application-name' content='acme'>",
            "x",
            "Acme: Plan",
        ),
        ("<title>Acme » Plan</title><meta property='og:site_name' content='Acme'>", "x", "Plan"),
        (
            "<title>Home - Acme</title><meta property='og:site_name' content='Acme'>",
            "x",
            "Home - Acme",
        ),
        ("<title>Acme</title><meta property='og:site_name' content='Acme'>", "x", "Acme"),
        (
            "<title>Plan — Guide — Acme</title>",
            "<nav><a>Acme</a><a>Guide</a></nav><h1>Plan</h1>x",
            "Plan",
        ),
        ("<title>INC-104 — Postmortem</title>", "<h1>INC-104</h1>x", "INC-104 — Postmortem"),
        (
            "<title>INC-104 — Postmortem</title>",
            "<nav><a>Postmortems</a></nav><h1>INC-104</h1>",
            "INC-104 — Postmortem",
        ),
        (
            "<title>Plan - Acme</title>",
            "<footer><p>Acme</p></footer><h1>Other</h1>x",
            "Plan - Acme",
        ),
        ("<title>A well-known plan</title>", "<h1>x</h1>", "A well-known plan"),
        ("<title> | </title>", "<h1>x</h1>", "x"),
    ],
)
def test_a_title_loses_the_site_name_only_if_the_page_states_it(
    head: str, body: str, title: str
) -> None:
    page = f"<html><head>{head}</head><body>{body}</body></html>"
    assert read(HTML, page.encode()).title == title


def test_a_page_without_a_title_is_titled_by_its_first_heading() -> None:
    assert read(HTML, b"<p>x<h2>The <b>plan</b></h2>y").title == "The plan"


def test_a_page_is_read_in_the_encoding_that_it_declares() -> None:
    page = '<meta charset="iso-8859-2"><p>Zażółć gęślą jaźń'
    assert read(HTML, page.encode("iso-8859-2")).text == "Zażółć gęślą jaźń"


def test_a_page_without_text_is_rejected() -> None:
    assert reason(HTML, b"<script>x</script>") == "has no text"


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from("ab<>/ \n&;\x00") | st.characters(), max_size=80))
@example("\x08\x850")  # a control character before whitespace
def test_any_page_yields_storable_text_or_a_reason(text: str) -> None:
    [one] = parse(Upload(HTML, f"<p>{text}".encode("utf-8", "replace"), source="s"))
    if isinstance(one, ParsedDocument):
        assert "\x00" not in one.text
        assert one.text == one.text.strip() != ""
    else:
        assert one.reason


@given(
    st.lists(
        st.sampled_from(
            [
                "<p>",
                "</p>",
                "<li>",
                "<ul>",
                "</ul>",
                "<tr>",
                "<td>",
                "</table>",
                "<table>",
                "<h1>",
                "</h1>",
                "<pre>",
                "</pre>",
                "<div>",
                "</div>",
                "<br>",
                "w",
            ]
        ),
        max_size=40,
    )
)
def test_no_word_of_a_page_is_lost_whatever_its_tags(parts: list[str]) -> None:
    words = [f"word{n}" for n in range(len(parts))]
    page = "".join(f"{part}{word} " for part, word in zip(parts, words, strict=True))
    text = read(HTML, f"<body>start {page}".encode()).text
    assert all(word in text for word in words)


def test_each_page_with_text_of_a_short_pdf_is_a_separate_chunk() -> None:
    file = read(PDF, pdf([["Alpha is here."], [], ["Gamma is here."], ["Delta is here."]]))
    texts = [file.text[piece.start : piece.end] for piece in file.pieces]
    assert [(text, piece.page) for text, piece in zip(texts, file.pieces, strict=True)] == [
        ("Alpha is here.", 1),
        ("Gamma is here.", 3),
        ("Delta is here.", 4),
    ]


def test_a_pdf_is_read_page_by_page_and_its_chunks_have_page_numbers() -> None:
    lines = [SENTENCES.strip()] * 25
    file = read(PDF, pdf([lines, lines, lines], title="The report"))
    assert file.title == "The report"
    assert [piece.page for piece in file.pieces] == [1, 2, 3]
    chunks = prepare(file, "space", dimension=4, max_size=MIB).input.chunks
    assert [chunk.page for chunk in chunks] == [1, 2, 3]
    assert all(file.text[c.start_char : c.end_char] == c.content for c in chunks)


def test_lines_of_a_pdf_are_joined_into_paragraphs() -> None:
    page = [
        "A paragraph goes on over the end of",
        "a line.",
        "The next one begins here and is long too",
    ]
    assert read(PDF, pdf([page])).text == (
        "A paragraph goes on over the end of a line.\n\nThe next one begins here and is long too"
    )


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (pdf([["x"]], locked=True), "is encrypted"),
        (pdf([[]] * 6), "has 6 pages: at most 5 are taken"),
        (pdf([[], []]), "has no text on its 2 pages: they may be pictures"),
        (b"%PDF-1.7 and nothing else", "is not a readable PDF file"),
        (pdf([["much text"] * 9]), "holds more than 50 characters of text: split it"),
    ],
)
def test_an_unacceptable_pdf_is_rejected_with_a_reason(data: bytes, detail: str) -> None:
    assert reason(PDF, data, Limits(pages=5, text=50)) == detail


def test_a_word_document_is_read_with_its_headings_and_tables() -> None:
    cells = "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in ("a", "b"))
    body = paragraph("The plan", "Heading1") + paragraph("Some text.")
    file = read(DOCX, docx(f"{body}<w:tbl><w:tr>{cells}</w:tr></w:tbl>"))
    assert (file.title, file.text) == ("The plan", "# The plan\n\nSome text.\na | b")


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (zip_bomb(2), "unpacks to over 1 MiB"),
        (docx("", **{f"m{n}": b"" for n in range(20)}), "holds over 20 files"),
        (docx("<w:p>" * 5000 + "</w:p>" * 5000), "is not a readable DOCX file"),
        (docx("<broken"), "is not a readable DOCX file"),
        (b"PK\x03\x04", "is not a readable DOCX file"),
        (bytes.fromhex("d0cf11e0a1b11ae1"), "is encrypted, or of Word before 2007"),
        (docx(""), "has no text"),
    ],
)
def test_an_unacceptable_word_document_is_rejected_with_a_reason(data: bytes, detail: str) -> None:
    assert reason(DOCX, data, Limits(unpacked_bytes=MIB, members=20)) == detail


THREAD: list[dict[str, object]] = [
    {"id": 1, "thread": "t", "author": "Ada", "time": "2024-05-01T10:00:00Z", "text": "Hello."},
    {"thread": "t", "author": "Ben", "time": "2024-05-02T11:30:00Z", "text": "Hi."},
    {"thread": "u", "text": "Alone."},
]


def messages(*lines: object, **upload: Any) -> list[ParsedDocument | Rejected]:
    raw = "\n".join(json.dumps(line) for line in lines).encode()
    given = Upload(MESSAGES, raw, **upload)
    found = list(parse(given))
    assert len(found) == count_documents(given)
    return found


def test_each_thread_is_a_document_of_its_messages_in_order() -> None:
    first, second = messages(*THREAD)
    assert isinstance(first, ParsedDocument)
    assert isinstance(second, ParsedDocument)
    assert first.text == "Ada (2024-05-01 10:00): Hello.\n\nBen (2024-05-02 11:30): Hi."
    since = datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert (first.document_id, first.title, first.valid_time) == ("t", "t", since)
    assert first.metadata == {"participants": ["Ada", "Ben"]}
    assert (second.document_id, second.text, second.valid_time) == ("u", "Alone.", None)


def test_only_a_thread_with_more_names_than_metadata_allows_is_rejected() -> None:
    crowd = [{"thread": "t", "author": f"{n:02}{'é' * 900}", "text": "x"} for n in range(100)]
    detail = "metadata has more than 131072 bytes of names and texts"
    first, second = messages(*crowd, THREAD[2])
    assert first == Rejected("t", detail)
    assert isinstance(second, ParsedDocument)


def test_a_message_is_valid_from_the_time_it_was_written() -> None:
    long = [{**THREAD[n], "text": SENTENCES * 25} for n in range(2)]
    [thread] = messages(*long)
    assert isinstance(thread, ParsedDocument)
    prepared = prepare(thread, "space", dimension=4, max_size=MIB)
    times = [e.reference_time.ToDatetime(UTC).day for e in prepared.episodes(accepted=None)]  # type: ignore[arg-type]
    assert times == [1, 2]
    chunk_days = [chunk.valid_time.ToDatetime(UTC).day for chunk in prepared.input.chunks]
    assert (
        chunk_days
        == [e.valid_time.ToDatetime(UTC).day for e in prepared.episodes(Timestamp())]
        == times
    )


def message(minute: float, text: str, thread: str = "t") -> dict[str, object]:
    time = datetime(2025, 2, 3, 9, tzinfo=UTC) + timedelta(minutes=minute)
    return {"thread": thread, "author": "Ada", "time": time.isoformat(), "text": text}


def chunks(document: ParsedDocument | Rejected) -> list[tuple[str, float | None]]:
    """Returns the texts of a thread's chunks without authors and times, and the minute from which each is valid."""
    assert isinstance(document, ParsedDocument)
    begin = datetime(2025, 2, 3, 9, tzinfo=UTC)
    return [
        (
            re.sub(r"Ada(?: \([^)]*\))?: ", "", document.text[one.start : one.end]),
            None if one.time is None else (one.time - begin) / timedelta(minutes=1),
        )
        for one in document.pieces
    ]


def test_a_chunk_of_a_thread_is_valid_from_the_last_message_of_its_exchange() -> None:
    [thread] = messages(
        message(0, "A."), message(4, "B."), message(9, "C."), message(10, "D."), message(90, "E.")
    )
    assert chunks(thread) == [("A.\n\nB.", 4), ("C.\n\nD.", 10), ("E.", 90)]


def test_an_exchange_without_a_pause_ends_five_minutes_after_its_first_message() -> None:
    [thread] = messages(*(message(4 * n, f"{n}.") for n in range(46)))
    found = chunks(thread)
    assert found[:2] == [("0.\n\n1.", 4), ("2.\n\n3.", 12)]
    assert len(found) == 23


def test_messages_without_a_time_join_the_chunk_of_a_timed_neighbor() -> None:
    untimed: dict[str, object] = {"thread": "t", "author": "Ada", "text": "?"}
    [thread] = messages(untimed, message(0, "A."), untimed, message(60, "B."), untimed)
    assert chunks(thread) == [("?\n\nA.\n\n?", 0), ("B.\n\n?", 60)]
    [alone] = messages(untimed, untimed)
    assert chunks(alone) == [("?\n\n?", None)]


def test_messages_out_of_chronological_order_are_not_valid_too_early() -> None:
    [thread] = messages(message(60, "A."), message(0, "B."), message(61, "C."))
    assert chunks(thread) == [("A.", 60), ("B.", 0), ("C.", 61)]
    assert isinstance(thread, ParsedDocument)
    assert thread.valid_time == datetime(2025, 2, 3, 9, tzinfo=UTC)


def test_the_given_time_applies_to_threads_without_times() -> None:
    day = datetime(2020, 1, 1, tzinfo=UTC)
    first, second = messages(*THREAD, valid_time=day)
    assert isinstance(first, ParsedDocument)
    assert isinstance(second, ParsedDocument)
    assert (first.valid_time, second.valid_time) == (datetime(2024, 5, 1, 10, tzinfo=UTC), day)


def test_a_thread_with_too_many_exchanges_stays_one_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(formats.message_threads, "MAX_EXCHANGES", 3)
    [thread] = messages(*(message(6 * n, str(n)) for n in range(10)), message(1000, "last"))
    assert [minute for _, minute in chunks(thread)] == [18, 42, 54, 1000]


@given(
    minutes=st.lists(st.integers(0, 200), min_size=1, max_size=40),
    long=st.sets(st.integers(0, 39), max_size=3),
)
def test_no_chunk_is_valid_before_all_its_messages_were_written(
    minutes: list[int], long: set[int]
) -> None:
    lines = [
        message(minute, f"<{place}>" * (500 if place in long else 1))
        for place, minute in enumerate(minutes)
    ]
    [thread] = messages(*lines)
    found: dict[int, list[float]] = {}
    for text, since in chunks(thread):
        assert since is not None
        for place in map(int, re.findall(r"<(\d+)>", text)):
            assert since >= minutes[place]
            found.setdefault(place, []).append(since)
    assert found.keys() == set(range(len(minutes)))
    assert isinstance(thread, ParsedDocument)
    assert thread.valid_time == datetime(2025, 2, 3, 9, tzinfo=UTC) + timedelta(
        minutes=min(minutes)
    )


def test_a_growing_thread_keeps_all_but_its_last_chunks() -> None:
    lines = [{"thread": "t", "author": "Ada", "text": f"{n}. {SENTENCES * 3}"} for n in range(30)]
    [short], [grown] = messages(*lines[:29]), messages(*lines)
    assert isinstance(short, ParsedDocument)
    assert isinstance(grown, ParsedDocument)
    before = {short.text[p.start : p.end] for p in short.pieces}
    after = {grown.text[p.start : p.end] for p in grown.pieces}
    assert len(after - before) <= 2


def test_the_last_version_of_a_repeated_message_is_used() -> None:
    [thread] = messages(THREAD[0], {**THREAD[0], "text": "Hello all."})
    assert isinstance(thread, ParsedDocument)
    assert thread.text == "Ada (2024-05-01 10:00): Hello all."


def test_threads_are_counted_without_being_assembled(monkeypatch: pytest.MonkeyPatch) -> None:
    def assemble(*_: object) -> None:
        pytest.fail("put together")

    monkeypatch.setattr(formats.message_threads, "_thread", assemble)
    lines = [*THREAD, {"text": "Of the upload's own."}, {"thread": "d", "text": "Too."}, {}]
    raw = "\n".join(json.dumps(line) for line in lines).encode()
    assert count_documents(Upload(MESSAGES, raw, document_id="d")) == 4


def test_an_unreadable_message_is_rejected_with_a_reason_and_the_others_are_read() -> None:
    bad = [
        {"thread": "t"},
        {"thread": "t", "text": " "},
        {"text": "x"},
        {"thread": "t", "text": "x", "time": "soon"},
    ]
    found = messages(*THREAD, *bad)
    assert [one.reason for one in found if isinstance(one, Rejected)] == [
        "text is missing",
        "text is empty",
        "thread is missing",
        "time is not an ISO 8601 date",
    ]
    assert len(found) == 6


MAIL_DATA = (
    b"From: Ada <ada@example.org>\nTo: ben@example.org\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n"
    b"Date: Wed, 1 May 2024 12:00:00 +0200\nMessage-ID: <m2@example.org>\n"
    b"In-Reply-To: <m1@example.org>\n\nDear Ben,\n\nall is well.\n"
)


def test_a_mail_starts_with_its_sender_and_is_valid_from_its_date() -> None:
    mail = read(MAIL, MAIL_DATA)
    assert (mail.title, mail.document_id, mail.valid_time) == ("Grüße", "in/file", MAY)
    assert mail.text.startswith("from: Ada <ada@example.org>\nto: ben@example.org\n")
    assert mail.text.endswith("Dear Ben,\n\nall is well.")
    assert mail.metadata["thread"] == "m1@example.org"


def test_a_mail_in_html_is_read_as_it_is_rendered() -> None:
    mail = b"Subject: S\nContent-Type: text/html; charset=utf-8\n\n<p>Dear <b>Ben</b><p>all is well"
    assert read(MAIL, mail).text == "Dear Ben\n\nall is well"


def test_each_mail_of_a_mailbox_is_a_document_with_its_own_id() -> None:
    mailbox = (
        b"From ada Wed May  1 10:00:00 2024\n"
        + MAIL_DATA
        + b"\nFrom ben Thu May  2 10:00:00 2024\nSubject: Two\n\nFrom here on.\n\n>From me"
    )
    upload = Upload(MAILBOX, mailbox, source="in/box")
    first, second = parse(upload)
    assert count_documents(upload) == 2
    assert isinstance(first, ParsedDocument)
    assert isinstance(second, ParsedDocument)
    assert (first.document_id, second.title, second.text) == (
        "m2@example.org",
        "Two",
        "From here on.\n\nFrom me",
    )


@settings(max_examples=200)
@given(
    st.binary(max_size=200),
    st.sampled_from([HTML, PDF, DOCX, MAIL, MAILBOX, MESSAGES, PLAIN, MARKDOWN]),
)
def test_any_bytes_of_any_content_type_yield_documents_or_reasons(data: bytes, kind: str) -> None:
    for one in parse(Upload(kind, data, source="s")):
        assert isinstance(one, ParsedDocument) or one.reason


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_the_encoding_of_text_is_detected(encoding: str) -> None:
    assert decode(GERMAN.encode(encoding)).text == GERMAN


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (MIXED, "it mixes UTF-8 with another encoding"),
        (b"\xff\xfe\x00", "is not UTF-16-LE text"),
        (b"x \xe9\x01", "is not UTF-8 text (byte 2): save it as UTF-8"),
    ],
)
def test_text_in_an_undetectable_encoding_is_rejected(data: bytes, detail: str) -> None:
    with pytest.raises(UnreadableError, match=detail.replace("(", r"\(").replace(")", r"\)")):
        decode(data)


@given(st.text(st.characters(exclude_characters="\0"), max_size=200))
def test_utf8_text_is_read_unchanged_except_for_a_byte_order_mark(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    assert decode(text.encode()).text == text.removeprefix("\ufeff")
