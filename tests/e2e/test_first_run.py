"""The first run of a new user: a question is answered from documents and graph together, over every interface."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from braid_client import Braid
from tests.e2e.conftest import OTHER_KEY, System

QUESTION = "Who owned the Ledger Service when it caused INC-104, and who owns it now?"
INCIDENT = "2024-04-18-inc-104-checkout-timeouts.md"
EXAMPLE = Path(__file__).parents[2] / "protos" / "clients" / "python" / "example.py"
LATEST_CHANGE = "2025-09-01-ledger-moves-to-payments.md"


def comprehensive(system: System, key: str | None = None, **options: Any) -> dict[str, Any]:
    with system.client(key) as http:
        answer = http.post("/api/search/comprehensive", json={"query": QUESTION, **options})
    assert answer.status_code == 200, answer.text
    output: dict[str, Any] = answer.json()
    return output


def test_a_question_is_answered_from_documents_and_graph_together(system: System) -> None:
    answer = comprehensive(system, limit=5)
    assert {leg["name"]: leg["status"] for leg in answer["legs"]} == {"vector": "OK", "graph": "OK"}
    found = [result["document_id"] for result in answer["results"]]
    assert {INCIDENT, LATEST_CHANGE} <= set(found[:3])
    facts = {fact["fact"] for fact in answer["graph_results"]}
    assert "Noor Haddad has owned the Ledger Service since 1 September 2025." in facts
    assert answer["total_results"] == len(answer["vector_results"]) + len(answer["graph_results"])


def test_each_fact_cites_its_document(system: System) -> None:
    for fact in comprehensive(system)["graph_results"]:
        assert fact["sources"], fact["fact"]
        assert all(source["document_id"] for source in fact["sources"])


def test_the_answer_as_of_a_day_has_the_facts_and_documents_of_that_day(system: System) -> None:
    answer = comprehensive(system, as_of="2024-05-01T00:00:00Z", limit=10)
    facts = {fact["fact"] for fact in answer["graph_results"]}
    owned = "Jonas Weber owned the Ledger Service from 20 February 2023 until 10 June 2024."
    assert owned in facts
    assert "Noor Haddad has owned the Ledger Service since 1 September 2025." not in facts
    # A later document may state a fact of that day, but no later document is listed.
    assert max(hit["document_id"][:10] for hit in answer["vector_results"]) <= "2024-05-01"


def test_a_backend_gets_the_same_answer_over_grpc(system: System) -> None:
    target = system.stack.addresses["agent_orchestrator"]
    with Braid(target) as braid:
        answer = braid.comprehensive_search(QUESTION, limit=5)
    over_http = comprehensive(system, limit=5)
    assert [r.id for r in answer.results] == [r["id"] for r in over_http["results"]]


def test_the_python_example_ingests_finds_and_deletes_a_note_and_searches(system: System) -> None:
    ran = subprocess.run(
        [sys.executable, str(EXAMPLE), "--write"],
        env={
            **os.environ,
            "BRAID_TARGET": system.stack.addresses["agent_orchestrator"],
            "BRAID_VECTOR_TARGET": system.stack.addresses["vector_search"],
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    ingested, found, removed, *results, vector, graph = ran.stdout.splitlines()
    assert (ingested, found) == ("ingested: JOB_STATE_SUCCEEDED", "found: ['Turbine Hall']")
    assert removed.startswith("removed: ")
    assert removed != "removed: 0 rows"
    assert len(results) == 3
    assert vector.startswith("vector: LEG_STATUS_OK in ")
    assert graph.startswith("graph: LEG_STATUS_OK in ")


def test_a_stream_sends_each_leg_and_then_the_complete_answer(system: System) -> None:
    with (
        system.client() as http,
        http.stream(
            "POST",
            "/api/search/comprehensive",
            json={"query": QUESTION},
            headers={"Accept": "text/event-stream"},
        ) as events,
    ):
        kinds = [line.split(": ")[1] for line in events.iter_lines() if line.startswith("event: ")]
    assert kinds == ["leg", "leg", "final"]


def test_the_neighborhood_of_an_entity_is_found_regardless_of_case(system: System) -> None:
    with system.client() as http:
        around = http.get("/api/graph/neighborhood/ledger%20SERVICE").json()
    assert around["center"]["name"] == "Ledger Service"
    assert {"Noor Haddad", "PostgreSQL"} <= {node["name"] for node in around["nodes"]}
    assert around["total"] >= len(around["nodes"])


def test_entities_are_paged_without_gaps_or_duplicates(system: System) -> None:
    seen: list[str] = []
    cursor: str | None = None
    with system.client() as http:
        while True:
            page = http.get("/api/graph/entities", params={"limit": 40, "cursor": cursor or ""})
            seen += [entity["uuid"] for entity in page.json()["entities"]]
            cursor = page.json()["next_cursor"]
            if cursor is None:
                break
        total = http.get("/api/graph/status").json()["entities"]
    assert len(seen) == len(set(seen)) == total


def test_ingesting_the_same_folder_again_writes_nothing(system: System) -> None:
    with system.client() as http:
        before = http.get("/api/graph/status").json()
        files = map(str, sorted(system.corpus.iterdir()))
        again = system.braid("ingest", *files, "--json")
        after = http.get("/api/graph/status").json()
    assert again.returncode == 0, again.stderr
    assert before.keys() >= {"revision", "last_ingest_at"}
    assert before == after


def test_unreadable_files_are_reported_and_the_others_are_ingested(system: System) -> None:
    folder = system.corpus.parent / "mixed"
    folder.mkdir()
    (folder / "good.md").write_text(
        "# Turbine Hall\n\nThe Turbine Hall hums in the key of B flat.\n"
    )
    (folder / "empty.md").touch()
    (folder / "latin.txt").write_bytes(b"caf\xe9 au lait")
    output = system.braid("ingest", str(folder))
    assert output.returncode == 4
    assert "empty.md" in output.stdout + output.stderr
    assert "latin.txt" in output.stdout + output.stderr
    with system.client() as http:
        found = http.post("/api/search/text", json={"query": "turbine hums"}).json()
        assert [hit["document_id"] for hit in found["results"]] == ["mixed/good.md"]
        receipt = http.delete("/api/documents/mixed/good.md")
        assert receipt.status_code == 200
        assert {row["store"] for row in receipt.json()["removed"]} == {"postgresql", "neo4j"}
        gone = http.post("/api/search/text", json={"query": "turbine hums"}).json()
    assert gone["results"] == []
    assert gone["legs"][0]["status"] == "NO_MATCH"


def test_another_space_sees_nothing_of_the_sample(system: System) -> None:
    answer = comprehensive(system, OTHER_KEY)
    assert answer["results"] == []
    assert {leg["status"] for leg in answer["legs"]} == {"NO_MATCH"}
    with system.client(OTHER_KEY) as http:
        assert http.get("/api/graph/neighborhood/Ledger%20Service").status_code == 404
        assert http.get(f"/api/documents/{INCIDENT}").status_code == 404
        assert http.delete(f"/api/documents/{INCIDENT}").status_code == 404


def test_the_command_line_can_print_json(system: System) -> None:
    asked = system.braid("search", QUESTION, "--limit", "3", "--json")
    assert asked.returncode == 0, asked.stderr
    assert len(json.loads(asked.stdout)["results"]) == 3
    status = system.braid("status", "--json")
    assert status.returncode == 0, status.stderr


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("comprehensive", {"query": ""}, "query"),
        ("hybrid", {"query": "q", "limit": 0}, "limit"),
        ("vector", {"query": "q", "limit": 51}, "limit"),
        ("graph", {"query": "q", "limit": -1}, "limit"),
        ("hybrid", {"query": "q", "text_weight": 1.1}, "text_weight"),
        ("text", {"query": "a\0b"}, "query"),
        ("text", {"query": "x" * 5000}, "query"),
    ],
)
def test_invalid_input_is_a_field_error(
    system: System, path: str, body: dict[str, Any], field: str
) -> None:
    with system.client() as http:
        answer = http.post(f"/api/search/{path}", json=body)
    assert answer.status_code == 422
    assert field in {wrong["field"] for wrong in answer.json()["fields"]}


@pytest.mark.parametrize("name", [".*", "') MATCH (n) DETACH DELETE n //", "Nobody Knows"])
def test_an_unknown_entity_is_not_found_even_with_special_characters(
    system: System, name: str
) -> None:
    with system.client() as http:
        answer = http.get("/api/graph/neighborhood/" + name.replace("/", "%2F"))
        assert http.get("/api/graph/status").json()["entities"] > 0
    assert answer.status_code == 404
    assert answer.json()["detail"]


def test_a_cursor_of_another_query_is_rejected(system: System) -> None:
    with system.client() as http:
        cursor = http.get("/api/graph/entities", params={"limit": 1}).json()["next_cursor"]
        other = http.get("/api/graph/entities", params={"type": "Person", "cursor": cursor})
        bad = http.get("/api/graph/entities", params={"cursor": "nonsense"})
    assert (other.status_code, bad.status_code) == (422, 422)


@pytest.mark.parametrize("command", ["reembed", "reextract"])
def test_the_local_stacks_worker_can_run_the_commands_for_spaces(
    system: System, command: str
) -> None:
    done = system.braid("space", command, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["job"]["state"] == "SUCCEEDED"
