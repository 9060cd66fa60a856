"""Page sizes and page tokens."""

from __future__ import annotations

import pytest
from buf.validate import validate_pb2
from google.protobuf.descriptor import FieldDescriptor

from braid_protocol.channel import methods
from services.runtime.errors import InvalidFieldError
from services.runtime.paging import encode_token, page_size, text_position, uuid_position

QUERY = ("documents", "acme")
CHUNK = "5f0c1a52-7a57-5f0d-9d3d-1c1f0b9e7a11"


@pytest.mark.parametrize(
    ("asked", "size"), [(0, 50), (1, 1), (200, 200), (201, 200), (2**31 - 1, 200)]
)
def test_page_size_0_is_the_default_and_a_too_large_page_size_is_clamped(
    asked: int, size: int
) -> None:
    assert page_size(asked, default=50, largest=200) == size


def test_every_list_method_accepts_any_page_size_that_is_not_negative() -> None:
    sizes: list[FieldDescriptor] = [
        method.input_type.fields_by_name["page_size"]
        for method in methods()
        if "page_size" in method.input_type.fields_by_name
    ]
    assert len(sizes) > 15
    for field in sizes:
        rules = field.GetOptions().Extensions[validate_pb2.field].int32
        assert (rules.gte, rules.HasField("lte")) == (0, False), field.full_name
        assert not field.has_presence, field.full_name


def test_every_list_method_has_a_page_token_and_a_next_page_token() -> None:
    for method in methods():
        if "page_size" in method.input_type.fields_by_name:
            assert "page_token" in method.input_type.fields_by_name, method.full_name
            assert "next_page_token" in method.output_type.fields_by_name, method.full_name


def test_a_token_yields_its_position_and_an_empty_token_the_beginning() -> None:
    assert text_position(encode_token(QUERY, ["a/b.md"]), QUERY) == "a/b.md"
    assert uuid_position(encode_token(QUERY, [CHUNK]), QUERY) == CHUNK
    assert (text_position("", QUERY), uuid_position("", QUERY)) == ("", "")


@pytest.mark.parametrize("position", [[5], [None], ["a\x00b"], [], ["a", "b"]])
def test_a_token_without_a_valid_position_is_refused(position: list[object]) -> None:
    token = encode_token(QUERY, position)  # type: ignore[arg-type] # as a caller may forge it
    with pytest.raises(InvalidFieldError, match="is not a token of this service"):
        text_position(token, QUERY)


def test_a_position_that_is_not_a_uuid_is_refused_where_ids_are_listed() -> None:
    with pytest.raises(InvalidFieldError, match="is not a token of this service"):
        uuid_position(encode_token(QUERY, ["' or 1=1"]), QUERY)


def test_a_token_of_another_listing_is_refused() -> None:
    with pytest.raises(InvalidFieldError, match="belongs to another query"):
        text_position(encode_token(("documents", "other"), ["a"]), QUERY)
