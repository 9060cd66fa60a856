"""Facts are read from strict JSON, and each invalid one is reported with its position."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.rest.facts.requests import read_json, read_lines
from services.runtime.errors import InvalidFieldError

GOOD = '{"subject": "A", "relation": "OWNS", "object": "B"}'
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=20)


def invalid_fields_of_json(body: str) -> list[str]:
    """Returns the fields that are reported."""
    with pytest.raises(InvalidFieldError) as refused:
        read_json(body.encode())
    return [field for field, _ in refused.value.fields]


def invalid_fields_of_lines(body: str) -> list[str]:
    """Returns the fields that are reported for JSON lines."""
    with pytest.raises(InvalidFieldError) as refused:
        read_lines(body.encode())
    return [field for field, _ in refused.value.fields]


@given(st.lists(st.tuples(NAMES, NAMES), max_size=5))
def test_facts_are_read_unchanged(ends: list[tuple[str, str]]) -> None:
    sent = [{"subject": a, "relation": "OWNS", "object": b} for a, b in ends]
    lines = "\n\n".join(json.dumps(fact) for fact in sent)
    for found in (read_json(json.dumps({"facts": sent}).encode()), read_lines(lines.encode())):
        assert [(fact.subject, fact.object) for fact in found] == ends


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_json_cannot_represent_is_rejected(word: str) -> None:
    fact = f'{GOOD[:-1]}, "attributes": {{"n": {word}}}}}'
    [field] = invalid_fields_of_json(f'{{"facts": [{GOOD}, {fact}]}}')
    assert field in {"body", "facts[1].attributes.n"}
    [field] = invalid_fields_of_lines(f"{GOOD}\n{fact}")
    assert field in {"facts[1]", "facts[1].attributes.n"}


@pytest.mark.parametrize(
    "body", ["", "[", '{"facts": [1,]}', '{"facts": []} x', '{"facts"', "[" * 10_000, '"\\ud800"']
)
def test_invalid_json_is_reported_for_the_body_or_the_line(body: str) -> None:
    assert invalid_fields_of_json(body) == ["body"]
    if body:
        assert invalid_fields_of_lines(f"{GOOD}\n{body}") == ["facts[1]"]


def test_all_invalid_facts_and_unknown_fields_are_reported() -> None:
    body = f'{{"facts": [1, {GOOD}, {{"subject": "A"}}], "more": 1}}'
    assert invalid_fields_of_json(body) == [
        "facts[0]",
        "facts[2].relation",
        "facts[2].object",
        "more",
    ]
    assert invalid_fields_of_json("[]") == ["body"]
    assert invalid_fields_of_json('{"facts": 1}') == ["facts"]
