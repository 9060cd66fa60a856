"""Errors are plain sentences without the terms of the frameworks and without regular expressions."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticKnownError
from pydantic_core.core_schema import ErrorType

from braid.graph.v1 import query_pb2
from gateway.rest.facts.requests import FactBody
from gateway.rest.mapping.field_types import Body, JsonObject
from gateway.rest.mapping.message_requests import body_model
from gateway.rest.mapping.validation_errors import NO_INSTANT, invalid, sentence
from gateway.rest.search.requests import ComprehensiveSearch, HybridSearch
from services.runtime.errors import FieldError

FactSearch: Any = body_model(query_pb2.SearchFactsRequest.DESCRIPTOR)
FRAMEWORK = re.compile(
    r"Input should|Value error|Extra inputs|Field required|permitted|dictionary|instance|pydantic|pattern|[\\^$]"
)
# The context values that errors may have.
CONTEXT: dict[str, Any] = dict.fromkeys(
    ("min_length", "max_length", "gt", "ge", "lt", "le", "expected", "error"), "that"
)


@pytest.mark.parametrize("kind", get_args(ErrorType))
def test_every_pydantic_error_has_a_plain_message(kind: str) -> None:
    message = sentence({"type": kind, "msg": "Input should be an instance", "ctx": CONTEXT})
    assert not FRAMEWORK.search(message)
    assert re.match(r"must |is |that", message)


def test_the_message_contains_the_value_from_the_context_of_the_error() -> None:
    known = PydanticKnownError("less_than_equal", {"le": 5})
    assert sentence({"type": known.type, "msg": "", "ctx": known.context}) == "must be at most 5"


@pytest.mark.parametrize(
    ("body", "value", "problems"),
    [
        (HybridSearch, {}, [("query", "is required")]),
        (HybridSearch, {"query": 5}, [("query", "must be a string")]),
        (HybridSearch, {"query": "q", "querry": 1}, [("querry", "is not a known field")]),
        (HybridSearch, {"query": "q", "limit": "5"}, [("limit", "must be a whole number")]),
        (HybridSearch, {"query": "q", "limit": 2**40}, [("limit", "must be at most 2147483647")]),
        (HybridSearch, {"query": "q", "min_score": "x"}, [("min_score", "must be a number")]),
        (HybridSearch, {"query": "q", "use_cache": "no"}, [("use_cache", "must be true or false")]),
        (
            HybridSearch,
            {"query": "q", "fusion": "both"},
            [("fusion", "must be 'weighted_score' or 'reciprocal_rank'")],
        ),
        (HybridSearch, {"query": "q", "filter": 1}, [("filter", "must be an object")]),
        (
            HybridSearch,
            {"query": "q", "filter": {"document_ids": "a"}},
            [("filter.document_ids", "must be a list")],
        ),
        (HybridSearch, {"query": "\ud800"}, [("query", "must be text that UTF-8 can hold")]),
        (HybridSearch, {"query": "q", "as_of": "2024-13-01"}, [("as_of", NO_INSTANT)]),
        (HybridSearch, {"query": "q", "as_of": "2024-04-18 at ten"}, [("as_of", NO_INSTANT)]),
        (
            HybridSearch,
            {"query": "q", "as_of": "0001-01-01T00:00:00+14:00"},
            [("as_of", "must lie between the years 1 and 9999")],
        ),
        (FactSearch, {"query": "q", "as_of": 5}, [("as_of", NO_INSTANT)]),
        (
            ComprehensiveSearch,
            {"query": "q", "include": ["all"]},
            [("include[0]", "must be 'results', 'vector_results', 'graph_results' or 'legs'")],
        ),
        (FactBody, {"subject": "a", "object": "b"}, [("relation", "is required")]),
        (HybridSearch, [], [("body", "must be an object")]),
    ],
)
def test_an_invalid_body_has_plain_messages(
    body: type[Body], value: Any, problems: list[tuple[str, str]]
) -> None:
    with pytest.raises(ValidationError) as refused:
        body.model_validate(value)
    # The framework prefixes locations with "body".
    found = [error | {"loc": ("body", *error["loc"])} for error in refused.value.errors()]
    assert list(invalid(found).fields) == [FieldError(*one) for one in problems]


def test_malformed_json_is_reported_with_its_position() -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(JsonObject).validate_json('{"a": }')
    message = invalid(refused.value.errors()).fields[0].description
    assert message == "is not valid JSON: expected value at line 1 column 7"
