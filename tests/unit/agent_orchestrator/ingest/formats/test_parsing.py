"""The documents that are parsed from uploads of each content type."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.ingest.documents import (
    ParsedDocument,
    Rejected,
    UnreadableError,
)
from services.agent_orchestrator.ingest.formats.parsing import (
    Upload,
    count_documents,
    is_light,
    parse,
)

MAY = datetime(2024, 5, 1, tzinfo=UTC)


def markdown(text: str, **values: Any) -> ParsedDocument:
    [document] = parse(Upload("text/markdown", text.encode(), **values))
    assert isinstance(document, ParsedDocument), document
    return document


def lines(*values: object, **upload: Any) -> list[ParsedDocument | Rejected]:
    raw = "\n".join(v if isinstance(v, str) else json.dumps(v) for v in values)
    return list(parse(Upload("application/jsonl", raw.encode(), **upload)))


def rejected(*values: object) -> Rejected:
    [one] = lines(*values)
    assert isinstance(one, Rejected), one
    return one


NOTE = """---
title: "Payments"
date: 2024-05-01
source: wiki/payments
tags: [a, b]
reviewed: 2024-06-01
---

# Another heading

Text.
"""


def test_front_matter_becomes_title_date_source_and_metadata() -> None:
    document = markdown(NOTE)
    assert (document.title, document.source, document.document_id) == (
        "Payments",
        "wiki/payments",
        "wiki/payments",
    )
    assert document.valid_time == MAY
    assert document.metadata == {"tags": ["a", "b"], "reviewed": "2024-06-01"}
    assert document.text == NOTE
    assert document.text[document.body_start :].lstrip().startswith("# Another heading")


def test_the_callers_values_override_the_front_matter() -> None:
    now = datetime(2025, 1, 1, tzinfo=UTC)
    document = markdown(
        NOTE,
        document_id="d",
        title="T",
        source="notes/p.md",
        metadata={"tags": "x"},
        valid_time=now,
    )
    assert (document.document_id, document.title, document.source) == ("d", "T", "notes/p.md")
    assert document.valid_time == now
    assert document.metadata["tags"] == "x"
    assert document.metadata["source"] == "wiki/payments"


def test_without_a_title_the_first_heading_is_the_title() -> None:
    assert markdown("Intro\n\n## The plan ##\n\nText").title == "The plan"


def test_a_heading_in_a_code_block_is_not_the_title() -> None:
    assert markdown("```\n# code\n```\n\nThe plan\n===\n\nText").title == "The plan"


def test_markdown_is_split_where_its_sections_begin() -> None:
    sections = [f"## Part {n}\n\n" + f"Sentence {n} of it. " * 40 for n in range(6)]
    document = markdown("\n\n".join(sections))
    assert [document.text[p.start : p.end] for p in document.pieces] == [
        s.strip() for s in sections
    ]


def test_without_title_and_heading_the_last_part_of_the_source_is_the_title() -> None:
    assert markdown("Text", source="notes/today.md").title == "today.md"


def test_without_id_and_source_the_same_content_has_the_same_id() -> None:
    assert markdown("Text").document_id == markdown("Text").document_id
    assert markdown("Text").document_id != markdown("Text 2").document_id


@pytest.mark.parametrize(
    "text",
    [
        "---\n: : :\n\t- x\n---\nbody",
        "---\njust words\n---\nbody",
        "---\nnever closed",
    ],
)
def test_front_matter_that_is_not_a_plain_yaml_mapping_is_text(text: str) -> None:
    document = markdown(text)
    assert (document.body_start, document.metadata) == (0, {})


def test_a_date_that_is_not_understood_costs_the_date_but_not_the_text() -> None:
    document = markdown("---\ndate: soon\n---\nbody", source="a.md")
    assert (document.text[document.body_start :], document.valid_time) == ("body", None)
    [warning] = document.warnings
    assert (warning.reason, warning.where) == ("date_not_understood", "date")
    assert "“soon”" in warning.text


def test_front_matter_without_text_is_rejected() -> None:
    [one] = parse(Upload("text/markdown", b"---\ntitle: x\n---\n", source="a.md"))
    assert one == Rejected("a.md", "has no text after its front matter")


def test_plain_text_has_neither_front_matter_nor_headings() -> None:
    [document] = parse(Upload("text/plain", b"\xef\xbb\xbf# no heading", source="x/a.txt"))
    assert isinstance(document, ParsedDocument)
    assert (document.title, document.text) == ("a.txt", "# no heading")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b" \n\t ", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"a\x00b", "the document holds a NUL character"),
    ],
)
def test_a_single_document_that_cannot_be_text_is_rejected(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        count_documents(Upload("text/plain", data))
    assert str(caught.value) == reason


# A multi-byte character spans each boundary between the blocks in which the text is read.
LONG = b"x" + "é".encode() * 300_000


def test_a_long_text_is_checked_to_its_end() -> None:
    long = Upload("text/plain", LONG)
    assert (is_light(long), count_documents(long)) == (True, 1)
    broken = Upload("text/plain", LONG + b"\xc3")
    assert (is_light(broken), count_documents(broken)) == (False, 1)
    with pytest.raises(UnreadableError, match="NUL"):
        count_documents(Upload("text/plain", LONG + b"\x00"))


@pytest.mark.parametrize("blank", [b" \n" * 300_000, "\u00a0".encode() * 300_000, b"\xef\xbb\xbf"])
def test_whitespace_of_any_length_is_rejected_as_empty(blank: bytes) -> None:
    with pytest.raises(UnreadableError, match="is empty"):
        count_documents(Upload("text/plain", blank))


def test_bytes_that_are_no_text_are_rejected() -> None:
    [one] = parse(Upload("text/plain", b"ok \xff\x01", source="a.txt"))
    assert one == Rejected("a.txt", "is not UTF-8 text (byte 3): save it as UTF-8")


def test_each_json_line_is_a_document() -> None:
    documents = lines(
        {"id": "a", "title": "A", "text": "alpha", "valid_at": "2024-05-01", "metadata": {"n": 1}},
        "",
        {"id": 7, "text": "seven", "source": "s", "title": None, "other": "ignored"},
        metadata={"n": 0, "set": "x"},
    )
    assert documents == [
        ParsedDocument("a", "A", "", "alpha", {"n": 1, "set": "x"}, MAY),
        ParsedDocument("7", "", "s", "seven", {"n": 0, "set": "x"}),
    ]


def test_valid_lines_are_read_despite_invalid_ones() -> None:
    parsed = lines({"id": "a", "text": "x"}, "{", "[1]", {"id": "b", "text": "y"})
    assert [type(one) for one in parsed] == [ParsedDocument, Rejected, Rejected, ParsedDocument]
    assert parsed[1:3] == [
        Rejected("line 2", "is not valid JSON"),
        Rejected("line 3", "is not a JSON object"),
    ]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"id": "a", "text": ""}, "line 1: text is empty"),
        ({"id": "a", "text": " \n"}, "line 1: text is empty"),
        ({"id": "a"}, "line 1: text is missing"),
        ({"id": "a", "text": None}, "line 1: text is missing"),
        ({"id": "a", "text": 5}, "line 1: text is not a text"),
        ({"id": "a", "text": "x\x00"}, "line 1: text holds a NUL character"),
        (
            {"id": "a", "text": "\ud800"},
            "line 1: text holds characters that are not Unicode text",
        ),
        ({"id": "a", "text": "x", "metadata": [1]}, "line 1: metadata is not a JSON object"),
        (
            {"id": "a", "text": "x", "metadata": {"k": "\x00"}},
            "line 1: metadata holds a NUL character",
        ),
        ({"id": "a", "text": "x", "valid_at": 2024}, "line 1: valid_at is not an ISO 8601 date"),
        (
            {"id": "a", "text": "x", "title": "t" * 1001},
            "line 1: title is longer than 1000 characters",
        ),
    ],
)
def test_a_rejected_line_with_an_id_is_identified_by_its_id(
    values: dict[str, object], reason: str
) -> None:
    assert rejected(values) == Rejected("a", reason)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"id": ["a"], "text": "x"}', "id is not a text"),
        ('{"id": true, "text": "x"}', "id is not a text"),
        ('{"id": "' + "a" * 513 + '", "text": "x"}', "id is longer than 512 characters"),
        ('{"id": "a", "text": NaN}', "is not valid JSON"),
        ('{"id": "a", "text": "x", "metadata": {"n": 1e999}}', "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
    ],
)
def test_a_rejected_line_without_a_usable_id_is_identified_by_its_number(
    line: str, reason: str
) -> None:
    assert rejected(line) == Rejected("line 1", reason)


NO_DOCUMENT = "has neither a text, nor subject, relation and object"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"subject": "a", "relation": "R"}, NO_DOCUMENT),
        ({"subject": "a", "relation": "R", "obj": "b"}, NO_DOCUMENT),
        ({"subject": "a", "predicate": "R", "object": "b"}, NO_DOCUMENT),
        (
            {"subject": "a", "relation": "R", "object": "b"},
            "is a fact, which is given apart from documents",
        ),
    ],
)
def test_a_line_that_was_meant_as_a_fact_is_rejected_with_a_specific_reason(
    values: dict[str, object], reason: str
) -> None:
    assert rejected(values) == Rejected("line 1", reason)


def test_a_document_may_have_fields_of_facts() -> None:
    [document] = lines({"id": "a", "text": "x", "subject": "greetings"})
    assert document == ParsedDocument("a", "", "", "x")


def test_metadata_nested_too_deeply_is_rejected() -> None:
    deep: object = 1
    for _ in range(40):
        deep = [deep]
    parsed = rejected({"id": "a", "text": "x", "metadata": {"k": deep}})
    assert parsed.reason == "line 1: metadata is nested deeper than 32 levels"


def test_only_lines_that_are_not_utf8_fail() -> None:
    data = b'{"id": "a", "text": "x"}\n\xff\xfe\n{"id": "b", "text": "y"}'
    parsed = list(parse(Upload("application/jsonl", data)))
    assert parsed[1] == Rejected("line 2", "is not UTF-8: save it as UTF-8")
    assert count_documents(Upload("application/jsonl", data)) == 3


@given(st.binary(max_size=200))
def test_any_bytes_as_json_lines_yield_one_result_per_line(data: bytes) -> None:
    upload = Upload("application/jsonl", data)
    assert len(list(parse(upload))) == count_documents(upload)


@given(st.text(max_size=200))
def test_any_text_as_markdown_is_a_document_or_has_a_reason(text: str) -> None:
    [one] = parse(Upload("text/markdown", text.encode("utf-8", "replace")))
    assert isinstance(one, ParsedDocument) or one.reason


def test_an_upload_that_contains_only_facts_is_rejected() -> None:
    fact = b'{"subject": "a", "relation": "R", "object": "b"}'
    with pytest.raises(UnreadableError, match="holds facts alone"):
        count_documents(Upload("application/jsonl", fact + b"\n\n" + fact))
    assert count_documents(Upload("application/jsonl", fact + b'\n{"text": "a"}\n' + fact)) == 3
