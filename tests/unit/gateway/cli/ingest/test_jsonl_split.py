"""JSON lines are split into uploads of bounded size that contain every line once, and into facts."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.ingest.jsonl_split import (
    FACT_BYTES,
    Fact,
    LongLine,
    Part,
    WrongFact,
    read_lines,
    split,
)
from gateway.rest.documents.fact_lines import is_fact_line
from services.agent_orchestrator.ingest.documents import UnreadableError
from services.agent_orchestrator.ingest.formats.json_lines import count_lines

LINES = st.lists(st.binary(max_size=40).filter(lambda line: b"\n" not in line), max_size=30)


@given(lines=LINES, most=st.integers(1, 100))
def test_every_line_is_in_one_part_in_order(lines: list[bytes], most: int) -> None:
    parts = [
        part for part in split((line + b"\n" for line in lines), most) if isinstance(part, Part)
    ]
    kept = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    assert b"".join(bytes(part.data) for part in parts) == b"".join(b + b"\n" for _, b in kept)
    assert [number for part in parts for number in part.lines] == [number for number, _ in kept]


@given(lines=LINES, most=st.integers(1, 100))
def test_a_part_exceeds_the_maximum_size_only_with_a_single_line(
    lines: list[bytes], most: int
) -> None:
    for part in split((line + b"\n" for line in lines), most):
        assert isinstance(part, Part)
        assert len(part.data) <= most or len(part.lines) == 1


def test_a_line_with_subject_relation_and_object_is_a_fact() -> None:
    fact = {"subject": "a", "relation": "R", "object": "b", "document": "d.md", "invalid_at": None}
    lines = [b'{"id": "x", "text": "y"}', json.dumps(fact).encode(), b"\n"]
    part, found = sorted(split(lines), key=lambda item: isinstance(item, Fact))
    assert isinstance(part, Part)
    assert part.lines == [1]
    body = {"subject": "a", "relation": "R", "object": "b", "document_id": "d.md"}
    assert found == Fact(2, body, len(lines[1]))


@pytest.mark.parametrize(("text", "fact"), [("A text.", False), ("", False), (None, True)])
def test_all_readers_recognize_a_fact_line_by_the_same_rule(text: str | None, fact: bool) -> None:
    line = json.dumps({"subject": "a", "relation": "R", "object": "b", "text": text}).encode()
    assert [isinstance(item, Fact) for item in split([line])] == [fact]
    assert is_fact_line(line) == fact
    if fact:
        with pytest.raises(UnreadableError):
            count_lines(line)
    else:
        assert count_lines(line) == 1


def test_a_document_that_only_mentions_the_field_names_is_not_a_fact() -> None:
    text = json.dumps({"id": "x", "text": '"subject" "relation" "object"'}).encode()
    broken = b'{"subject": "relation" "object"'
    assert [type(item) for item in split([text, broken])] == [Part]


@given(data=st.binary(max_size=200), most=st.integers(1, 50))
def test_a_line_that_is_too_long_is_skipped_and_the_others_are_unchanged(
    data: bytes, most: int
) -> None:
    expected = [line if len(line) <= most else None for line in io.BytesIO(data)]
    assert list(read_lines(io.BytesIO(data), most)) == expected


def test_a_line_that_is_too_long_is_reported_with_its_number() -> None:
    assert [item for item in split([b"{}", None]) if isinstance(item, LongLine)] == [LongLine(2)]


VALID = b'{"subject": "a", "relation": "R", "object": "b"}'


@pytest.mark.parametrize(
    ("wrong", "detail"),
    [
        (b'"attributes": {"x": NaN}', "a number that JSON cannot carry"),
        (b'"attributes": {"x": -Infinity}', "a number that JSON cannot carry"),
        (b'"attributes": {"x": 1e999}', "a number that JSON cannot carry"),
        (b'"fact": "\\ud800"', "half a character"),
        (b'"attributes": {"\\udfff": 1}', "half a character"),
        (b'"fact": "%b"' % (b"x" * FACT_BYTES), "is longer than"),
    ],
)
def test_an_invalid_fact_is_reported_with_its_line_and_the_others_are_kept(
    wrong: bytes, detail: str
) -> None:
    first, second, third = split([VALID, VALID[:-1] + b", " + wrong + b"}", VALID])
    assert isinstance(second, WrongFact)
    assert second.line == 2
    assert detail in second.reason
    assert [item.line for item in (first, third) if isinstance(item, Fact)] == [1, 3]


def test_a_fact_with_surrogate_pairs_and_large_numbers_is_valid() -> None:
    line = (
        b'{"subject": "\\ud83d\\ude00", "relation": "R", "object": "b", "attributes": {"x": 1e308}}'
    )
    (fact,) = split([line])
    assert isinstance(fact, Fact)
    assert fact.body["subject"] == "😀"
