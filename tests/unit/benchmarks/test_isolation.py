"""The leak detector finds planted leaks, and the requests of the isolation benchmark satisfy the contracts."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.descriptor import MethodDescriptor

from braid_protocol.channel import methods
from tests.benchmarks.isolation.agent_tools import ToolCaller, question_for
from tests.benchmarks.isolation.detector import (
    Outcome,
    difference,
    legs_in_order,
    plain,
    same,
    seen_in,
)
from tests.benchmarks.isolation.messages import Requests, all_methods
from tests.benchmarks.isolation.people import Person
from tests.benchmarks.isolation.schemas import Schemas
from tests.benchmarks.isolation.values import Given, guess_like, is_id

UUID = "3b0d4d0e-1111-4000-8000-000000000002"
OTHER_UUID = "3b0d4d0e-2222-4000-8000-000000000003"
SECRETS = {"zq0123456789ab", UUID}
REQUESTS = Requests()


@pytest.mark.parametrize(
    "body",
    [
        "who owns ZQ0123456789AB?",
        {"hits": [{"content": "The zq0123456789ab Service"}]},
        ["reason", f"the memory {UUID} is another user's"],
        {UUID: 1},
    ],
)
def test_text_and_ids_of_another_user_are_detected_anywhere_in_an_answer(body: Any) -> None:
    assert len(seen_in(Outcome("OK", body), SECRETS, given=())) == 1


def test_an_id_that_the_request_contained_is_not_a_leak() -> None:
    outcome = Outcome("NOT_FOUND", f"There is no memory {UUID}.")
    assert seen_in(outcome, SECRETS, given=(UUID,)) == []
    assert seen_in(Outcome("OK", f"{UUID} says zq0123456789ab"), SECRETS, given=(UUID,)) == [
        "zq0123456789ab"
    ]


def test_an_answer_that_distinguishes_a_real_id_from_a_guess_is_detected() -> None:
    given = (UUID, OTHER_UUID)
    real = Outcome("PERMISSION_DENIED", f"{UUID} is not yours")
    assert not same(real, Outcome("NOT_FOUND", "none"), given, status_only=True)
    real = Outcome("OK", {"memory_count": 3})
    assert not same(real, Outcome("OK", {"memory_count": 0}), given, status_only=False)


def test_answers_that_differ_only_in_the_given_ids_and_in_times_are_equal() -> None:
    first = Outcome("NOT_FOUND", {"detail": f"no {UUID}", "request_id": "a", "took_ms": 1.2})
    second = Outcome("NOT_FOUND", {"detail": f"no {OTHER_UUID}", "request_id": "b", "took_ms": 9})
    assert same(first, second, (UUID, OTHER_UUID), status_only=False)


def test_a_count_that_depends_on_other_users_data_is_detected() -> None:
    before = Outcome("OK", {"documents": 1, "elapsed": "0.1s", "score": 0.12341})
    later = Outcome("OK", {"documents": 2, "elapsed": "0.2s", "score": 0.12342})
    assert plain(before) != plain(later)
    assert plain(before) == plain(
        Outcome("OK", {"documents": 1, "elapsed": "7s", "score": 0.12339})
    )


def test_a_difference_is_reported_with_its_path() -> None:
    first = ("OK", {"hits": [{"id": "a"}, {"id": "b"}]})
    second = ("OK", {"hits": [{"id": "a"}, {"id": "c"}]})
    assert difference(first, second) == "[1].hits[1].id: b → c"


def test_a_paging_field_is_not_an_id() -> None:
    assert not is_id("after_chunk_id")
    assert all(is_id(name) for name in ("id", "chunk_ids", "entity_uuid", "other_entity_id"))


def test_within_a_space_only_a_users_own_data_is_secret() -> None:
    ann, bob, eve = (Person(space, "u", "k") for space in ("one", "one", "two"))
    bob.shared["document"], bob.own["memory"] = "doc-b", "mem-b"
    assert ann.secrets_from(bob) == {bob.own_marker, "mem-b"}
    assert eve.secrets_from(bob) == {bob.own_marker, "mem-b", bob.shared_marker, "doc-b"}


@pytest.mark.parametrize("real", [UUID, "doc-zq0123456789ab", "session-zq0123456789ab"])
def test_a_guess_has_the_shape_of_the_real_id(real: str) -> None:
    guess = guess_like(real)
    assert guess != real
    assert (len(guess), guess[:4] if real != UUID else "") == (
        len(real),
        real[:4] if real != UUID else "",
    )


def test_every_method_of_every_contract_is_tested() -> None:
    assert {method.full_name for method in all_methods()} >= {
        method.full_name for method in methods()
    }


@pytest.mark.parametrize("method", all_methods(), ids=lambda method: method.full_name)
def test_the_requests_of_every_method_satisfy_its_contract(method: MethodDescriptor) -> None:
    for message in REQUESTS.of(method, Given(UUID, "zq0123456789ab Service")):
        assert REQUESTS.violations(message) == []


def test_json_for_a_schema_has_ids_queries_and_required_fields() -> None:
    document = {
        "components": {"End": {"type": "object", "properties": {"id": {"type": "string"}}}},
    }
    schema = {
        "type": "object",
        "required": ["kind", "since"],
        "properties": {
            "kind": {"enum": ["a", "b"]},
            "since": {"type": "string", "format": "date-time"},
            "query": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "target": {"$ref": "#/components/End"},
            "chunk_ids": {"type": "array", "items": {"type": "string"}},
            "limit": {"type": "integer"},
        },
    }
    assert Schemas(document).fill(schema, Given(UUID, "words")) == {
        "kind": "a",
        "since": "2024-01-01T00:00:00Z",
        "query": "words",
        "target": {"id": UUID},
        "chunk_ids": [UUID],
    }


def test_legs_are_ordered_regardless_of_which_ended_first() -> None:
    graph = {"leg": {"report": {"leg": "LEG_GRAPH"}}}
    vector = {"leg": {"report": {"leg": "LEG_VECTOR"}}}
    final = {"final": {"results": [2, 1]}}
    assert legs_in_order([vector, graph, final]) == legs_in_order([graph, vector, final])
    assert legs_in_order([vector, graph, final]) == [graph, vector, final]


def test_an_error_that_distinguishes_a_real_id_from_a_guess_is_detected() -> None:
    refused = Outcome("INVALID_ARGUMENT", ["is another user's"])
    assert not refused.accepted
    assert not refused.succeeded
    assert not same(refused, Outcome("INVALID_ARGUMENT", ["is unknown"]), (), status_only=False)


def test_a_second_id_is_the_given_one_or_a_guess() -> None:
    assert Given(UUID, "words", OTHER_UUID).second == OTHER_UUID
    assert Given(UUID, "words").second not in {"", UUID}
    method = next(one for one in all_methods() if one.name == "PutRelations")
    [request] = REQUESTS.of(method, Given(UUID, "words", OTHER_UUID))
    [relation] = request.relations  # type: ignore[attr-defined]
    assert {relation.source_id, relation.target_id} == {UUID, OTHER_UUID}


def test_the_scripted_model_calls_the_tool_that_a_question_names_and_keeps_its_result() -> None:
    model = ToolCaller()
    question = question_for("hybrid_search", {"query": "tea"}, 1)
    tool = {"function": {"name": "hybrid_search", "parameters": {"type": "object"}}}
    asked = [{"role": "user", "content": question}]
    called = model.answer({"messages": asked, "tools": [tool]}).body.decode()
    assert '"name": "hybrid_search"' in called
    assert model.tools == {"hybrid_search": {"type": "object"}}
    model.answer({"messages": [*asked, {"role": "tool", "content": "Nothing."}]})
    assert model.results == {question: "Nothing."}
    other = model.answer({"messages": [{"role": "user", "content": "Who?"}]}).body.decode()
    assert "tool_calls" not in other.replace("null", "")
