"""Histories, snapshots, paths, facts, findings, ontologies: requests are forwarded, and invalid fields are named."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from braid.common.v1 import legs_pb2, retrieval_pb2
from braid.graph.v1 import (
    corrections_pb2,
    entities_pb2,
    facts_pb2,
    findings_pb2,
    history_pb2,
    ingest_pb2,
    ontology_pb2,
    structure_pb2,
)
from services.runtime import errors
from services.runtime.times import to_timestamp
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import DAY, ENTITY, ENTITY_JSON, FACT, FACT_JSON, struct

HISTORY, FACTS = "/api/graph/history/", "/api/facts"
UUID = "00000000-0000-4000-8000-000000000001"
OTHER_UUID = "00000000-0000-4000-8000-000000000002"
STAMP = to_timestamp(DAY)
KNOWN = FACT.__class__(attributes=struct(share=0.5), create_time=STAMP)
KNOWN.MergeFrom(FACT)
KNOWN_JSON = FACT_JSON | {"attributes": {"share": 0.5}, "created_at": "2024-04-18T00:00:00Z"}
INSTANT = retrieval_pb2.TimeSelector(instant=STAMP)


def fields(response: Any) -> list[str]:
    """Returns the names of the invalid fields."""
    assert response.status_code == 422, response.text
    return [problem["field"] for problem in response.json()["fields"]]


async def test_a_history_has_its_entity_facts_and_summary(served: Served) -> None:
    summary = history_pb2.HistorySummary(
        fact_count=3,
        current_fact_count=1,
        current=[KNOWN],
        first_seen_time=STAMP,
        never_changed=True,
        unchanged_since_time=STAMP,
        periods=[
            history_pb2.HistoryPeriod(relation_type="OWNS", ended_count=1),
            history_pb2.HistoryPeriod(
                relation_type="OWNS", start_time=STAMP, end_time=STAMP, began_count=2
            ),
        ],
    )
    answer = history_pb2.GetEntityHistoryResponse(
        entity=ENTITY, facts=[KNOWN], next_page_token="t2", summary=summary
    )
    served.script.answer("GetEntityHistory", answer)
    asked = {
        "type": "Person",
        "relation": "OWNS",
        "since": "2024-04-18",
        "as_of": "2024-04-18",
        "known_at": "2024-04-18T02:00:00+02:00",
        "limit": "1",
        "cursor": "t1",
    }
    response = await served.http.get(HISTORY + "Jonas Weber", params=asked)
    moment = "2024-04-18T00:00:00Z"
    undated = {"relation": "OWNS", "start": None, "end": None, "began": 0, "ended": 1}
    dated = {"relation": "OWNS", "start": moment, "end": moment, "began": 2, "ended": 0}
    assert response.json() == {
        "entity": ENTITY_JSON,
        "homonyms": [],
        "facts": [KNOWN_JSON],
        "next_cursor": "t2",
        "summary": {
            "total": 3,
            "current_total": 1,
            "current": [KNOWN_JSON],
            "first_seen_at": moment,
            "earliest_valid_at": None,
            "never_changed": True,
            "unchanged_since": moment,
            "periods": [undated, dated],
            "periods_truncated": False,
        },
        "withdrawn": [],
        "withdrawn_truncated": False,
    }
    assert served.script.seen[0].message == history_pb2.GetEntityHistoryRequest(
        entity=entities_pb2.EntitySelector(name="Jonas Weber", type="Person"),
        relation_type="OWNS",
        since_time=STAMP,
        as_of=STAMP,
        known_time=STAMP,
        page_size=1,
        page_token="t1",
    )


@pytest.mark.parametrize("name", ["a/b/c", "') MATCH (n) DETACH DELETE n //", "x?y=z", "a\n", UUID])
async def test_a_history_is_requested_for_exactly_the_given_name(served: Served, name: str) -> None:
    served.script.answer("GetEntityHistory", history_pb2.GetEntityHistoryResponse())
    response = await served.http.get(HISTORY + quote(name, safe=""))
    assert response.status_code == 200
    assert served.script.seen[0].message.entity.name == name


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2024-04-18/..", True, False),
        ("2024-04-18/", True, False),
        ("../2024-04-18", False, True),
        ("../..", False, False),
        ("/", False, False),
        ("2024-04-17T00:00:00Z/2024-04-18", True, True),
    ],
)
async def test_a_range_may_be_open_at_either_end(
    served: Served, text: str, start: bool, end: bool
) -> None:
    served.script.answer("GetSnapshot", history_pb2.GetSnapshotResponse())
    response = await served.http.get("/api/graph/snapshot", params={"as_of": text})
    assert response.json() == {"facts": [], "next_cursor": None, "changes": None}
    selector = served.script.seen[0].message.as_of
    assert selector.WhichOneof("at") == "range"
    found = selector.range
    assert (found.HasField("start_time"), found.HasField("end_time")) == (start, end)


async def test_entities_are_selected_by_name_type_or_uuid(served: Served) -> None:
    served.script.answer("FindPaths", structure_pb2.FindPathsResponse())
    asked = {"source": "a", "source_type": "Person", "target_uuid": UUID, "as_of": "2024-04-18"}
    response = await served.http.get("/api/graph/paths", params=asked | {"include_local": "true"})
    assert response.status_code == 200
    assert served.script.seen[0].message == structure_pb2.FindPathsRequest(
        source=entities_pb2.EntitySelector(name="a", type="Person"),
        target=entities_pb2.EntitySelector(id=UUID),
        as_of=INSTANT,
        include_local=True,
    )


@pytest.mark.parametrize(
    ("path", "named"),
    [
        (HISTORY, ["entity"]),
        (HISTORY + "%20", ["entity"]),
        (HISTORY + "x" * 1001, ["entity"]),
        (HISTORY + "x?by=uuid", ["entity"]),
        (HISTORY + "x?by=both", ["by"]),
        (HISTORY + "x?type=" + "x" * 201, ["type"]),
        (HISTORY + "x?relation=" + "x" * 201, ["relation"]),
        (HISTORY + "x?since=2024&as_of=then&known_at=1", ["since", "as_of", "known_at"]),
        (HISTORY + "x?limit=-1", ["limit"]),
        (HISTORY + "x?cursor=" + "x" * 16385, ["cursor"]),
        ("/api/graph/snapshot", ["as_of"]),
        ("/api/graph/snapshot?as_of=", ["as_of"]),
        ("/api/graph/snapshot?as_of=2024", ["as_of"]),
        ("/api/graph/snapshot?as_of=2024-01-01/2023-01-01", ["as_of"]),
        ("/api/graph/snapshot?as_of=2024-01-01/2024-01-01", ["as_of"]),
        ("/api/graph/snapshot?as_of=2024-01-01/2025-01-01/2026-01-01", ["as_of"]),
        ("/api/graph/snapshot?as_of=2024-01-01/then", ["as_of"]),
        ("/api/graph/snapshot?as_of=2024-01-01&entity=", ["entity"]),
        ("/api/graph/snapshot?as_of=2024-01-01&entity=a&entity_uuid=" + UUID, ["entity_uuid"]),
        ("/api/graph/snapshot?as_of=2024-01-01&entity_uuid=x", ["entity_uuid"]),
        ("/api/graph/snapshot?as_of=2024-01-01&entity_type=Person", ["entity_type"]),
        ("/api/graph/diff", ["from"]),
        ("/api/graph/diff?from=2024-01-01&to=soon", ["to"]),
        ("/api/graph/diff?from=2025-01-01/2024-01-01&to=2024-01-01", ["from"]),
        ("/api/graph/diff?from=2024-01-01&limit=0", ["limit"]),
        ("/api/graph/paths", ["source"]),
        ("/api/graph/paths?source=a", ["target"]),
        ("/api/graph/paths?source=a&target=%20", ["target"]),
        ("/api/graph/paths?source_uuid=a&target=b", ["source_uuid"]),
        ("/api/graph/paths?source=a&target=b&max_hops=7&limit=21", ["max_hops", "limit"]),
        ("/api/graph/paths?source=a&target=b&include_local=perhaps", ["include_local"]),
        (FACTS + "?subject=", ["subject"]),
        (FACTS + "?object_type=Service", ["object_type"]),
        (FACTS + "?object_uuid=1", ["object_uuid"]),
        (FACTS + "?as_of=now", ["as_of"]),
        (FACTS + "/x", ["uuid"]),
        ("/api/findings?kind=idea", ["kind[0]"]),
        ("/api/findings?type=" + "x" * 101, ["type"]),
        ("/api/findings?min_confidence=much", ["min_confidence"]),
        ("/api/findings?min_confidence=nan", ["min_confidence"]),
        ("/api/findings?priority=urgent", ["priority[0]"]),
        ("/api/findings?about_entity=%20", ["about_entity"]),
        ("/api/findings?about_entity_type=Person", ["about_entity_type"]),
        ("/api/findings?about_entity=a&about_entity_type=1", ["about_entity_type"]),
        ("/api/findings?chunk_id=x", ["chunk_id"]),
        ("/api/findings?limit=-1", ["limit"]),
    ],
)
async def test_an_invalid_parameter_is_refused_by_its_rest_name(
    served: Served, path: str, named: list[str]
) -> None:
    assert fields(await served.http.get(path)) == named
    assert served.script.seen == []


@pytest.mark.parametrize(
    ("method", "path", "body", "named"),
    [
        ("POST", f"{FACTS}/{UUID}/end", {}, ["invalid_at"]),
        ("POST", f"{FACTS}/{UUID}/end", {"invalid_at": "2024"}, ["invalid_at"]),
        ("POST", f"{FACTS}/{UUID}/end", {"invalid_at": "2024-01-01/.."}, ["invalid_at"]),
        ("POST", f"{FACTS}/{UUID}/end", {"invalid_at": "2024-01-01", "at": 1}, ["at"]),
        ("POST", f"{FACTS}/x/end", {"invalid_at": "2024-01-01"}, ["uuid"]),
        ("POST", "/api/findings", {"findings": []}, ["findings"]),
        ("POST", "/api/findings", {"findings": [{}]}, ["findings[0]"]),
        ("POST", "/api/findings", {"findings": [1] * 501}, ["findings"]),
        (
            "POST",
            "/api/findings",
            {"findings": [{"intent": {"goal": " "}, "chunk_ids": ["x"]}]},
            ["findings[0].intent.goal", "findings[0].chunk_ids[0]"],
        ),
        (
            "POST",
            "/api/findings",
            {"findings": [{"intent": {"goal": "a"}, "outcome": {"result": "b"}}]},
            ["findings[0]"],
        ),
        (
            "POST",
            "/api/findings",
            {"findings": [{"finding": {"key_insight": "a", "confidence": 2, "colour": "red"}}]},
            ["findings[0].finding.colour"],
        ),
        (
            "POST",
            "/api/findings",
            {"findings": [{"finding": {"key_insight": "a", "confidence": 2}}]},
            ["findings[0].finding.confidence"],
        ),
        ("POST", "/api/findings/search", {"filter": {"kind": "intent"}}, ["filter.kind"]),
        ("POST", "/api/findings/search", {"filter": {"chunk_id": "x"}}, ["filter.chunk_id"]),
        (
            "POST",
            "/api/findings/search",
            {"filter": {"created": {"start": "2024-01-01", "end": "2023-01-01"}}},
            ["filter.created"],
        ),
        ("POST", "/api/findings/search", {"limit": 201, "cursor": 1}, ["cursor"]),
        ("PUT", "/api/ontology", {"entity_types": [{"name": "1"}]}, ["entity_types[0].name"]),
        ("PUT", "/api/ontology", {"version": -1}, ["version"]),
        ("PUT", "/api/ontology", {"expected_version": 1}, ["expected_version"]),
        (
            "PUT",
            "/api/ontology",
            {"entity_types": [{"name": "A", "attributes": [{"name": "b", "kind": "date"}]}]},
            ["entity_types[0].attributes[0].kind"],
        ),
        ("PUT", "/api/ontology", [], ["body"]),
    ],
)
async def test_an_invalid_body_is_refused_naming_the_field_and_nothing_is_sent(
    served: Served, method: str, path: str, body: Any, named: list[str]
) -> None:
    assert fields(await served.http.request(method, path, json=body)) == named
    assert served.script.seen == []


async def test_the_complete_filter_of_findings_is_forwarded(served: Served) -> None:
    served.script.answer("SearchFindings", findings_pb2.SearchFindingsResponse())
    body = {
        "query": "why?",
        "limit": 3,
        "filter": {
            "kinds": ["finding", "outcome"],
            "type": "risk",
            "confidence": {"greater_than": 0.1, "at_most": 0.9},
            "methodology": "logs",
            "status": "done",
            "priorities": ["low", "critical"],
            "owner": "Mira",
            "metric": {"name": "p95", "value": {"less_than": 5}},
            "blocker": "staff",
            "has_blockers": False,
            "about_entity": {"name": "Ledger", "type": "Service"},
            "about_finding": "q1",
            "chunk_id": UUID,
            "origin": "extracted",
            "created": {"start": "2024-04-18"},
            "ids": ["q1"],
        },
    }
    response = await served.http.post("/api/findings/search", json=body)
    assert response.status_code == 200, response.text
    assert served.script.seen[0].message == findings_pb2.SearchFindingsRequest(
        query="why?",
        page_size=3,
        filter=findings_pb2.FindingFilter(
            kinds=[findings_pb2.FINDING_KIND_FINDING, findings_pb2.FINDING_KIND_OUTCOME],
            type="risk",
            confidence=findings_pb2.NumberRange(greater_than=0.1, at_most=0.9),
            methodology="logs",
            status="done",
            priorities=[
                findings_pb2.INTENT_PRIORITY_LOW,
                findings_pb2.INTENT_PRIORITY_CRITICAL,
            ],
            owner="Mira",
            metric=findings_pb2.MetricFilter(
                name="p95", value=findings_pb2.NumberRange(less_than=5)
            ),
            blocker="staff",
            has_blockers=False,
            about_entity=findings_pb2.FindingSubject(name="Ledger", type="Service"),
            about_finding_id="q1",
            chunk_id=UUID,
            origin=findings_pb2.FINDING_ORIGIN_EXTRACTED,
            create_time=retrieval_pb2.TimeRange(start_time=STAMP),
            ids=["q1"],
        ),
    )


async def test_a_degraded_search_for_findings_has_a_reason(served: Served) -> None:
    answer = findings_pb2.SearchFindingsResponse(
        leg=legs_pb2.LegReport(
            status=legs_pb2.LEG_STATUS_DEGRADED, reason=legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE
        )
    )
    served.script.answer("SearchFindings", answer)
    found = (await served.http.post("/api/findings/search", json={"query": "why?"})).json()
    (leg,) = found["legs"]
    assert (leg["status"], leg["reason"]) == ("DEGRADED", "EMBEDDER_UNAVAILABLE")
    assert found["vector_path"] is None


async def test_a_withdrawn_fact_has_only_its_versions(served: Served) -> None:
    version = structure_pb2.FactVersion(
        fact=KNOWN, known_time=STAMP, superseded_time=STAMP, chunk_id=UUID
    )
    served.script.answer("GetFact", structure_pb2.GetFactResponse(versions=[version]))
    moment = "2024-04-18T00:00:00Z"
    assert (await served.http.get(f"{FACTS}/{UUID}")).json() == {
        "fact": None,
        "versions": [
            {
                "fact": KNOWN_JSON,
                "known_at": moment,
                "superseded_at": moment,
                "chunk_id": UUID,
                "change": None,
                "corrected_uuid": None,
            }
        ],
    }


CHANGE = facts_pb2.FactChange(
    kind=facts_pb2.FACT_CHANGE_KIND_CORRECTED,
    user_id="ana",
    reason="the board said so",
    replacement_fact_id=OTHER_UUID,
)
CHANGE_JSON = {
    "kind": "corrected",
    "user": "ana",
    "reason": "the board said so",
    "chunk_id": None,
    "replacement_uuid": OTHER_UUID,
}


async def test_a_replaced_fact_says_what_replaced_it_and_why(served: Served) -> None:
    version = structure_pb2.FactVersion(fact=KNOWN, change=CHANGE, corrected_fact_id=UUID)
    served.script.answer("GetFact", structure_pb2.GetFactResponse(versions=[version]))
    [shown] = (await served.http.get(f"{FACTS}/{UUID}")).json()["versions"]
    assert (shown["change"], shown["corrected_uuid"]) == (CHANGE_JSON, UUID)


async def test_a_history_lists_withdrawn_facts_when_asked(served: Served) -> None:
    withdrawn = facts_pb2.WithdrawnFact(fact=KNOWN, withdrawn_time=STAMP, change=CHANGE)
    answer = history_pb2.GetEntityHistoryResponse(withdrawn=[withdrawn], withdrawn_truncated=True)
    served.script.answer("GetEntityHistory", answer)
    shown = (await served.http.get(HISTORY + "a", params={"withdrawn": "true"})).json()
    assert served.script.seen[0].message.include_withdrawn
    assert shown["withdrawn_truncated"] is True
    assert shown["withdrawn"] == [
        {
            "fact": KNOWN_JSON,
            "known_at": None,
            "withdrawn_at": "2024-04-18T00:00:00Z",
            "change": CHANGE_JSON,
        }
    ]


ROUTES: list[tuple[str, str, str, Any]] = [
    ("GetEntityHistory", "GET", HISTORY + "a", None),
    ("GetSnapshot", "GET", "/api/graph/snapshot?as_of=2024-04-18", None),
    ("DiffGraph", "GET", "/api/graph/diff?from=2024-04-18", None),
    ("FindPaths", "GET", "/api/graph/paths?source=a&target=b", None),
    ("ListFacts", "GET", FACTS, None),
    ("GetFact", "GET", f"{FACTS}/{UUID}", None),
    ("EndFact", "POST", f"{FACTS}/{UUID}/end", {"invalid_at": "2024-04-18"}),
    ("WithdrawFacts", "DELETE", f"{FACTS}/{UUID}", None),
    ("WithdrawFacts", "POST", f"{FACTS}/withdraw", {"uuids": [UUID]}),
    ("CorrectFact", "PATCH", f"{FACTS}/{UUID}", {"fact": "a"}),
    ("AddFindings", "POST", "/api/findings", {"findings": [{"intent": {"goal": "a"}}]}),
    ("SearchFindings", "GET", "/api/findings", None),
    ("SearchFindings", "POST", "/api/findings/search", {}),
    ("GetOntology", "GET", "/api/ontology", None),
    ("PutOntology", "PUT", "/api/ontology", {}),
]


@pytest.mark.parametrize(("rpc", "method", "path", "body"), ROUTES)
async def test_an_unavailable_store_is_503_in_the_same_form_on_every_route(
    served: Served, rpc: str, method: str, path: str, body: Any
) -> None:
    served.script.fail(rpc, errors.StoreUnavailableError("neo4j", 2.5))
    response = await served.http.request(method, path, json=body)
    assert (response.status_code, response.headers["retry-after"]) == (503, "3")
    assert response.json().keys() == {"detail", "reason", "request_id"}
    assert response.json()["reason"] == "STORE_UNAVAILABLE"


@pytest.mark.parametrize(
    ("rpc", "path"),
    [
        ("ListFacts", FACTS),
        ("SearchFindings", "/api/findings"),
        ("GetEntityHistory", HISTORY + "a"),
    ],
)
async def test_a_cursor_that_the_tier_refuses_is_reported_by_its_rest_name(
    served: Served, rpc: str, path: str
) -> None:
    refusal = errors.InvalidFieldError(errors.FieldError("page_token", "belongs to another query"))
    served.script.fail(rpc, refusal)
    assert fields(await served.http.get(path, params={"cursor": "abc"})) == ["cursor"]


async def test_a_stale_version_of_the_ontology_is_409(served: Served) -> None:
    served.script.fail("PutOntology", errors.WrongStateError("There is another version by now."))
    response = await served.http.put("/api/ontology", json={"version": 3})
    assert (response.status_code, response.json()["reason"]) == (409, "WRONG_STATE")
    assert served.script.seen[0].message == ontology_pb2.PutOntologyRequest(
        ontology=ontology_pb2.Ontology(), expected_version=3
    )


async def test_the_end_of_a_fact_is_forwarded(served: Served) -> None:
    answer = ingest_pb2.EndFactResponse(fact=KNOWN, changed=True, space_revision=4)
    served.script.answer("EndFact", answer)
    response = await served.http.post(f"{FACTS}/{UUID}/end", json={"invalid_at": "2024-04-18"})
    assert response.json() == {"fact": KNOWN_JSON, "changed": True, "revision": 4}
    expected = ingest_pb2.EndFactRequest(fact_id=UUID, invalid_time=STAMP)
    assert served.script.seen[0].message == expected


def _withdrawn(*outcomes: corrections_pb2.WithdrawalOutcome.ValueType) -> Message:
    return corrections_pb2.WithdrawFactsResponse(
        withdrawals=[
            corrections_pb2.Withdrawal(fact_id=UUID, outcome=outcome) for outcome in outcomes
        ],
        space_revision=4,
    )


GONE = corrections_pb2.WITHDRAWAL_OUTCOME_WITHDRAWN
GONE_BEFORE = corrections_pb2.WITHDRAWAL_OUTCOME_ALREADY_WITHDRAWN
UNKNOWN = corrections_pb2.WITHDRAWAL_OUTCOME_NOT_FOUND


@pytest.mark.parametrize(
    ("outcome", "name"), [(GONE, "withdrawn"), (GONE_BEFORE, "already_withdrawn")]
)
async def test_a_withdrawal_is_forwarded_with_its_reason(
    served: Served, outcome: corrections_pb2.WithdrawalOutcome.ValueType, name: str
) -> None:
    served.script.answer("WithdrawFacts", _withdrawn(outcome))
    response = await served.http.delete(f"{FACTS}/{UUID}", params={"reason": "never true"})
    assert response.json() == {"uuid": UUID, "outcome": name, "revision": 4}
    expected = corrections_pb2.WithdrawFactsRequest(fact_ids=[UUID], reason="never true")
    assert served.script.seen[0].message == expected


async def test_a_withdrawal_of_an_unknown_fact_is_404(served: Served) -> None:
    served.script.answer("WithdrawFacts", _withdrawn(UNKNOWN))
    response = await served.http.delete(f"{FACTS}/{UUID}")
    assert (response.status_code, response.json()["reason"]) == (404, "NOT_FOUND")


async def test_a_withdrawal_of_several_facts_answers_for_each(served: Served) -> None:
    served.script.answer("WithdrawFacts", _withdrawn(GONE, UNKNOWN))
    body = {"uuids": [UUID, OTHER_UUID], "reason": "never true", "chunk_id": UUID}
    response = await served.http.post(f"{FACTS}/withdraw", json=body)
    assert [one["outcome"] for one in response.json()["facts"]] == ["withdrawn", "not_found"]
    assert served.script.seen[0].message == corrections_pb2.WithdrawFactsRequest(
        fact_ids=[UUID, OTHER_UUID], reason="never true", chunk_id=UUID
    )


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"uuids": []}, ["uuids"]),
        ({"uuids": ["x"]}, ["uuids[0]"]),
        ({"uuids": [UUID] * 1001}, ["uuids"]),
        ({"uuids": [UUID], "reason": "a" * 1001}, ["reason"]),
        ({}, ["uuids"]),
    ],
)
async def test_an_invalid_withdrawal_names_its_field(
    served: Served, body: Any, names: list[str]
) -> None:
    assert fields(await served.http.post(f"{FACTS}/withdraw", json=body)) == names


async def test_a_correction_forwards_only_the_given_values(served: Served) -> None:
    answer = corrections_pb2.CorrectFactResponse(
        fact=KNOWN, changed=True, replaced_fact_id=OTHER_UUID, space_revision=4
    )
    served.script.answer("CorrectFact", answer)
    body = {
        "subject": "Wilma",
        "subject_type": "Person",
        "valid_at": "2024-04-18",
        "invalid_at": None,
        "attributes": {"sure": True},
        "reason": "misread",
    }
    response = await served.http.patch(f"{FACTS}/{UUID}", json=body)
    assert response.json() == {
        "fact": KNOWN_JSON,
        "changed": True,
        "replaced_uuid": OTHER_UUID,
        "revision": 4,
    }
    attributes = Struct()
    attributes.update({"sure": True})
    assert served.script.seen[0].message == corrections_pb2.CorrectFactRequest(
        fact_id=UUID,
        correction=corrections_pb2.FactCorrection(
            subject=corrections_pb2.EntityCorrection(name="Wilma", type="Person"),
            valid_time=STAMP,
            attributes=attributes,
        ),
        update_mask=FieldMask(paths=["attributes", "invalid_time", "subject", "valid_time"]),
        reason="misread",
    )


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({}, ["body"]),
        ({"reason": "x"}, ["body"]),
        ({"subject": None}, ["subject"]),
        ({"relation": None, "object": None}, ["object", "relation"]),
        ({"subject_type": "Person"}, ["subject_type"]),
        ({"subject": " "}, ["subject"]),
        ({"subject": "a" * 1001}, ["subject"]),
        ({"subject": "a", "subject_type": "a b"}, ["subject_type"]),
        ({"relation": "1"}, ["relation"]),
        ({"valid_at": "soon"}, ["valid_at"]),
        ({"valid_at": "0000-01-01"}, ["valid_at"]),
        ({"attributes": {"n": 2**60}}, ["attributes.n"]),
        ({"fact": "a" * 8193}, ["fact"]),
        ({"space": "other"}, ["space"]),
    ],
)
async def test_an_invalid_correction_names_its_field(
    served: Served, body: Any, names: list[str]
) -> None:
    assert fields(await served.http.patch(f"{FACTS}/{UUID}", json=body)) == names


async def test_what_the_tier_refuses_of_a_correction_has_its_rest_name(served: Served) -> None:
    refused = errors.FieldError("correction.invalid_time", "must be after the start of the fact")
    served.script.fail("CorrectFact", errors.InvalidFieldError(refused))
    response = await served.http.patch(f"{FACTS}/{UUID}", json={"invalid_at": "2024-04-18"})
    assert (response.status_code, fields(response)) == (422, ["invalid_at"])
