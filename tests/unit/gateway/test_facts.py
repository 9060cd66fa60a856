"""Facts are read from JSON that is JSON, and each wrong one is named by its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.rest.facts.requests import read_json, read_lines
from services.runtime.errors import InvalidFieldError

GOOD = '{"subject": "A", "relation": "OWNS", "object": "B"}'
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=20)


def wrong_json(body: str) -> list[str]:
    """The fields that are named."""
    with pytest.raises(InvalidFieldError) as refused:
        read_json(body.encode())
    return [field for field, _ in refused.value.fields]


def wrong_lines(body: str) -> list[str]:
    """The same for lines."""
    with pytest.raises(InvalidFieldError) as refused:
        read_lines(body.encode())
    return [field for field, _ in refused.value.fields]


@given(st.lists(st.tuples(NAMES, NAMES), max_size=5))
def test_facts_are_read_as_they_were_sent(ends: list[tuple[str, str]]) -> None:
    sent = [{"subject": a, "relation": "OWNS", "object": b} for a, b in ends]
    lines = "\n\n".join(json.dumps(fact) for fact in sent)
    for found in (read_json(json.dumps({"facts": sent}).encode()), read_lines(lines.encode())):
        assert [(fact.subject, fact.object) for fact in found] == ends


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_json_cannot_carry_is_refused(word: str) -> None:
    fact = f'{GOOD[:-1]}, "attributes": {{"n": {word}}}}}'
    [field] = wrong_json(f'{{"facts": [{GOOD}, {fact}]}}')
    assert field in {"body", "facts[1].attributes.n"}
    [field] = wrong_lines(f"{GOOD}\n{fact}")
    assert field in {"facts[1]", "facts[1].attributes.n"}


@pytest.mark.parametrize(
    "body", ["", "[", '{"facts": [1,]}', '{"facts": []} x', '{"facts"', "[" * 10_000, '"\\ud800"']
)
def test_what_is_no_json_is_told_of_the_body_and_of_its_line(body: str) -> None:
    assert wrong_json(body) == ["body"]
    if body:
        assert wrong_lines(f"{GOOD}\n{body}") == ["facts[1]"]


def test_wrong_facts_and_wrong_fields_beside_them_are_all_named() -> None:
    body = f'{{"facts": [1, {GOOD}, {{"subject": "A"}}], "more": 1}}'
    assert wrong_json(body) == ["facts[0]", "facts[2].relation", "facts[2].object", "more"]
    assert wrong_json("[]") == ["body"]
    assert wrong_json('{"facts": 1}') == ["facts"]
