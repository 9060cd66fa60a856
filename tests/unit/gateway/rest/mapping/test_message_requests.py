"""Bodies are read into messages; wrong values, and what services refuse, are named as the caller knows them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from braid.agent.v1 import entity_memory_pb2, memories_pb2
from braid.graph.v1 import entities_pb2, findings_pb2, ontology_pb2, query_pb2, structure_pb2
from braid_protocol.contract_rules import is_required
from gateway.rest.mapping.message_requests import body_model, names_of

FINDINGS: Any = body_model(findings_pb2.AddFindingsRequest.DESCRIPTOR)
SEARCH: Any = body_model(findings_pb2.SearchFindingsRequest.DESCRIPTOR)
ONTOLOGY: Any = body_model(ontology_pb2.PutOntologyRequest.DESCRIPTOR)
RELATION: Any = body_model(
    memories_pb2.PutMemoryRelationRequest.DESCRIPTOR, frozenset({"memory_id"})
)


def problems(model: Any, value: object) -> list[tuple[tuple[Any, ...], str]]:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(value)
    return [(error["loc"], error["type"]) for error in refused.value.errors()]


def test_a_body_becomes_a_message() -> None:
    body = FINDINGS.model_validate(
        {
            "findings": [
                {
                    "id": "r/1",
                    "finding": {"key_insight": "It rains.", "confidence": 0.5},
                    "about_entities": [{"name": "Harbour"}],
                    "about_findings": ["r/0"],
                }
            ]
        }
    )
    expected = findings_pb2.FindingInput(
        external_id="r/1",
        finding=findings_pb2.FindingDetails(key_insight="It rains.", confidence=0.5),
        about_entities=[findings_pb2.FindingSubject(name="Harbour")],
        about_finding_ids=["r/0"],
    )
    assert body.message() == findings_pb2.AddFindingsRequest(findings=[expected])


def test_what_is_left_out_stays_unset() -> None:
    assert SEARCH.model_validate({}).message() == findings_pb2.SearchFindingsRequest()


def test_times_and_spans_are_read() -> None:
    body = SEARCH.model_validate({"filter": {"created": {"start": "2024-01-01"}}})
    span = body.message().filter.create_time
    assert span.start_time.ToJsonString() == "2024-01-01T00:00:00Z"
    assert not span.HasField("end_time")


def test_enums_are_read_in_any_case() -> None:
    body = SEARCH.model_validate({"filter": {"kinds": ["Finding"], "origin": "GIVEN"}})
    only = body.message().filter
    assert list(only.kinds) == [findings_pb2.FINDING_KIND_FINDING]
    assert only.origin == findings_pb2.FINDING_ORIGIN_GIVEN


def test_fields_of_a_flattened_message_stand_beside_the_others() -> None:
    body = ONTOLOGY.model_validate({"entity_types": [{"name": "Service"}], "version": 3})
    message = body.message()
    assert message.ontology.entity_types[0].name == "Service"
    assert message.expected_version == 3


def test_a_field_in_the_path_is_none_of_the_body() -> None:
    body = {"target_id": "b", "relation_type": "fixes"}
    assert RELATION.model_validate(body).message().relation.target_id == "b"
    assert problems(RELATION, body | {"memory_id": "a"}) == [(("memory_id",), "extra_forbidden")]


def test_wrong_values_are_reported_together_with_their_places() -> None:
    wrong = {"query": 1, "limit": "5", "filter": {"confidence": {"at_least": "x"}}, "no": 1}
    assert problems(SEARCH, wrong) == [
        (("query",), "string_type"),
        (("filter", "confidence", "at_least"), "float_type"),
        (("limit",), "int_type"),
        (("no",), "extra_forbidden"),
    ]


def test_exactly_one_field_of_a_required_oneof_is_given() -> None:
    both = {"finding": {"key_insight": "a"}, "intent": {"goal": "b"}}
    for one in ({}, both):
        assert problems(FINDINGS, {"findings": [one]}) == [(("findings", 0), "one_of")]


def test_a_long_list_is_refused_as_one_problem() -> None:
    found = problems(FINDINGS, {"findings": [1] * 501})
    assert found == [(("findings",), "too_many_items")]


@pytest.mark.parametrize(
    ("message", "field", "required"),
    [
        (query_pb2.GetNeighborhoodRequest, "entity_name", True),
        (query_pb2.GetNeighborhoodRequest, "entity_type", False),
        (structure_pb2.FindPathsRequest, "source", True),
        (structure_pb2.FindPathsRequest, "max_hops", False),
        (entity_memory_pb2.SaveEntityRequest, "type", True),
        (entity_memory_pb2.QueryRelationshipsRequest, "entity_id", False),
        (findings_pb2.AddFindingsRequest, "findings", True),
    ],
)
def test_a_field_is_required_where_the_contract_refuses_it_unset(
    message: Any, field: str, *, required: bool
) -> None:
    assert is_required(message.DESCRIPTOR.fields_by_name[field]) is required


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("findings[2].about_finding_ids[0]", "findings[2].about_findings[0]"),
        ("findings[2].external_id", "findings[2].id"),
        ("idempotency_key", "Idempotency-Key"),
        ("request", "body"),
        ("", "body"),
        ("unknown.step", "unknown.step"),
    ],
)
def test_a_path_in_a_message_is_shown_as_the_caller_knows_it(path: str, shown: str) -> None:
    assert names_of(findings_pb2.AddFindingsRequest.DESCRIPTOR)(path) == shown


def test_times_flattened_messages_and_entities_of_a_query_have_no_steps_of_their_own() -> None:
    suffixes = {entities_pb2.EntitySelector.DESCRIPTOR.full_name: {"id": "_uuid", "name": ""}}
    named = names_of(structure_pb2.ListFactsRequest.DESCRIPTOR, suffixes)
    assert named("subject.id") == "subject_uuid"
    assert named("subject.name") == "subject"
    assert named("as_of.range.end_time") == "as_of.end"
    assert named("as_of.instant") == "as_of"
    ontology = names_of(ontology_pb2.PutOntologyRequest.DESCRIPTOR)
    assert ontology("ontology.entity_types[1].name") == "entity_types[1].name"
