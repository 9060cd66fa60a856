"""The text of a long JSON body is extracted in pieces as a parser would read it; the rest is unchanged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from gateway.rest.documents import long_text
from gateway.rest.documents.long_text import Bounds, take_text
from services.runtime.errors import InvalidFieldError

BOUNDS = Bounds(size=10_000, values=100, piece=12)


class BodySchema(BaseModel):
    """The schema of the bodies in this file."""

    text: str
    other: Any = None


def parse_whole(body: bytes) -> BodySchema | None:
    """Returns what a parser reads, or None if it rejects the body."""
    try:
        return BodySchema.model_validate_json(body)
    except ValidationError:
        return None


def parse_in_pieces(body: bytes) -> BodySchema | None:
    """Returns the same, read in pieces."""
    try:
        rest, text = take_text(body, "text", BOUNDS)
        shape = BodySchema.model_validate_json(rest)
    except (ValidationError, InvalidFieldError):
        return None
    assert text is None or all(piece and len(piece) <= BOUNDS.piece for piece in text)
    return shape if text is None else BodySchema(text=b"".join(text).decode(), other=shape.other)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "a", '"', "\\"]), inner, max_size=3)
    ),
    max_leaves=6,
)
BODIES = st.fixed_dictionaries({"text": st.text(max_size=60)}, optional={"other": VALUES})
# Fragments of valid and of malformed JSON.
PARTS = st.sampled_from(
    [
        *(
            '{"text":"',
            '"text":',
            '"te\\u0078t":"',
            '"other":',
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            '"',
            " ",
        ),
        *(
            "\\",
            "\\u",
            "\\n",
            '\\"',
            "\\ud83d",
            "\\ude00",
            "\\u00e9",
            "\\u12",
            "a",
            "é",
            "😀",
            "\n",
            "1",
        ),
    ]
)


@given(BODIES, st.booleans())
@example({"text": "😀" * 40}, True)
@example({"text": "a😀é" * 20}, False)
@example({"text": '"\\' * 30}, True)
@example({"text": ""}, True)
def test_a_text_is_extracted_unchanged(body: dict[str, Any], escaped: bool) -> None:
    sent = json.dumps(body, ensure_ascii=escaped).encode()
    assert parse_in_pieces(sent) == BodySchema(**body)


@given(st.lists(PARTS, max_size=24).map(lambda parts: "".join(parts).encode()))
@example(b'{"text":"a","text":"b"}')
@example(b'{"text":"a","text":1}')
@example(b'{"text":1,"text":"a"}')
@example(b'{"other":{"text":"a"}}')
@example(b'{"text":"aaaaaaaaaaaaa\\ud83d"}')
@example(b'{"text":"aaaaaaaaaaaaaaaaaaaaaa')
@example(b'{"text":"a"}}')
@example(b'[{"text":"a"}]')
def test_a_body_is_accepted_or_rejected_as_by_a_parser(body: bytes) -> None:
    assert parse_in_pieces(body) == parse_whole(body)


@given(st.binary(max_size=60))
@example(b"\x80" * 30)
@example(b"\xf0\x9f\x98" * 10)
def test_invalid_utf8_is_rejected(content: bytes) -> None:
    body = b'{"text":"%b"}' % content
    assert parse_in_pieces(body) == parse_whole(body)


def test_the_rest_is_the_body_without_its_text() -> None:
    rest, text = take_text(b'{"id": "a", "text": "b\\nc", "x": [1]}', "text", BOUNDS)
    assert (rest, text) == (b'{"id": "a", "text": "", "x": [1]}', [b"b\nc"])


@pytest.mark.parametrize(
    "other",
    [
        '"' + "a" * BOUNDS.size + '"',
        " " * BOUNDS.size + "1",
        str([1] * 8 * BOUNDS.values),
        "[" * 8 * BOUNDS.values,
        "{" + '""' * 8 * BOUNDS.values,
        "[" + "{}" * 4 * BOUNDS.values,
        '{"":' * 3 * BOUNDS.values,
    ],
)
@pytest.mark.parametrize("place", ['{"text": "a", "other": %s}', '{"other": %s, "text": "a"}'])
def test_large_values_next_to_the_text_are_rejected(place: str, other: str) -> None:
    with pytest.raises(InvalidFieldError) as refused:
        take_text((place % other).encode(), "text", BOUNDS)
    assert [problem.field for problem in refused.value.fields] == ["body"]


def test_values_next_to_the_text_are_accepted_up_to_the_limit() -> None:
    dense = ",".join(f'"{number}":{{}}' for number in range(BOUNDS.values))
    sent = b'{"text": "a", "other": {%b}}' % dense.encode()
    rest, text = take_text(sent, "text", BOUNDS)
    assert (len(rest), text) == (len(sent) - 1, [b"a"])


def test_a_long_field_name_is_rejected_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_string: bytes) -> str:
        pytest.fail("read")

    monkeypatch.setattr(long_text, "from_json", read)
    with pytest.raises(InvalidFieldError):
        take_text(b'{"%b": 1}' % (b"a" * BOUNDS.size), "text", BOUNDS)


def test_the_length_of_the_text_is_not_limited() -> None:
    sent = json.dumps({"text": "a" * 10 * BOUNDS.size}).encode()
    _, text = take_text(sent, "text", BOUNDS)
    assert text is not None
    assert sum(map(len, text)) == 10 * BOUNDS.size
