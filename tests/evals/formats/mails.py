"""Mails and mailboxes: labels of encodings, parts, attached messages, separators."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import date

from tests.evals.formats.case import Case
from tests.evals.formats.languages import SAMPLES

DAY = date(2024, 3, 5)
_HEAD = (
    b"From: Ana Kovac <ana@example.org>\nDate: Tue, 05 Mar 2024 10:00:00 +0100\nMIME-Version: 1.0\n"
)
_SEPARATOR = b"From ana@example.org Tue Mar  5 10:00:00 2024\n"
_PLAIN = b"Content-Type: text/plain; charset=utf-8\n\n"
_HTML = b"Content-Type: text/html; charset=utf-8\n\n"


def mail_cases() -> Iterator[Case]:
    """Yields all cases of mails."""
    yield from _labels()
    yield from _structures()
    yield from _headers()
    yield from _mailboxes()


def _labels() -> Iterator[Case]:
    for sample in SAMPLES:
        for number, (encoding, label) in enumerate(sample.encodings):
            if encoding.startswith("utf-16"):
                continue
            title = base64.b64encode(sample.title.encode()).decode()
            head = _HEAD + f"Subject: =?utf-8?b?{title}?=\n".encode()
            typed = f"Content-Type: text/plain; charset={label}\nContent-Transfer-Encoding: 8bit\n\n".encode()
            name = f"mail-{sample.language}-{number}.eml"
            yield Case(
                name, head + typed + sample.text.encode(encoding), sample.text, sample.title, DAY
            )
    ja = next(sample for sample in SAMPLES if sample.language == "ja")
    raw = _HEAD + b"Subject: JIS\n\n" + ja.text.encode("iso-2022-jp")
    yield Case("mail-no-label.eml", raw, ja.text, "JIS", DAY)
    ru = next(sample for sample in SAMPLES if sample.language == "ru")
    html = b'<html><meta charset="koi8-r"><p>' + ru.text.encode("koi8-r")
    yield Case(
        "mail-meta.eml",
        _HEAD + b"Subject: M\nContent-Type: text/html\n\n" + html,
        ru.text,
        "M",
        DAY,
    )


def _parts(kind: bytes, *parts: bytes) -> bytes:
    inner = b"".join(b"--b\n" + part + b"\n" for part in parts)
    return (
        _HEAD
        + b"Subject: Parts\nContent-Type: multipart/"
        + kind
        + b"; boundary=b\n\n"
        + inner
        + b"--b--\n"
    )


def _structures() -> Iterator[Case]:
    picture = b"Content-Type: image/png; name=p.png\nContent-Transfer-Encoding: base64\n\nAAAA"
    data = _parts(
        b"mixed", _PLAIN + b"Before the picture.", picture, _PLAIN + b"After the picture."
    )
    yield Case("three-parts.eml", data, "Before the picture. After the picture.", "Parts", DAY)
    data = _parts(b"alternative", _PLAIN + b"  \n", _HTML + b"<p>The whole text is here.")
    yield Case("blank-plain.eml", data, "The whole text is here.", "Parts", DAY)
    stub = b"This message requires an HTML viewer."
    data = _parts(
        b"alternative", _PLAIN + stub, _HTML + b"<p>The budget was raised to five million by Ana."
    )
    yield Case(
        "stub-plain.eml", data, "The budget was raised to five million by Ana.", "Parts", DAY
    )
    inner = b"From: Ben <ben@example.org>\nSubject: Budget\n\nThe budget is five million."
    data = _parts(b"mixed", _PLAIN + b"See below.", b"Content-Type: message/rfc822\n\n" + inner)
    yield Case(
        "forwarded.eml", data, "See below. Ben Budget The budget is five million.", "Parts", DAY
    )
    data = (
        _HEAD
        + b"Subject: Lost\nContent-Type: multipart/mixed; boundary=x\n\nThe boundary is missing."
    )
    yield Case("no-boundary.eml", data, "The boundary is missing.", "Lost", DAY)
    note = b"Content-Type: text/plain\nContent-Disposition: attachment; filename=note.txt\n\nThe attached note."
    yield Case(
        "note.eml", _parts(b"mixed", _PLAIN + b"Hi.", note), "Hi. The attached note.", "Parts", DAY
    )
    report = b"Content-Type: application/pdf\nContent-Disposition: attachment; filename=report.pdf\n\n%PDF"
    data = _parts(b"mixed", _PLAIN + b"Hi.", report)
    yield Case("report.eml", data, "Hi. report.pdf", "Parts", DAY, "part_left_out")
    data = _parts(b"mixed", *[_PLAIN + b"part" for _ in range(10_000)])
    yield Case("ten-thousand.eml", data, "part", "Parts", DAY, "part_left_out")
    nested = b"Subject: innermost\n\nDeep."
    for _ in range(200):
        nested = b"Subject: outer\nContent-Type: message/rfc822\n\n" + nested
    yield Case("nested.eml", _HEAD + nested, "Ana Kovac", "outer", DAY, "part_left_out")


def _headers() -> Iterator[Case]:
    body = b"Subject: Names\n\nHello."
    data = b"From: ana@example.org (Ana Kovac)\nDate: Tue, 05 Mar 2024 10:00:00 +0100\n" + body
    yield Case("comment-name.eml", data, "Ana Kovac Hello.", "Names", DAY)
    data = "From: Ana Kovač <ana@example.org>\nDate: 5 Mar 2024 10:00\n".encode() + body
    yield Case("raw-name.eml", data, "Ana Kovač Hello.", "Names", DAY)
    data = b"\n\n" + _HEAD + body
    yield Case("blank-lines.eml", data, "Ana Kovac Hello.", "Names", DAY)
    data = b"From: Ana <ana@example.org>\nDate: some day\n" + body
    yield Case("no-date.eml", data, "Ana Hello.", "Names", warning="date_not_understood")


def _mailboxes() -> Iterator[Case]:
    first = _HEAD + b"Subject: One\nMessage-ID: <%b-1@example.org>\n\nThe first text.\n"
    second = _HEAD + b"Subject: Two\nMessage-ID: <%b-2@example.org>\n\nThe second text.\n"
    text = "The first text. The second text."
    for name, before, between in (
        ("box.mbox", b"", b"\n"), ("blank.mbox", b"\n", b"\n"), ("dense.mbox", b"", b""), ("crlf.mbox", b"\r\n", b"\n"),
    ):  # fmt: skip
        tag = name.encode()
        data = before + _SEPARATOR + first % tag + between + _SEPARATOR + second % tag
        yield Case(name, data, text, "One", DAY, ids=_ids(name))
    data = first % b"bare" + b"\n" + _SEPARATOR + second % b"bare"
    yield Case("bare.mbox", data, text, "One", DAY, ids=_ids("bare"))


def _ids(tag: str) -> tuple[str, ...]:
    return (f"{tag}-1@example.org", f"{tag}-2@example.org")
