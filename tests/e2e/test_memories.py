"""Typed memories as an agent uses them: over HTTP and on real stores, one behavior per test."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from statistics import median
from time import perf_counter
from typing import Any

import httpx2
import pytest

from braid.agent.v1.memories_pb2 import MemoryRelationInput
from braid.common.v1 import expansion_pb2
from braid.graph.v1.relations_pb2 import CHUNK_RELATION_TYPE_FIXES
from braid_client import Braid
from tests.e2e.conftest import ANN_KEY, BEN_KEY, OTHER_KEY, System

Json = dict[str, Any]
FORMULA = expansion_pb2.ExpansionOptions(mode=expansion_pb2.EXPANSION_MODE_FORMULA)

ERROR_TEXT = (
    "Checkout requests time out because the connection pool of the orders database is empty."
)
FIX_TEXT = (
    "Raised the maximum size in the deployment file from ten to forty and restarted everything."
)
NOTE_TEXT = "The quarterly planning meeting takes place in the large room on the second floor."
SEARCH = (
    "/memories/search?search_mode=hybrid&use_cache=true&use_reranking=true&use_graph_expansion="
)


@pytest.fixture
def ann(system: System) -> Iterator[httpx2.Client]:
    """A user without memories: they are deleted before and after each test."""
    with system.client(ANN_KEY) as client:
        _delete_all(client)
        yield client
        _delete_all(client)


@pytest.fixture
def ben(system: System) -> Iterator[httpx2.Client]:
    """Another user of the same space."""
    with system.client(BEN_KEY) as client:
        yield client


@pytest.fixture
def other(system: System) -> Iterator[httpx2.Client]:
    """A caller of another space."""
    with system.client(OTHER_KEY) as client:
        yield client


def _delete_all(client: httpx2.Client) -> None:
    while memories := client.get("/memories?limit=200").json()["memories"]:
        for memory in memories:
            client.delete(f"/memories/{memory['id']}").raise_for_status()


def remember(client: httpx2.Client, content: str, kind: str = "CONTEXT", **more: Any) -> str:
    body = {"content": content, "type": kind, "infer": False, **more}
    answer = client.post("/memories", json=body)
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["id"]
    return found


def relate(
    client: httpx2.Client, source: str, kind: str, target: str, **more: Any
) -> httpx2.Response:
    body = {"target_id": target, "relation_type": kind, **more}
    return client.post(f"/memories/{source}/relations", json=body)


def search(client: httpx2.Client, query: str, *, expand: bool = False, **body: Any) -> list[Json]:
    answer = client.post(SEARCH + str(expand).lower(), json={"query": query, "limit": 10, **body})
    assert answer.status_code == 200, answer.text
    found: list[Json] = answer.json()
    return found


def ended(client: httpx2.Client, location: str) -> Json:
    """Waits for a job to end and returns it."""
    job: Json = {}
    with client.stream("GET", f"{location}/events") as events:
        for line in events.iter_lines():
            if line.startswith("data:"):
                job = json.loads(line.removeprefix("data:"))
    return job


def ids(found: list[Json]) -> list[str]:
    return [item["memory"]["id"] for item in found]


def error_and_fix(client: httpx2.Client) -> tuple[str, str]:
    error = remember(client, ERROR_TEXT, "ERROR", title="Checkout timeouts")
    fix = remember(
        client,
        FIX_TEXT,
        "SOLUTION",
        relations=[{"target_id": error, "relation_type": "FIXES"}],
    )
    return error, fix


# The thirteen required behaviors.


def test_01_the_system_is_healthy(ann: httpx2.Client) -> None:
    assert ann.get("/readyz").json()["status"] == "ready"


@pytest.mark.parametrize("prefix", ["", "/api"])
def test_02_the_graph_is_enabled_and_counted(ann: httpx2.Client, prefix: str) -> None:
    error_and_fix(ann)
    stats = ann.get(f"{prefix}/graph/stats").json()
    assert stats == {
        "enabled": True,
        "memory_nodes": 2,
        "relationships": 1,
        "relationships_by_type": {"FIXES": 1},
    }


def test_03_memories_have_types_and_relations(ann: httpx2.Client) -> None:
    error, fix = error_and_fix(ann)
    memory = ann.get(f"/memories/{fix}").json()
    assert (memory["type"], memory["content"]) == ("SOLUTION", FIX_TEXT)
    assert [(one["target_id"], one["relation_type"]) for one in memory["relations"]] == [
        (error, "FIXES")
    ]
    back = ann.get(f"/memories/{error}").json()
    assert back["relations"] == []
    assert [one["source_id"] for one in back["incoming_relations"]] == [fix]


def test_04_a_relation_can_be_created_explicitly(ann: httpx2.Client) -> None:
    error, fix = remember(ann, ERROR_TEXT, "ERROR"), remember(ann, FIX_TEXT, "SOLUTION")
    answer = relate(ann, fix, "FIXES", error, strength=0.9)
    assert answer.status_code == 201
    data = answer.json()
    assert (data["target_id"], data["relation_type"], data["strength"]) == (error, "FIXES", 0.9)
    assert data["inferred"] is False
    assert ann.get(f"/api/memories/{fix}").json()["relations"] == [data]


def test_05_without_expansion_only_similar_memories_are_found(ann: httpx2.Client) -> None:
    error, fix = error_and_fix(ann)
    found = search(ann, "Why does checkout time out?")
    assert ids(found)[0] == error
    assert fix not in ids(found)
    assert found[0]["score"] == found[0]["composite_score"] > 0


def test_06_with_expansion_the_fix_is_found_with_its_score_and_path(ann: httpx2.Client) -> None:
    error, fix = error_and_fix(ann)
    found = search(ann, "Why does checkout time out?", expand=True)
    assert ids(found) == [error, fix]
    seed, reached = found
    assert reached["score"] == pytest.approx(seed["score"] * 1.0 * 0.6 * 0.8)
    assert [(step["relation_type"], step["weight"]) for step in reached["path"]] == [("FIXES", 1.0)]


def test_07_expansion_adds_results_and_loses_none(ann: httpx2.Client) -> None:
    error_and_fix(ann)
    remember(ann, NOTE_TEXT)
    plain = search(ann, "checkout timeouts")
    expanded = search(ann, "checkout timeouts", expand=True)
    assert set(ids(plain)) < set(ids(expanded))


@pytest.mark.parametrize("mode", ["hybrid", "vector", "text"])
def test_08_every_search_mode_is_expanded(ann: httpx2.Client, mode: str) -> None:
    error, fix = error_and_fix(ann)
    answer = ann.post(
        f"/memories/search?search_mode={mode}&use_graph_expansion=true",
        json={"query": "checkout requests time out", "limit": 5},
    )
    assert answer.status_code == 200, answer.text
    assert {error, fix} <= set(ids(answer.json()))
    assert answer.headers["x-search-status"] == "OK"


def test_09_fixes_weighs_more_than_related(ann: httpx2.Client) -> None:
    error = remember(ann, ERROR_TEXT, "ERROR")
    related, fix = remember(ann, NOTE_TEXT), remember(ann, FIX_TEXT, "SOLUTION")
    relate(ann, related, "RELATED", error)
    relate(ann, fix, "FIXES", error)
    found = {item["memory"]["id"]: item for item in search(ann, "checkout timeouts", expand=True)}
    assert found[related]["composite_score"] == pytest.approx(0.7 * found[fix]["composite_score"])


def test_10_two_hops_reach_memories_that_one_hop_does_not(ann: httpx2.Client) -> None:
    error, fix = error_and_fix(ann)
    note = remember(ann, NOTE_TEXT)
    relate(ann, note, "FOLLOWS", fix)
    one = search(ann, "checkout timeouts", expand=True)
    two = search(ann, "checkout timeouts", expand=True, expansion={"max_hops": 2})
    assert set(ids(one)) == {error, fix}
    assert set(ids(two)) == {error, fix, note}
    assert [item["depth"] for item in two] == [0, 1, 2]


def test_11_expansion_is_fast_and_reports_its_cost(ann: httpx2.Client) -> None:
    error_and_fix(ann)
    path = "/memories/search?use_cache=false&use_graph_expansion="
    times: dict[str, list[float]] = {"false": [], "true": []}
    for place in range(10):
        for expand, seen in times.items():
            began = perf_counter()
            answer = ann.post(path + expand, json={"query": f"checkout timeouts {place}"})
            seen.append(perf_counter() - began)
    data = dict(part.split("=") for part in answer.headers["x-expansion-status"].split("; ")[1:])
    assert float(data["elapsed_ms"]) < 150
    assert float(data["utilisation"]) == 1.0
    assert median(times["true"]) - median(times["false"]) < 0.15


def test_12_no_memory_is_listed_twice(ann: httpx2.Client) -> None:
    error, fix = error_and_fix(ann)
    relate(ann, fix, "RELATED", error)
    relate(ann, error, "CAUSES", fix)
    found = search(ann, f"{ERROR_TEXT} {FIX_TEXT}", expand=True, expansion={"max_hops": 3})
    assert sorted(ids(found)) == sorted({error, fix})


def test_13_deleted_relations_and_memories_are_gone(ann: httpx2.Client) -> None:
    error, fix = error_and_fix(ann)
    assert ann.delete(f"/memories/{fix}/relations/{error}").json() == {"deleted": 1}
    assert ann.get(f"/memories/{fix}").json()["relations"] == []
    assert ann.delete(f"/memories/{fix}/relations/{error}").status_code == 404
    relate(ann, fix, "FIXES", error)
    assert ann.delete(f"/memories/{error}").status_code == 200
    assert ann.get(f"/memories/{error}").status_code == 404
    assert ann.get(f"/memories/{fix}").json()["relations"] == []
    assert error not in ids(search(ann, ERROR_TEXT, expand=True))
    assert ann.get("/graph/stats").json()["relationships"] == 0


# Further behaviors.


def test_the_command_line_adds_relates_finds_and_deletes_memories(system: System) -> None:
    def data(*arguments: str) -> Json:
        ended = system.braid("memories", *arguments, "--json")
        assert ended.returncode == 0, ended.stderr
        found: Json = json.loads(ended.stdout)
        return found

    error = data("add", ERROR_TEXT, "--type", "error", "--title", "Checkout timeouts")["id"]
    fix = data("add", FIX_TEXT, "--type", "solution", "--relation", f"FIXES:{error}")["id"]
    try:
        assert data("get", fix)["relations"][0]["relation_type"] == "FIXES"
        found = data("search", "Why does checkout time out?", "--expand")["results"]
        assert ids(found) == [error, fix]
        shown = system.braid("memories", "search", "Why does checkout time out?", "--hops", "1")
        assert "by FIXES" in shown.stdout
        assert data("unrelate", fix, error) == {"deleted": 1}
        assert data("relate", fix, "related", error)["relation_type"] == "RELATED"
        assert data("stats")["relationships_by_type"] == {"RELATED": 1}
        assert {one["id"] for one in data("list")["memories"]} == {error, fix}
        assert data("infer")["examined"] == 2
        assert data("infer", "--background")["job"]["kind"] == "infer"
        wrong = system.braid("memories", "relate", fix, "MENDS", error)
        assert (wrong.returncode, "relation_type" in wrong.stderr) == (2, True)
    finally:
        for memory in (error, fix):
            assert data("delete", memory) == {"deleted": 1}
    assert "No memories." in system.braid("memories", "list").stdout


def test_the_python_client_stores_relates_and_finds(system: System, ann: httpx2.Client) -> None:
    with Braid(system.stack.addresses["agent_orchestrator"], api_key=ANN_KEY, timeout=30) as braid:
        error = braid.create_memory(ERROR_TEXT, type="error", skip_inference=True).memory.id
        fixes = MemoryRelationInput(target_id=error, relation_type=CHUNK_RELATION_TYPE_FIXES)
        fix = braid.create_memory(FIX_TEXT, relations=[fixes], skip_inference=True).memory.id
        assert [one.target_id for one in braid.get_memory(fix).relations] == [error]
        found = braid.search_memories("checkout timeouts", expansion=FORMULA)
        assert [hit.memory.id for hit in found.hits] == [error, fix]
        assert found.expansion.new_count == 1
        assert braid.unrelate_memory(fix, error).deleted_count == 1
        related = braid.relate_memory(fix, error, "related", strength=0.5)
        assert related.relation.strength == 0.5
        assert braid.get_memory_stats().relation_count == 1
        assert [one.id for one in braid.list_memories(page_size=1)] == [fix, error]
        braid.delete_memory(fix)
    assert ann.get(f"/memories/{error}").json()["incoming_relations"] == []


def test_a_contradiction_lowers_a_score_and_adds_no_results(ann: httpx2.Client) -> None:
    right = remember(ann, "The limit of the payment queue is 500 messages a second.")
    wrong = remember(ann, "The limit of the payment queue is 100 messages a second.")
    stray = remember(ann, NOTE_TEXT)
    relate(ann, right, "CONTRADICTS", wrong)
    relate(ann, right, "CONTRADICTS", stray)
    question = "What is the limit of the payment queue in messages a second?"
    plain = {item["memory"]["id"]: item["score"] for item in search(ann, question)}
    found = {item["memory"]["id"]: item for item in search(ann, question, expand=True)}
    assert set(found) == {right, wrong}
    lowered = plain[wrong] - 0.5 * 0.6 * 0.8 * plain[right]
    assert found[wrong]["composite_score"] == pytest.approx(lowered)
    assert found[wrong]["score"] == pytest.approx(plain[wrong])


def test_context_keeps_the_ranking_and_lists_related_memories(ann: httpx2.Client) -> None:
    error, fix = error_and_fix(ann)
    found = search(ann, "checkout timeouts", expand=True, context=True)
    assert ids(found) == [error]
    assert ids(found[0]["related"]) == [fix]


def test_each_space_has_its_own_memory_types(ann: httpx2.Client, other: httpx2.Client) -> None:
    defaults = ann.get("/memories/types").json()["types"]
    assert {"ERROR", "CONTEXT", "LEARNING", "PATTERN", "DECISION", "SOLUTION"} <= set(defaults)
    refused = ann.post("/memories", json={"content": "x", "type": "RECIPE"})
    assert (refused.status_code, refused.json()["fields"][0]["field"]) == (422, "type")
    put = ann.put("/memories/types", json={"types": ["recipe", "NOTE"]}).json()["types"]
    assert put == ["NOTE", "RECIPE", "SESSION_SUMMARY"]
    try:
        remember(ann, "Boil the pasta in salted water.", "recipe")
        assert ann.post("/memories", json={"content": "x", "type": "ERROR"}).status_code == 422
        assert other.get("/memories/types").json()["types"] == defaults
    finally:
        ann.put("/memories/types", json={"types": defaults})


def test_the_memories_of_a_session_are_chained_and_summarized(ann: httpx2.Client) -> None:
    texts = (ERROR_TEXT, FIX_TEXT, "After the change no request of checkout timed out any more.")
    first, second, third = (remember(ann, text, session_id="inc-1") for text in texts)
    follows = [(second, first), (third, second)]
    for later, earlier in follows:
        relations = ann.get(f"/memories/{later}").json()["relations"]
        assert [(r["target_id"], r["relation_type"]) for r in relations] == [(earlier, "FOLLOWS")]
    closed = ann.post("/memories/sessions/close", json={"session_id": "inc-1"}).json()
    summary = closed["summary"]
    assert (closed["memories"], summary["type"]) == (3, "SESSION_SUMMARY")
    assert "time out" in summary["content"]
    joined = ann.get(f"/memories/{summary['id']}").json()["incoming_relations"]
    assert {one["source_id"] for one in joined} == {first, second, third}
    assert {one["relation_type"] for one in joined} == {"PART_OF"}
    again = ann.post("/memories/sessions/close", json={"session_id": "inc-1"}).json()
    assert again["summary"]["id"] == summary["id"]
    late = ann.post("/memories", json={"content": "x", "session_id": "inc-1"})
    assert late.status_code == 409
    unknown = ann.post("/memories/sessions/close", json={"session_id": "nothing"})
    assert unknown.status_code == 404


def test_relations_are_inferred_on_write_and_not_recreated_after_deletion(
    ann: httpx2.Client,
) -> None:
    error = remember(ann, ERROR_TEXT, "ERROR")
    body = {
        "type": "SOLUTION",
        "content": "Checkout requests no longer time out: the connection pool of the orders database was enlarged.",
    }
    created = ann.post("/memories", json=body).json()
    (inferred,) = created["relations"]
    assert (inferred["target_id"], inferred["relation_type"]) == (error, "FIXES")
    assert inferred["inferred"] is True
    assert inferred["evidence"].startswith("error_fix: cosine 0.")
    ann.delete(f"/memories/{created['id']}/relations/{error}").raise_for_status()
    ran = ann.post("/inference/run").json()
    assert (ran["examined"], ran["created"]) == (2, 0)
    assert ann.get(f"/memories/{created['id']}").json()["relations"] == []


def test_similar_memories_are_related_by_an_inference_run(ann: httpx2.Client) -> None:
    older = remember(ann, "The orders database runs on PostgreSQL 16 in Frankfurt.")
    newer = remember(ann, "The orders database runs on PostgreSQL 16 in the Frankfurt region.")
    remember(ann, NOTE_TEXT)
    ran = ann.post("/api/inference/run").json()
    assert (ran["created"], ran["created_by_method"]) == (1, {"similarity": 1})
    (similar,) = ann.get(f"/memories/{newer}").json()["relations"]
    assert (similar["target_id"], similar["relation_type"]) == (older, "SIMILAR_TO")
    assert 0.75 <= similar["strength"] <= 1
    assert ann.post("/inference/run").json()["created"] == 0


def test_an_inference_can_run_as_a_job_that_is_listed(ann: httpx2.Client) -> None:
    older = remember(ann, "The orders database runs on PostgreSQL 16 in Frankfurt.")
    newer = remember(ann, "The orders database runs on PostgreSQL 16 in the Frankfurt region.")
    answer = ann.post("/inference/jobs")
    assert answer.status_code == 202
    job = ended(ann, answer.headers["location"])
    assert (job["kind"], job["state"]) == ("infer", "SUCCEEDED")
    assert job["inferred"] == {
        "examined": 2,
        "created": 1,
        "created_by_method": {"similarity": 1},
        "removed": 0,
    }
    (similar,) = ann.get(f"/memories/{newer}").json()["relations"]
    assert (similar["target_id"], similar["inferred"]) == (older, True)
    listed = ann.get("/api/jobs?kind=infer").json()["jobs"]
    assert job["id"] in [one["id"] for one in listed]
    assert ann.post("/api/inference/jobs?limit=-1").status_code == 422


def test_memories_that_are_found_together_become_related(ann: httpx2.Client) -> None:
    first = remember(ann, "Blue whales sing at very low frequencies across the ocean.")
    second = remember(ann, "The accountant files tax returns for whales of the casino.")
    for place in range(4):
        answer = search(ann, f"whales {place}", min_score=0.01)
        assert set(ids(answer)) == {first, second}
    ran = ann.post("/inference/run").json()
    assert ran["created_by_method"] == {"co_access": 1}
    stats = ann.get("/graph/stats").json()["relationships_by_type"]
    assert stats == {"RELATED": 1}


def test_reads_and_search_hits_are_counted(ann: httpx2.Client) -> None:
    memory = remember(ann, ERROR_TEXT)
    assert ann.get(f"/memories/{memory}").json()["access_count"] == 0
    search(ann, "checkout timeouts")
    counted = ann.get(f"/memories/{memory}").json()
    assert counted["access_count"] == 2
    assert counted["last_accessed_at"]


def test_memories_are_listed_in_pages_and_filtered(ann: httpx2.Client) -> None:
    made = [remember(ann, f"Note {place}.", "NOTE", tags=[f"t{place}"]) for place in range(3)]
    error = remember(ann, ERROR_TEXT, "ERROR")
    page = ann.get("/memories?type=note&limit=2").json()
    rest = ann.get(f"/memories?type=note&limit=2&cursor={page['next_cursor']}").json()
    listed = [one["id"] for one in (*page["memories"], *rest["memories"])]
    assert listed == list(reversed(made))
    assert rest["next_cursor"] is None
    assert ids(search(ann, "note", tags=["t1"], min_score=0)) == [made[1]]
    assert ids(search(ann, "note", types=["error"], min_score=0)) == [error]


def test_documents_and_memories_are_not_mixed(ann: httpx2.Client) -> None:
    remember(ann, ERROR_TEXT, title="Checkout timeouts")
    for kind in ("hybrid", "comprehensive", "vector", "text"):
        answer = ann.post(f"/api/search/{kind}", json={"query": ERROR_TEXT})
        assert answer.json()["results"] == [], kind
    assert ann.get("/api/documents").json()["documents"] == []
    assert ann.get("/api/graph/status").json()["episodes"] == 0


def test_a_comprehensive_search_includes_memories_on_request(ann: httpx2.Client) -> None:
    remember(ann, ERROR_TEXT, "ERROR", title="Checkout timeouts")
    asked = {"query": ERROR_TEXT, "use_memories": True}
    answer = ann.post("/api/search/comprehensive", json=asked).json()
    [found] = answer["results"]
    assert (found["title"], found["memory_type"]) == ("Checkout timeouts", "ERROR")
    assert found["score"] == found["scores"]["memory"]["share"] > 0.5
    legs = {leg["name"]: leg["status"] for leg in answer["legs"]}
    assert legs == {"vector": "NO_MATCH", "graph": "NO_MATCH", "memory": "OK"}


def test_the_command_line_searches_memories_on_request(system: System) -> None:
    title = "Note on the empty pool"
    added = system.braid("memories", "add", ERROR_TEXT, "--title", title, "--json")
    try:
        found = system.braid("search", ERROR_TEXT, "--memories")
        assert title in found.stdout
        assert title not in system.braid("search", ERROR_TEXT).stdout
        refused = system.braid("search", ERROR_TEXT, "--memories", "--mode", "text")
        assert (refused.returncode, "--memories" in refused.stderr) == (2, True)
    finally:
        system.braid("memories", "delete", json.loads(added.stdout)["id"])


def test_other_users_cannot_see_or_relate_a_memory(
    ann: httpx2.Client, ben: httpx2.Client, other: httpx2.Client
) -> None:
    mine = remember(ann, ERROR_TEXT)
    for stranger in (ben, other):
        theirs = remember(stranger, ERROR_TEXT)
        try:
            assert stranger.get(f"/memories/{mine}").status_code == 404
            assert stranger.delete(f"/memories/{mine}").status_code == 404
            assert relate(stranger, mine, "RELATED", theirs).status_code == 404
            refused = relate(stranger, theirs, "RELATED", mine)
            assert (refused.status_code, refused.json()["fields"][0]["field"]) == (422, "target_id")
            refused = stranger.post(
                "/memories",
                json={
                    "content": "x",
                    "relations": [{"target_id": mine, "relation_type": "FIXES"}],
                },
            )
            assert refused.json()["fields"][0]["field"] == "relations[0].target_id"
            assert ids(search(stranger, ERROR_TEXT, expand=True)) == [theirs]
        finally:
            stranger.delete(f"/memories/{theirs}").raise_for_status()
    assert ann.get(f"/memories/{mine}").json()["incoming_relations"] == []


def test_a_relation_to_a_deleted_memory_is_rejected(ann: httpx2.Client) -> None:
    kept, gone = remember(ann, ERROR_TEXT), remember(ann, FIX_TEXT)
    ann.delete(f"/memories/{gone}").raise_for_status()
    refused = relate(ann, kept, "RELATED", gone)
    assert (refused.status_code, refused.json()["fields"][0]["field"]) == (422, "target_id")
    assert relate(ann, gone, "RELATED", kept).status_code == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"relation_type": "MENDS"}, "relation_type"),
        ({"strength": 1.5}, "strength"),
        ({"strength": -0.1}, "strength"),
        ({"target_id": "no-id"}, "target_id"),
        ({"valid_at": "2025-01-01", "invalid_at": "2024-01-01"}, "body"),
    ],
)
def test_an_invalid_relation_is_rejected_with_its_field(
    ann: httpx2.Client, body: Json, field: str
) -> None:
    source, target = remember(ann, ERROR_TEXT), remember(ann, FIX_TEXT)
    data = {"target_id": target, "relation_type": "FIXES", **body}
    refused = ann.post(f"/memories/{source}/relations", json=data)
    assert refused.status_code == 422, refused.text
    assert refused.json()["fields"][0]["field"] == field
    assert ann.get("/graph/stats").json()["relationships"] == 0


def test_a_relation_of_a_memory_to_itself_is_rejected(ann: httpx2.Client) -> None:
    memory = remember(ann, ERROR_TEXT)
    refused = relate(ann, memory, "RELATED", memory)
    assert (refused.status_code, refused.json()["fields"][0]["field"]) == (422, "target_id")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": " "}, "query"),
        ({"limit": 0}, "limit"),
        ({"expansion": {"max_hops": 4}}, "expansion.max_hops"),
        ({"expansion": {"relation_types": ["MENDS"]}}, "expansion.relation_types[0]"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_an_invalid_search_is_rejected_with_its_field(
    ann: httpx2.Client, body: Json, field: str
) -> None:
    refused = ann.post(SEARCH + "true", json={"query": "checkout", **body})
    assert refused.status_code == 422, refused.text
    assert refused.json()["fields"][0]["field"] == field


def test_invalid_memories_are_rejected_and_nothing_is_stored(ann: httpx2.Client) -> None:
    for body, field in (
        ({"content": " "}, "content"),
        ({"content": "x" * 32_769}, "content"),
        ({"content": "x", "importance": 2}, "importance"),
        ({"content": "x", "tags": ["a", "a"]}, "tags"),
        (
            {
                "content": "x",
                "relations": [{"target_id": str(uuid.uuid4()), "relation_type": "FIXES"}],
            },
            "relations[0].target_id",
        ),
    ):
        refused = ann.post("/memories", json=body)
        assert refused.status_code == 422, refused.text
        assert refused.json()["fields"][0]["field"] == field
    assert ann.get("/graph/stats").json()["memory_nodes"] == 0
    assert ann.post("/memories/search?search_mode=smell", json={"query": "x"}).status_code == 422
    assert ann.get("/memories/no-id").json()["fields"][0]["field"] == "id"
    assert ann.get(f"/memories/{uuid.uuid4()}").status_code == 404
