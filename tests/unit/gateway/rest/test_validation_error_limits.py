"""The number of problems reported for a body is bounded: each one takes memory and time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from braid.vector.v1.chunks_pb2 import ChunkFilter
from gateway.rest.documents import uploads
from gateway.rest.facts import requests as facts_requests
from gateway.rest.facts.requests import FactBody, read_json, read_lines
from gateway.rest.mapping.field_types import Body
from gateway.rest.mapping.message_requests import body_model
from gateway.rest.mapping.validation_errors import MAX_PROBLEMS
from gateway.rest.search import requests as search_requests
from services.runtime.errors import InvalidFieldError

Filter: Any = body_model(ChunkFilter.DESCRIPTOR)
MODULES = (facts_requests, search_requests, uploads)
FACT = {"subject": "a", "relation": "OWNS", "object": "b"}


# Every body, and every part of a body, that a route reads.
BODIES: list[type[Body]] = [
    found
    for module in MODULES
    for found in vars(module).values()
    if isinstance(found, type) and issubclass(found, Body) and found is not Body
]


def problems(body: type[Body], value: dict[str, Any]) -> int:
    """Returns the number of problems that a value causes."""
    with pytest.raises(ValidationError) as refused:
        body.model_validate(value)
    return refused.value.error_count()


@pytest.mark.parametrize("body", BODIES)
def test_too_many_unknown_fields_are_a_single_problem(body: type[Body]) -> None:
    assert problems(body, {f"unknown {number}": 1 for number in range(5000)}) == 1


@pytest.mark.parametrize(
    ("body", "field"), [(body, field) for body in BODIES for field in body.model_fields]
)
@pytest.mark.parametrize("item", [1, None, [], {}])
def test_no_field_reports_a_problem_for_each_invalid_item(
    body: type[Body], field: str, item: object
) -> None:
    wrong = {field: [item] * 5000, "unknown": 1}
    assert problems(body, wrong) <= len(body.model_fields) + 2


def test_a_few_unknown_fields_are_reported_individually() -> None:
    with pytest.raises(ValidationError) as refused:
        Filter.model_validate({"colour": "red", "size": 1})
    assert [error["loc"] for error in refused.value.errors()] == [("colour",), ("size",)]


def test_a_few_invalid_items_are_reported_individually() -> None:
    with pytest.raises(ValidationError) as refused:
        Filter.model_validate({"document_ids": ["a", 1, "b", None]})
    places = [error["loc"] for error in refused.value.errors()]
    assert places == [("document_ids", 1), ("document_ids", 3)]


def as_json(items: list[str]) -> bytes:
    """Returns the facts as one object."""
    return b'{"facts": [%b]}' % ",".join(items).encode()


def as_lines(items: list[str]) -> bytes:
    """Returns the facts as lines."""
    return "\n".join(items).encode()


@pytest.mark.parametrize(("read", "written"), [(read_json, as_json), (read_lines, as_lines)])
def test_validation_of_facts_stops_at_the_maximum_number_of_problems(
    read: Callable[[bytes], list[FactBody]],
    written: Callable[[list[str]], bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at = 0
    validate = FactBody.model_validate

    def counting_validate(value: Any) -> FactBody:
        nonlocal looked_at
        looked_at += 1
        return validate(value)

    monkeypatch.setattr(FactBody, "model_validate", counting_validate)
    with pytest.raises(InvalidFieldError) as refused:
        read(written([json.dumps(FACT), *["1"] * 10_000]))
    places = [f"facts[{place}]" for place in range(1, MAX_PROBLEMS + 1)]
    assert [problem.field for problem in refused.value.fields] == places
    assert looked_at == 1 + MAX_PROBLEMS


def test_an_unknown_field_is_reported_together_with_invalid_facts() -> None:
    with pytest.raises(InvalidFieldError) as refused:
        read_json(json.dumps({"space": "other", "facts": [FACT, FACT | {"object": 1}]}).encode())
    assert [problem.field for problem in refused.value.fields] == ["facts[1].object", "space"]


@pytest.mark.parametrize("body", [b"{}", b'{"facts": 5}', b'{"facts": {"a": 1}}'])
def test_facts_that_are_not_a_list_are_rejected(body: bytes) -> None:
    with pytest.raises(InvalidFieldError) as refused:
        read_json(body)
    assert [problem.field for problem in refused.value.fields] == ["facts"]
