"""The values that REST accepts, the REST names of contract fields, and the encoding of values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from braid.agent.v1 import search_pb2
from gateway.rest.mapping import json_encoding
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import MAX_VALUES, Instant, JsonObject, to_struct
from gateway.rest.mapping.json_encoding import encode
from gateway.rest.mapping.validation_errors import invalid
from services.agent_orchestrator.ingest.documents import UnreadableError, check_values
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.metadata_limits import MAX_METADATA_DEPTH
from services.vector_search.servicers import mapping

SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text()
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.dictionaries(st.text(), JSON, max_size=3))
def test_metadata_round_trips(value: dict[str, Any]) -> None:
    message = to_struct(value)
    assert message is not None
    assert json_encoding.struct(Struct.FromString(message.SerializeToString())) == value


@pytest.mark.parametrize("number", [0, 1, -1, 2**53, -(2**53)])
def test_an_integer_is_encoded_without_a_fraction(number: int) -> None:
    message = to_struct({"n": number})
    assert message is not None
    assert encode(json_encoding.struct(message)) == b'{"n":%d}' % number


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"n": 2**53 + 1}, "metadata.n"),
        ({"n": -(2**53) - 1}, "metadata.n"),
        ({"n": 10**400}, "metadata.n"),
        ({"order": {"ids": [1, 2**60]}}, "metadata.order.ids[1]"),
    ],
)
def test_an_integer_that_would_lose_precision_is_rejected_with_its_path(
    value: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(JsonObject).validate_json(json.dumps(value))
    problem = FieldError(field, "must be a number of at most 2^53, or a text")
    assert invalid(refused.value.errors(), "metadata").fields == (problem,)


@pytest.mark.parametrize("value", [2**53, -(2**53), 1e300, 0.1, True, str(2**60)])
def test_a_value_that_keeps_its_precision_is_accepted(value: object) -> None:
    assert TypeAdapter(JsonObject).validate_python({"n": value}) == {"n": value}


def nested(kinds: list[type], innermost: object) -> dict[str, Any]:
    """Returns a value nested in objects and lists as given by `kinds`, all in an object."""
    value = innermost
    for kind in kinds:
        value = {"a": value} if kind is dict else [value]
    return {"a": value}


CONTAINERS = st.sampled_from([dict, list])


@given(
    kinds=st.lists(CONTAINERS, min_size=MAX_METADATA_DEPTH - 3, max_size=MAX_METADATA_DEPTH + 2),
    innermost=st.sampled_from([None, "text", {}, []]),
)
def test_rest_and_the_contract_have_the_same_maximum_depth_of_metadata(
    kinds: list[type], innermost: object
) -> None:
    value = nested(kinds, innermost)
    message = to_struct(value)
    assert message is not None
    try:
        mapping.metadata(message, "metadata")
    except InvalidFieldError:
        with pytest.raises(ValidationError, match=f"at most {MAX_METADATA_DEPTH} deep"):
            TypeAdapter(JsonObject).validate_python(value)
    else:
        assert TypeAdapter(JsonObject).validate_python(value) == value


@pytest.mark.parametrize("kind", [dict, list])
def test_metadata_of_the_maximum_depth_can_be_serialized(kind: type) -> None:
    value = nested([kind] * (MAX_METADATA_DEPTH - 1), "text")
    TypeAdapter(JsonObject).validate_python(value)
    message = to_struct(value)
    assert message is not None
    request = search_pb2.StreamComprehensiveSearchRequest()
    request.search.filter.metadata.CopyFrom(message)
    received = type(request).FromString(request.SerializeToString())
    assert json_encoding.struct(received.search.filter.metadata) == value


def objects_of_size(count: int) -> list[dict[str, Any]]:
    """Returns objects of this many keys and values, each with a different structure."""
    odd: dict[str, Any] = {"odd": []} if count % 2 else {}
    even: dict[str, Any] = {} if count % 2 else {"even": []}
    return [
        {"a": {"b": [None] * (count - 2)}},
        {str(number): {} for number in range(count)},
        {str(number): number for number in range(count // 2)} | odd,
        {"a": [{"b": ["c"]}] * ((count - 1) // 2)} | even,
    ]


@pytest.mark.parametrize("place", range(4))
def test_rest_and_ingestion_have_the_same_maximum_number_of_metadata_values(place: int) -> None:
    read = TypeAdapter(JsonObject).validate_python
    largest, too_large = objects_of_size(MAX_VALUES)[place], objects_of_size(MAX_VALUES + 1)[place]
    assert read(largest) == largest
    check_values("", "", "", largest)
    with pytest.raises(ValidationError, match="at most 10000 keys and values"):
        read(too_large)
    with pytest.raises(UnreadableError, match="more than 10000 values"):
        check_values("", "", "", too_large)


@pytest.mark.parametrize("empty", [{}, []])
def test_empty_objects_and_lists_count_as_metadata_values(empty: object) -> None:
    read = TypeAdapter(JsonObject).validate_python
    largest = {"a": [empty] * (MAX_VALUES - 1)}
    assert read(largest) == largest
    with pytest.raises(ValidationError, match="at most 10000"):
        read({"a": [empty] * MAX_VALUES})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2024-04-18", "2024-04-18T00:00:00+00:00"),
        ("2024-04-18T10:00:00", "2024-04-18T10:00:00+00:00"),
        ("2024-04-18T10:00:00Z", "2024-04-18T10:00:00+00:00"),
        ("2024-04-18t10:00:00.5z", "2024-04-18T10:00:00.500000+00:00"),
        ("2024-04-18 10:00", "2024-04-18T10:00:00+00:00"),
        ("2024-04-18T10:00:00+02:00", "2024-04-18T08:00:00+00:00"),
    ],
)
def test_times_without_a_zone_are_utc(text: str, shown: str) -> None:
    assert TypeAdapter(Instant).validate_python(text).isoformat() == shown


@pytest.mark.parametrize(
    "value", ["2024", "20240101", "1700000000", "1.5e9", "-1", "", "soon", 2024, 1.5e9, True, []]
)
def test_a_value_that_is_no_date_or_time_is_rejected_with_an_example(value: object) -> None:
    expected = "must be a date or a time of RFC 3339, such as 2024-04-18"
    with pytest.raises(ValidationError, match=expected):
        TypeAdapter(Instant).validate_python(value)
    with pytest.raises(ValidationError, match=expected):
        TypeAdapter(Instant).validate_json(json.dumps(value))


def test_a_time_is_documented_as_a_date_time() -> None:
    schema = TypeAdapter(Instant).json_schema()
    assert (schema["type"], schema["format"]) == ("string", "date-time")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("query", "query"),
        ("search.query", "query"),
        ("page_token", "cursor"),
        ("page_size", "limit"),
        ("as_of.instant", "as_of"),
        ("as_of.range", "as_of"),
        ("max_listed", "limit"),
        ("filter.document_ids[2]", "filter.document_ids[2]"),
        ("facts[3].valid_time", "facts[3].valid_at"),
        ("request", "body"),
        ("search", "body"),
    ],
)
def test_contract_fields_are_mapped_to_their_rest_names(path: str, name: str) -> None:
    assert rest_name(path) == name


@given(st.dictionaries(st.text(), st.text()))
def test_json_is_written_in_utf8(value: dict[str, str]) -> None:
    assert json.loads(encode(value)) == value
