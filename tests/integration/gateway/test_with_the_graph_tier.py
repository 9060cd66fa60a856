"""Time, paths, findings and the ontology through the gateway, down to Neo4j."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deploy.local.stores import LocalStores
from tests.integration.gateway.graph_tier import (
    OURS,
    READER,
    SECONDS,
    THEIRS,
    Company,
    bearer,
    served_company,
)
from tests.integration.gateway.scripted import Script

HISTORY = "/api/graph/history/"
UNKNOWN_UUID = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
async def company(
    graph_stores: LocalStores, settings_of: Any, script: Script, tmp_path: Path
) -> AsyncIterator[Company]:
    async with served_company(graph_stores, settings_of, script, tmp_path) as running:
        yield running


def statements(facts: list[dict[str, Any]]) -> list[str]:
    """Returns facts as subject, relation and object."""
    return [
        f"{one['source_entity']['name']} {one['relation']} {one['target_entity']['name']}"
        for one in facts
    ]


async def test_a_history_returns_every_fact_in_order_and_a_summary(
    company: Company,
) -> None:
    answer = await company.get(HISTORY + "payments")
    assert statements(answer["facts"]) == [
        "Anna Bell OWNS Payments",
        "Payments DEPENDS_ON Ledger",
        "Karl Otto OWNS Payments",
        "Mira Okafor OWNS Payments",
    ]
    summary = answer["summary"]
    assert (answer["entity"]["name"], answer["next_cursor"]) == ("Payments", None)
    assert (summary["total"], summary["current_total"], summary["never_changed"]) == (4, 2, False)
    assert summary["unchanged_since"] == "2022-06-01T00:00:00Z"
    assert summary["first_seen_at"]
    owned = [row for row in summary["periods"] if row["relation"] == "OWNS"]
    assert {"relation", "start", "end", "began", "ended"} == owned[0].keys()


async def test_a_history_reports_that_an_entity_never_changed(company: Company) -> None:
    summary = (await company.get(HISTORY + "Ledger"))["summary"]
    assert summary["never_changed"] is True
    assert statements(summary["current"]) == [
        "Payments DEPENDS_ON Ledger",
        "Ledger USES PostgreSQL",
    ]
    assert summary["earliest_valid_at"] == "2017-05-01T00:00:00Z"
    changed = await company.get(HISTORY + "Payments", as_of="2019-06-01")
    assert changed["summary"]["never_changed"] is True


async def test_a_history_is_filtered_by_relation_and_time_and_continued_by_cursor(
    company: Company,
) -> None:
    asked: dict[str, Any] = {"relation": "owns", "since": "2020-01-01", "limit": 1}
    first = await company.get(HISTORY + "Payments", **asked)
    second = await company.get(HISTORY + "Payments", **asked, cursor=first["next_cursor"])
    assert statements(first["facts"] + second["facts"]) == [
        "Karl Otto OWNS Payments",
        "Mira Okafor OWNS Payments",
    ]
    assert (first["summary"]["total"], second["summary"]) == (2, None)


async def test_homonyms_are_listed_until_one_is_chosen_by_type_or_uuid(company: Company) -> None:
    both = await company.get(HISTORY + "Swift")
    assert (both["entity"], both["facts"], both["summary"]) == (None, [], None)
    assert sorted(one["type"] for one in both["homonyms"]) == ["Bird", "Plane"]
    (bird,) = [one for one in both["homonyms"] if one["type"] == "Bird"]
    by_type = await company.get(HISTORY + "Swift", type="Bird")
    by_uuid = await company.get(HISTORY + bird["uuid"], by="uuid")
    assert by_type["entity"]["uuid"] == by_uuid["entity"]["uuid"] == bird["uuid"]
    assert by_type["facts"] == by_uuid["facts"]


async def test_a_snapshot_returns_the_state_at_a_time_and_the_changes_since(
    company: Company,
) -> None:
    answer = await company.get("/api/graph/snapshot", as_of="2019-06-01", entity="Payments")
    assert statements(answer["facts"]) == ["Anna Bell OWNS Payments", "Payments DEPENDS_ON Ledger"]
    changes = answer["changes"]
    assert statements(changes["ended"]) == ["Anna Bell OWNS Payments"]
    assert statements(changes["added"]) == ["Mira Okafor OWNS Payments"]
    year = await company.get("/api/graph/snapshot", as_of="2020-01-01/2023-01-01", relation="OWNS")
    assert statements(year["facts"]) == ["Karl Otto OWNS Payments", "Mira Okafor OWNS Payments"]


async def test_pages_of_a_snapshot_contain_the_changes_once(company: Company) -> None:
    asked: dict[str, Any] = {"as_of": "2023-01-01", "limit": 2}
    first = await company.get("/api/graph/snapshot", **asked)
    second = await company.get("/api/graph/snapshot", **asked, cursor=first["next_cursor"])
    assert first["changes"] is not None
    assert second["changes"] is None
    assert len(statements(first["facts"] + second["facts"])) == 4


async def test_a_diff_compares_any_two_times(company: Company) -> None:
    answer = await company.get("/api/graph/diff", **{"from": "2019-01-01", "to": "2021-06-01"})
    assert statements(answer["ended"]) == ["Anna Bell OWNS Payments"]
    assert statements(answer["added"]) == [
        "Payments DEPENDS_ON Ledger",
        "Karl Otto OWNS Payments",
        "Mira Okafor LIVES_IN Graz",
    ]
    assert (answer["added_total"], answer["ended_total"], answer["changed_total"]) == (3, 1, 0)
    assert answer["incomplete"] is False
    backward = await company.get("/api/graph/diff", **{"from": "2021-06-01", "to": "2019-01-01"})
    assert statements(backward["added"]) == ["Anna Bell OWNS Payments"]


async def test_facts_are_listed_as_of_now_a_day_a_range_or_all_time(company: Company) -> None:
    async def owners(**asked: Any) -> list[str]:
        answer = await company.get("/api/facts", object="Payments", relation="OWNS", **asked)
        return [one["source_entity"]["name"] for one in answer["facts"]]

    assert await owners() == ["Mira Okafor"]
    assert await owners(as_of="2020-01-01") == ["Karl Otto"]
    assert await owners(as_of="2019-12-31T23:00:00Z") == ["Anna Bell"]
    assert await owners(as_of="2022-01-01/2023-01-01") == ["Karl Otto", "Mira Okafor"]
    assert await owners(as_of="../..") == ["Anna Bell", "Karl Otto", "Mira Okafor"]
    assert await owners(as_of="../2019-01-01") == ["Anna Bell"]
    assert await owners(subject="karl otto") == []


async def test_an_ended_fact_can_still_be_read_as_it_was_known_before(company: Company) -> None:
    (fact,) = (await company.get("/api/facts", subject="Mira Okafor", relation="OWNS"))["facts"]
    path = f"/api/facts/{fact['uuid']}"
    ended = await company.send("POST", path + "/end", {"invalid_at": "2023-01-01"})
    assert (ended["changed"], ended["fact"]["invalid_at"]) == (True, "2023-01-01T00:00:00Z")
    again = await company.send("POST", path + "/end", {"invalid_at": "2023-01-01"})
    assert again["changed"] is False
    answer = await company.get(path)
    before, after = answer["versions"]
    assert answer["fact"]["invalid_at"] == "2023-01-01T00:00:00Z"
    assert (before["fact"]["invalid_at"], after["superseded_at"]) == (None, None)
    assert before["superseded_at"] == after["known_at"]
    asked = {"subject": "Mira Okafor", "relation": "OWNS"}
    assert (await company.get("/api/facts", **asked))["facts"] == []
    then = await company.get("/api/facts", **asked, known_at=before["known_at"])
    assert statements(then["facts"]) == ["Mira Okafor OWNS Payments"]


async def test_an_end_that_is_not_after_the_start_is_refused_and_changes_nothing(
    company: Company,
) -> None:
    (fact,) = (await company.get("/api/facts", subject="Mira Okafor", relation="OWNS"))["facts"]
    path = f"/api/facts/{fact['uuid']}"
    refused = await company.send("POST", path + "/end", {"invalid_at": "2022-06-01"}, status=422)
    assert [one["field"] for one in refused["fields"]] == ["invalid_at"]
    assert (await company.get(path))["fact"] == fact


async def test_paths_connect_two_entities_as_of_a_time(company: Company) -> None:
    asked = {"source": "karl otto", "target": "PostgreSQL"}
    now = await company.get("/api/graph/paths", **asked)
    assert (now["paths"], now["incomplete"]) == ([], False)
    (path,) = (await company.get("/api/graph/paths", **asked, as_of="2021-01-01"))["paths"]
    assert [one["name"] for one in path["nodes"]] == [
        "Karl Otto",
        "Payments",
        "Ledger",
        "PostgreSQL",
    ]
    assert [one["relation"] for one in path["facts"]] == ["OWNS", "DEPENDS_ON", "USES"]
    short = await company.get("/api/graph/paths", **asked, as_of="2021-01-01", max_hops=2)
    assert short["paths"] == []
    unclear = await company.get("/api/graph/paths", source="Swift", target="Wings")
    assert len(unclear["source_homonyms"]) == 2


async def test_findings_are_added_found_by_meaning_and_field_and_listed(company: Company) -> None:
    body = {
        "findings": [
            {
                "id": "q2/1",
                "finding": {"key_insight": "Night jobs starve payments", "confidence": 0.9},
                "about_entities": [{"name": "Payments"}],
            },
            {"intent": {"goal": "Move the ledger", "priority": "high", "owner": "Mira"}},
            {
                "outcome": {
                    "result": "Moved",
                    "metrics": [{"name": "p95", "value": 12.5, "unit": "ms"}],
                    "blockers": ["no staff"],
                }
            },
        ]
    }
    added = await company.send("POST", "/api/findings", body)
    assert (added["added"], len(added["uuids"]), added["refused"]) == (3, 3, [])
    assert (await company.send("POST", "/api/findings", body))["unchanged"] == 3
    listed = await company.get("/api/findings", limit=2)
    rest = await company.get("/api/findings", limit=2, cursor=listed["next_cursor"])
    kinds = sorted(one["kind"] for one in listed["findings"] + rest["findings"])
    assert kinds == ["finding", "intent", "outcome"]
    (about,) = (await company.get("/api/findings", about_entity="payments"))["findings"]
    assert (about["id"], about["finding"]["confidence"], about["score"]) == ("q2/1", 0.9, None)
    assert about["about_entities"][0]["name"] == "Payments"
    (wanted,) = (await company.get("/api/findings", priority="high", kind="intent"))["findings"]
    assert wanted["intent"] == {
        "goal": "Move the ledger",
        "status": "",
        "priority": "high",
        "owner": "Mira",
    }
    search = {"query": "what starves payments", "filter": {"confidence": {"at_least": 0.5}}}
    found = await company.send("POST", "/api/findings/search", search)
    assert [one["id"] for one in found["findings"]] == ["q2/1"]
    assert found["findings"][0]["score"] > 0
    metric = {"filter": {"metric": {"name": "P95", "value": {"less_than": 20}}}}
    (outcome,) = (await company.send("POST", "/api/findings/search", metric))["findings"]
    assert outcome["outcome"]["metrics"] == [{"name": "p95", "value": 12.5, "unit": "ms"}]
    assert (await company.get("/api/findings", key=THEIRS))["findings"] == []


async def test_only_the_finding_about_an_unknown_finding_is_refused(company: Company) -> None:
    body = {
        "findings": [
            {"finding": {"key_insight": "One"}, "about_findings": ["nothing"]},
            {"finding": {"key_insight": "Two"}},
        ]
    }
    added = await company.send("POST", "/api/findings", body)
    assert (added["added"], added["uuids"][0]) == (1, None)
    assert [one["index"] for one in added["refused"]] == [0]


async def test_an_ontology_is_written_read_and_changed(company: Company) -> None:
    empty = await company.get("/api/ontology")
    assert (empty["version"], empty["entity_types"]) == (0, [])
    ontology = {
        "entity_types": [
            {"name": "Service", "attributes": [{"name": "language", "kind": "string"}]},
            {"name": "Person", "description": "Somebody."},
        ],
        "relation_types": [
            {"name": "OWNS", "endpoints": [{"subject_type": "Person", "object_type": "Service"}]}
        ],
        "strict": True,
        "version": 0,
    }
    put = await company.send("PUT", "/api/ontology", ontology)
    stored = await company.get("/api/ontology")
    assert (stored["version"], stored["strict"]) == (put["version"], True)
    assert stored["relation_types"][0]["endpoints"] == [
        {"subject_type": "Person", "object_type": "Service"}
    ]
    again = await company.send("PUT", "/api/ontology", stored | {"strict": False})
    assert again["version"] > put["version"]
    stale = await company.send("PUT", "/api/ontology", stored, status=409)
    assert stale["reason"] == "WRONG_STATE"


@pytest.mark.parametrize(
    ("ontology", "field"),
    [
        ({"entity_types": [{"name": "Entity"}]}, "entity_types[0].name"),
        ({"entity_types": [{"name": "A"}, {"name": "A"}]}, "entity_types[1].name"),
        (
            {"relation_types": [{"name": "OWNS", "endpoints": [{"subject_type": "Nobody"}]}]},
            "relation_types[0].endpoints[0].subject_type",
        ),
    ],
)
async def test_an_invalid_ontology_is_refused_naming_the_field_and_not_stored(
    company: Company, ontology: dict[str, Any], field: str
) -> None:
    refused = await company.send("PUT", "/api/ontology", ontology, status=422)
    assert [one["field"] for one in refused["fields"]] == [field]
    assert (await company.get("/api/ontology"))["version"] == 0


async def test_entities_and_facts_of_another_space_are_answered_like_unknown_ones(
    company: Company,
) -> None:
    (fact,) = (await company.get("/api/facts", subject="Karl Otto", as_of="../.."))["facts"]
    uuid = fact["uuid"]
    end = {"json": {"invalid_at": "2024-01-01"}}
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", HISTORY + "Payments", {}),
        ("GET", f"/api/facts/{uuid}", {}),
        ("GET", f"/api/facts/{UNKNOWN_UUID}", {}),
        ("POST", f"/api/facts/{uuid}/end", end),
        ("GET", "/api/graph/paths?source=Payments&target=Ledger", {}),
    ]
    for method, path, more in asked:
        response = await company.served.http.request(
            method, path, headers=bearer(THEIRS), timeout=SECONDS, **more
        )
        assert (response.status_code, response.json()["reason"]) == (404, "NOT_FOUND"), path
    for path in ("/api/facts", "/api/graph/snapshot"):
        assert (await company.get(path, key=THEIRS, as_of="../.."))["facts"] == []
    assert (await company.get(f"/api/facts/{uuid}"))["fact"] == fact


async def test_a_read_only_key_cannot_write(company: Company) -> None:
    (fact,) = (await company.get("/api/facts", subject="Mira Okafor", relation="OWNS"))["facts"]
    end = {"invalid_at": "2024-01-01"}
    for method, path, body in (
        ("POST", f"/api/facts/{fact['uuid']}/end", end),
        ("POST", "/api/findings", {"findings": [{"intent": {"goal": "x"}}]}),
        ("PUT", "/api/ontology", {}),
    ):
        refused = await company.send(method, path, body, status=403, key=READER)
        assert refused["reason"] == "MISSING_SCOPE"
    assert (await company.get("/api/findings", key=OURS))["findings"] == []
