"""The title of a document, and front matter that is not valid YAML."""

from __future__ import annotations

import pytest

from services.agent_orchestrator.ingest.content_types import HTML, MARKDOWN
from services.agent_orchestrator.ingest.documents import ParsedDocument, Upload
from services.agent_orchestrator.ingest.formats.parsing import parse
from services.agent_orchestrator.ingest.formats.titles import stated_title


def read(text: str, kind: str = MARKDOWN, source: str = "in/file.md") -> ParsedDocument:
    [one] = parse(Upload(kind, text.encode(), source=source))
    assert isinstance(one, ParsedDocument), one
    return one


@pytest.mark.parametrize(
    "junk",
    [
        "",
        "  ",
        "untitled",
        "Untitled Document",
        "Untitled-3",
        "Document1",
        "Microsoft Word - minutes.doc",
        "Microsoft PowerPoint - Q3",
        "minutes.docx",
        "final report v2.pdf",
        "C:\\Users\\ana\\minutes",
        "\\\\server\\share\\minutes",
        "/home/ana/minutes",
        "file:///tmp/x",
        "https://example.org/a",
        "|",
        "12345",
        "d41d8cd98f00b204e9800998ecf8427e",
        "無題",
    ],
)
def test_a_title_that_a_program_chose_counts_as_none(junk: str) -> None:
    assert stated_title(junk) == ""


@pytest.mark.parametrize(
    "title",
    [
        "INC-104: Checkout timeouts",
        "Word",
        "A/B tests",
        "Node.js",
        "議事録",
        "C:",
        "Plan 9",
        "I/O and C++",
    ],
)
def test_other_titles_are_kept(title: str) -> None:
    assert stated_title(f" {title}\n") == title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("<h1>Ledger</h1>\n\n## Install\n\nText", "Ledger"),
        ('<h1 align="center">\n<img src="x.png">\nLedger\n</h1>\n\n# Install', "Ledger"),
        ('<h1 align="center">\n\nLedger **Service**\n\n</h1>\n\n# Install', "Ledger Service"),
        (
            "# [![Build](b.svg)](ci) [Ledger](https://example.org) `v2` *now*\n\nText",
            "Ledger v2 now",
        ),
        ("# ![Ledger](logo.svg)\n\nText", "Ledger"),
        ("![badge](b.svg)\n\nLedger\n===\n\nText", "Ledger"),
        ("# R&amp;D \\*plans\\*\n\nText", "R&D *plans*"),
        ("---\ntitle: No\n---\n# Heading\n\nText", "No"),
        ("---\ntitle: 1.10\n---\nText", "1.10"),
        ("---\ntitle: 2024-03-05\n---\nText", "2024-03-05"),
        ("---\nTitle: Ledger\n---\nText", "Ledger"),
        ("---\ntitle:\n---\n# Heading\n\nText", "Heading"),
        ("Text", "file.md"),
    ],
)
def test_markdown_is_titled_by_its_front_matter_or_its_first_heading(text: str, title: str) -> None:
    assert read(text).title == title


def test_a_page_with_a_meaningless_title_is_titled_by_its_heading() -> None:
    assert read("<title>Untitled Document</title><h1>Ledger</h1><p>x", HTML).title == "Ledger"


def test_front_matter_that_is_not_yaml_is_read_line_by_line() -> None:
    document = read(
        "---\ntitle: Incident: Lemur outage\ndate: 2024-03-05\nowner: 'Ana'\n---\nBody."
    )
    assert document.title == "Incident: Lemur outage"
    assert document.valid_time is not None
    assert document.valid_time.date().isoformat() == "2024-03-05"
    assert (document.metadata, document.text[document.body_start :]) == ({"owner": "Ana"}, "Body.")
    assert [one.reason for one in document.warnings] == ["metadata_not_understood"]


def test_lines_of_front_matter_that_are_not_understood_remain_text() -> None:
    document = read("---\ntitle: A: B\nand some words\n---\nBody.")
    assert (document.title, document.body_start) == ("A: B", 0)
    [warning] = document.warnings
    assert "1 lines" in warning.text


def test_a_title_that_is_too_long_is_cut_with_a_warning() -> None:
    document = read(f"---\ntitle: {'long ' * 5000}\n---\nBody.")
    assert len(document.title) <= 1000
    assert [(one.reason, one.where) for one in document.warnings] == [("part_left_out", "title")]


@pytest.mark.parametrize(
    ("text", "source", "day", "origin"),
    [
        ("---\ndate: 05.03.2024\n---\nx", "2025-01-01-a.md", "2024-03-05", None),
        ("x", "2025-01-01-a.md", "2025-01-01", "file name"),
        ("---\ndate: soon\n---\nx", "2025-01-01-a.md", "2025-01-01", "file name"),
    ],
)
def test_the_documents_own_date_precedes_that_of_its_name(
    text: str, source: str, day: str, origin: str | None
) -> None:
    document = read(text, source=source)
    assert document.valid_time is not None
    assert document.valid_time.date().isoformat() == day
    assert document.metadata.get("valid_at_origin") == origin
