"""Plain text, web pages and Markdown: encodings, front matter, titles, dates in names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date

from tests.evals.formats.case import Case
from tests.evals.formats.languages import SAMPLES

DAY = date(2024, 3, 5)
_BODY = "The checkout service was down for two hours. Ana Kovac restarted it."


def text_cases() -> Iterator[Case]:
    """Yields all cases of plain text, HTML, Markdown and JSON lines."""
    yield from _plain()
    yield from _pages()
    yield from _front_matter()
    yield from _titles()
    yield from _names()
    yield from _lines()


def _plain() -> Iterator[Case]:
    """Each text without a label, as it stands in a file."""
    for sample in SAMPLES:
        for encoding in dict.fromkeys(encoding for encoding, _ in sample.encodings):
            name = f"plain-{sample.language}-{encoding}.txt"
            text = f"{sample.title}\n\n{sample.text}\n"
            yield Case(name, text.encode(encoding), text, title=name)


def _pages() -> Iterator[Case]:
    for sample in SAMPLES:
        for number, (encoding, label) in enumerate(sample.encodings):
            meta = f'<meta charset="{label}">' if label else ""
            html = (
                f"<!doctype html><html><head>{meta}<title>{sample.title}</title></head>"
                f"<body><h1>{sample.title}</h1><p>{sample.text}</p></body></html>"
            )
            name = f"page-{sample.language}-{number}.html"
            yield Case(name, html.encode(encoding), f"{sample.title} {sample.text}", sample.title)


_DATES = (
    "2024-03-05", "2024-3-5", "05.03.2024", "5.3.2024", "March 5, 2024", "5 March 2024", "Mar 5, 2024", "2024/03/05",
    "5. März 2024", "5 mars 2024", "5 de marzo de 2024", "2024年3月5日", "20240305", "2024-03-05T00:00:00Z",
)  # fmt: skip


def _front_matter() -> Iterator[Case]:
    for number, written in enumerate(_DATES):
        text = f"---\ntitle: Report {number}\ndate: {written}\n---\n\n{_BODY}\n"
        yield Case(f"date-{number}.md", text.encode(), _BODY, f"Report {number}", DAY)
    for number, written in enumerate(("soon", "99999-01-01", "0000-00-00", "31.02.2024")):
        text = f"---\ntitle: Note {number}\ndate: {written}\n---\n\n{_BODY}\n"
        warned = "date_not_understood"
        yield Case(f"no-date-{number}.md", text.encode(), _BODY, f"Note {number}", warning=warned)
    for number, written in enumerate(("05/03/2024", "5-3-2024")):
        text = f"---\ndate: {written}\n---\n\n# Ambiguous {number}\n\n{_BODY}\n"
        title = f"Ambiguous {number}"
        yield Case(f"either-{number}.md", text.encode(), _BODY, title, DAY, "date_ambiguous")
    broken = f"---\ntitle: Incident: Lemur outage\ndate: 05.03.2024\n---\n\n{_BODY}\n"
    yield Case(
        "broken-yaml.md",
        broken.encode(),
        _BODY,
        "Incident: Lemur outage",
        DAY,
        "metadata_not_understood",
    )
    half = f"---\ntitle: A: B\nand these words as well\n---\n\n{_BODY}\n"
    yield Case(
        "half-yaml.md",
        half.encode(),
        f"and these words as well {_BODY}",
        "A: B",
        warning="metadata_not_understood",
    )
    later = f"---\ntitle: Plan\ndate: 2099-01-15\n---\n\n{_BODY}\n"
    yield Case("later.md", later.encode(), "", "Plan", date(2099, 1, 15), "valid_later")


def _titles() -> Iterator[Case]:
    forms = (
        ("<h1>Ledger</h1>\n\n## Install\n\n", "Ledger"),
        (
            '<h1 align="center">\n  <img src="logo.png">\n  Ledger\n</h1>\n\n## Install\n\n',
            "Ledger",
        ),
        ("# [![Build](b.svg)](ci) [Ledger](https://example.org)\n\n", "Ledger"),
        ("# The *Ledger* `Service`\n\n", "The Ledger Service"),
        ("Ledger\n======\n\n", "Ledger"),
        ("---\ntitle: No\n---\n\n# Other\n\n", "No"),
        ("---\ntitle: 1.10\n---\n\n# Other\n\n", "1.10"),
        ('---\nTitle: "Ledger: a plan"\n---\n\n', "Ledger: a plan"),
    )
    for number, (head, title) in enumerate(forms):
        yield Case(f"title-{number}.md", (head + _BODY).encode(), _BODY, title)
    for number, junk in enumerate(
        ("Untitled Document", "Microsoft Word - x.doc", "C:\\a\\b.html", "untitled")
    ):
        html = f"<title>{junk}</title><h1>Ledger {number}</h1><p>{_BODY}</p>"
        yield Case(f"junk-{number}.html", html.encode(), _BODY, f"Ledger {number}")


def _names() -> Iterator[Case]:
    for name in (
        "2024-03-05-bell.md", "20240305_bell.txt", "bell 05.03.2024.txt", "2024_03_05 bell.html",
        "journal/2024/03/05.md", "bell-2024-03-05.txt",
    ):  # fmt: skip
        yield Case(name, _BODY.encode(), _BODY, day=DAY)


def _lines() -> Iterator[Case]:
    for sample in SAMPLES[:6]:
        row = {
            "id": f"line-{sample.language}",
            "title": sample.title,
            "text": sample.text,
            "valid_at": "2024-03-05",
        }
        data = json.dumps(row, ensure_ascii=False).encode() + b"\n"
        yield Case(
            f"lines-{sample.language}.jsonl", data, sample.text, sample.title, DAY, ids=(row["id"],)
        )
    messages = [
        {
            "thread": "ledger",
            "author": "Ana",
            "time": "2024-03-05T10:00:00Z",
            "text": "The ledger is down.",
        },
        {
            "thread": "ledger",
            "author": "Ben",
            "time": "2024-03-05T10:01:00Z",
            "text": "I restart it.",
        },
    ]
    data = "\n".join(map(json.dumps, messages)).encode()
    yield Case(
        "chat.messages.jsonl",
        data,
        "Ana The ledger is down. Ben I restart it.",
        "ledger",
        DAY,
        ids=("ledger",),
    )
