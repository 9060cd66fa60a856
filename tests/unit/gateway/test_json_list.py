"""A list of a JSON body is taken an item at a time; what is read, and what is refused, is what a parser would."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.rest.json_list import read_value, take_list
from services.runtime.errors import InvalidFieldError

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(["list", "a", "b"]), VALUES | st.lists(VALUES))
# What stands in JSON, and what is nearly JSON.
MARKS = ["{", "}", "[", "]", ":", ",", " ", "\n", "1", "-", "null", "x", "\\", "\x00", "\f"]
PARTS = st.sampled_from([*MARKS, '"list"', '"list":[', '"a":', '"a"', '"'])


def taken(body: bytes) -> dict[str, Any]:
    """The object, put together from what was taken of its list and what was left."""
    items: list[Any] = []
    rest = take_list(body, "list", items.append)
    assert not isinstance(rest.get("list"), list) or rest["list"] == []
    return rest | {"list": items} if isinstance(rest.get("list"), list) else rest


@given(OBJECTS, st.sampled_from([None, 1]))
def test_an_object_is_read_as_it_was_sent(sent: dict[str, Any], indent: int | None) -> None:
    assert taken(json.dumps(sent, indent=indent).encode()) == sent


@given(st.lists(PARTS, max_size=16).map("".join).filter(lambda body: body.count('"list"') < 2))
@example('{"list":[1,]}')
@example('{"list":[1 2]}')
@example('{"list":[1}')
@example('{"list":[1],}')
@example('{"list":[1]}]')
@example('{"list":[1]')
@example('{"list" [1]}')
@example("{1:2}")
@example(" \n{ } ")
def test_what_a_parser_reads_or_refuses_is_read_or_refused(body: str) -> None:
    try:
        expected = json.loads(body)
    except ValueError:
        expected = None
    try:
        found = taken(body.encode())
    except InvalidFieldError:
        found = None
    assert found == (expected if isinstance(expected, dict) else None)


def test_a_list_that_is_given_twice_is_taken_twice() -> None:
    assert taken(b'{"list": [1], "list": [2]}') == {"list": [1, 2]}


def test_reading_ends_where_the_taker_has_enough() -> None:
    items: list[Any] = []

    def take(item: Any) -> None:
        items.append(item)
        if len(items) == 2:
            raise LookupError

    with pytest.raises(LookupError):
        take_list(b'{"list": [1, 2, 3, no JSON', "list", take)
    assert items == [1, 2]


@pytest.mark.parametrize(
    ("body", "field", "told"),
    [
        (b"", "body", "Invalid JSON: expected an object at line 1 column 1"),
        (b"[1]", "body", "Invalid JSON: expected an object at line 1 column 1"),
        (b'{"list":\n [1 2]}', "body", "Invalid JSON: expected `,` or `]` at line 2 column 5"),
        (b'{"a": tru}', "body", "Invalid JSON: Expecting value at line 1 column 7"),
        (b'{"a": "\xff"}', "body", "Invalid JSON: it is no UTF-8"),
        (b'{"list": [0, %b]}' % (b"1" * 5000), "list[1]", "holds a number that is too long"),
        (b'{"list": [0, %b]}' % (b"[" * 100_000), "list[1]", "nests too deep"),
    ],
)
def test_what_is_no_json_is_told_with_its_place(body: bytes, field: str, told: str) -> None:
    with pytest.raises(InvalidFieldError) as refused:
        taken(body)
    assert list(refused.value.fields) == [(field, told)]


@given(VALUES)
def test_a_line_is_read_whole(value: Any) -> None:
    assert read_value(json.dumps(value).encode(), "lines[3]") == value


@pytest.mark.parametrize("line", [b"", b"{", b"1 2", b"\xff", b'"\n"'])
def test_a_line_that_is_no_json_is_named(line: bytes) -> None:
    with pytest.raises(InvalidFieldError) as refused:
        read_value(line, "lines[3]")
    assert [problem.field for problem in refused.value.fields] == ["lines[3]"]


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_a_word_that_json_does_not_have_is_told_of_its_place(word: str) -> None:
    with pytest.raises(InvalidFieldError) as refused:
        taken(f'{{"list": [1, {word}], "list": [{word}]}}'.encode())
    assert refused.value.fields == (("list[1]", f"holds {word}, which is no number"),)
