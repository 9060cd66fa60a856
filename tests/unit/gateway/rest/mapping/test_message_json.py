"""Messages as JSON: names, nulls and parts are those that the contract's options state."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pool
from google.protobuf.message_factory import GetMessageClass

from braid.agent.v1 import agent_pb2, entity_memory_pb2, jobs_pb2, search_pb2
from braid.common.v1 import legs_pb2
from braid.graph.v1 import corrections_pb2, facts_pb2, findings_pb2, history_pb2, query_pb2
from gateway.rest.mapping.message_json import to_json
from tests.messages import full_message

# The JSON of each message with all fields set, and of an empty one, recorded from serializers written by hand.
RECORDED = json.loads(Path(__file__).with_name("messages.json").read_text(encoding="utf-8"))


def kind(full_name: str) -> Any:
    import_module("gateway.rest.app")  # it imports the contracts of all routes
    return GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(full_name))


@pytest.mark.parametrize("name", RECORDED)
def test_a_message_is_written_as_recorded(name: str) -> None:
    shape = kind(name)
    shown = {"full": to_json(full_message(shape)), "empty": to_json(shape())}
    assert json.loads(json.dumps(shown)) == RECORDED[name]


def test_times_are_rfc_3339_and_null_while_unset() -> None:
    fact = facts_pb2.Fact()
    fact.valid_time.FromJsonString("2024-04-18T09:30:00.5Z")
    shown = to_json(fact)
    assert shown["valid_at"] == "2024-04-18T09:30:00.500Z"
    assert shown["invalid_at"] is None


def test_durations_are_milliseconds_with_two_decimals() -> None:
    report = legs_pb2.LegReport()
    report.elapsed.FromNanoseconds(1_234_567)
    assert to_json(report)["took_ms"] == 1.23


def test_enums_are_written_without_their_prefix_in_the_case_that_the_contract_names() -> None:
    report = legs_pb2.LegReport(leg=legs_pb2.LEG_GRAPH, status=legs_pb2.LEG_STATUS_NO_MATCH)
    shown = to_json(report)
    assert (shown["name"], shown["status"], shown["reason"]) == ("graph", "NO_MATCH", None)


def test_a_value_that_an_enum_does_not_have_yet_is_written_as_unspecified() -> None:
    later = legs_pb2.LegReport.FromString(bytes([0x08, 99]))
    assert to_json(later)["name"] == "unspecified"


def test_whole_numbers_of_an_object_stay_whole() -> None:
    call = agent_pb2.ToolCalled(call_id="1")
    call.arguments.update({"limit": 5, "share": 0.5, "names": ["a", None, True]})
    arguments = to_json(call)["arguments"]
    assert arguments == {"limit": 5, "share": 0.5, "names": ["a", None, True]}
    assert isinstance(arguments["limit"], int)


def test_the_fields_of_a_flattened_message_stand_beside_the_others_which_go_before() -> None:
    hit = facts_pb2.FactHit(score=0.5)
    hit.fact.id = "f-1"
    shown = to_json(hit)
    assert (shown["uuid"], shown["score"]) == ("f-1", 0.5)
    assert "attributes" not in shown


def test_a_list_may_be_written_as_an_object_by_one_of_its_fields() -> None:
    part = search_pb2.Contribution(leg=legs_pb2.LEG_VECTOR, rank=1, score=0.5, share=0.25)
    shown = to_json(search_pb2.SearchResult(contributions=[part]))
    assert shown["scores"] == {"vector": {"rank": 1, "score": 0.5, "share": 0.25}}


def test_maps_keep_their_names() -> None:
    stats = query_pb2.GetGraphStatsResponse(entity_counts_by_type={"Person": 3})
    stats.index_states["vectors"] = query_pb2.INDEX_STATE_ONLINE
    shown = to_json(stats)
    assert shown["entities_by_type"] == {"Person": 3}
    assert shown["indexes"] == {"vectors": "ONLINE"}


def test_the_kind_of_a_oneof_is_named_and_its_other_fields_are_null() -> None:
    finding = findings_pb2.Finding(intent=findings_pb2.IntentDetails(goal="ship"))
    shown = to_json(finding)
    assert shown["kind"] == "intent"
    assert (shown["finding"], shown["outcome"]) == (None, None)
    assert to_json(findings_pb2.Finding())["kind"] is None


def test_an_optional_value_is_null_while_unset_and_may_be_zero() -> None:
    assert to_json(facts_pb2.FactScores())["words"] is None
    assert to_json(facts_pb2.FactScores(words=0.0))["words"] == 0.0


def test_a_field_may_be_left_out_where_the_message_is_a_part_of_another() -> None:
    neighborhood = to_json(query_pb2.GetNeighborhoodResponse(nodes=[facts_pb2.Entity()]))
    listed = to_json(query_pb2.ListEntitiesResponse(entities=[facts_pb2.Entity()]))
    assert "document_title" not in neighborhood["nodes"][0]
    assert listed["entities"][0]["document_title"] is False


def test_items_that_are_empty_may_be_null() -> None:
    assert to_json(findings_pb2.AddFindingsResponse(finding_ids=["a", ""]))["uuids"] == ["a", None]


def test_the_last_page_has_no_cursor() -> None:
    assert to_json(jobs_pb2.ListJobsResponse())["next_cursor"] is None
    assert to_json(jobs_pb2.ListJobsResponse(next_page_token="t"))["next_cursor"] == "t"


def test_a_message_that_is_always_set_is_an_object_even_when_it_is_missing() -> None:
    assert to_json(entity_memory_pb2.GetMemoryQuotaResponse())["limits"]["day_entities"] == 0
    assert to_json(history_pb2.GetSnapshotResponse())["changes"] is None
    assert to_json(corrections_pb2.CorrectFactResponse())["fact"]["uuid"] == ""
