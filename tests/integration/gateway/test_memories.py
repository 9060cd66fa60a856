"""Typed memories in REST and the command: forwarded requests, responses and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from braid.agent.v1 import memories_pb2
from braid.common.v1 import expansion_pb2, legs_pb2, reranking_pb2, retrieval_pb2
from braid.graph.v1 import expansion_pb2 as graph_expansion_pb2
from braid.graph.v1.relations_pb2 import CHUNK_RELATION_TYPE_FIXES as FIXES
from services.runtime.times import to_timestamp
from tests.integration.gateway.command import braid
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import DAY

Json = dict[str, Any]
FIX = "1f1cd320-6975-46ea-b1c7-e444c9b7a9e7"
ERROR = "e4447c42-3e4b-44cc-863e-347f5787495f"
PREFIXES = ["", "/api"]
FORMULA = expansion_pb2.EXPANSION_MODE_FORMULA
FOUND = memories_pb2.SearchMemoriesResponse(
    hits=[
        memories_pb2.MemoryHit(
            memory=memories_pb2.Memory(id=ERROR, type="ERROR", content="Timeouts."),
            score=0.8,
            composite_score=0.7,
        )
    ],
    status=legs_pb2.LEG_STATUS_OK,
)
DEGRADED = expansion_pb2.ExpansionReport(
    mode=FORMULA,
    status=legs_pb2.LEG_STATUS_DEGRADED,
    reason=legs_pb2.LEG_REASON_STORE_UNAVAILABLE,
)
BAD_RELATIONS: list[tuple[Json, str]] = [
    ({"relation_type": "MENDS"}, "relation_type"),
    ({"relation_type": None}, "relation_type"),
    ({"strength": -0.1}, "strength"),
    ({"strength": 1.1}, "strength"),
    ({"strength": "strong"}, "strength"),
    ({"target_id": "no-id"}, "target_id"),
    ({"weight": 1}, "weight"),
]


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_a_search_has_its_documented_defaults(served: Served, prefix: str) -> None:
    served.script.answer("SearchMemories", FOUND)
    answer = await served.http.post(f"{prefix}/memories/search", json={"query": "timeouts"})
    assert served.script.seen[0].message == memories_pb2.SearchMemoriesRequest(
        query="timeouts",
        mode=memories_pb2.MEMORY_SEARCH_MODE_HYBRID,
        cache=retrieval_pb2.CACHE_MODE_USE,
    )
    [found] = answer.json()
    assert (found["memory"]["id"], found["score"], found["composite_score"]) == (ERROR, 0.8, 0.7)
    assert answer.headers["x-search-status"] == "OK"
    assert "x-expansion-status" not in answer.headers


async def test_without_a_match_the_nearest_memories_are_named_apart(served: Served) -> None:
    nearest = memories_pb2.SearchMemoriesResponse(
        nearest=FOUND.hits, status=legs_pb2.LEG_STATUS_NO_MATCH
    )
    served.script.answer("SearchMemories", nearest)
    answer = await served.http.post("/api/memories/search", json={"query": "timeouts"})
    assert answer.json() == []
    assert answer.headers["x-search-status"].startswith("NO_MATCH")
    assert answer.headers["x-nearest-memories"] == ERROR
    shown = await braid(served, "memories", "search", "timeouts")
    assert "Nearest, but not considered relevant" in shown.out
    assert ERROR in shown.out


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_a_search_forwards_every_field(served: Served, prefix: str) -> None:
    served.script.answer("SearchMemories", FOUND)
    switches = "search_mode=text&use_cache=false&use_reranking=false&use_graph_expansion=true"
    body = {
        "query": "timeouts",
        "limit": 3,
        "types": ["error"],
        "tags": ["checkout"],
        "session_id": "inc-1",
        "min_score": 0.2,
        "context": True,
        "expansion": {
            "hops": 2,
            "relation_types": ["fixes"],
            "factor_mode": "adaptive",
            "factor": 0.5,
            "min_strength": 0.25,
            "max_degree": 7,
            "traversal_time": "2024-04-18",
        },
    }
    await served.http.post(f"{prefix}/memories/search?{switches}", json=body)
    assert served.script.seen[0].message == memories_pb2.SearchMemoriesRequest(
        query="timeouts",
        limit=3,
        mode=memories_pb2.MEMORY_SEARCH_MODE_TEXT,
        types=["error"],
        tags=["checkout"],
        session_id="inc-1",
        min_score=0.2,
        cache=retrieval_pb2.CACHE_MODE_BYPASS,
        rerank=reranking_pb2.RERANK_MODE_NONE,
        expansion=expansion_pb2.ExpansionOptions(
            mode=FORMULA,
            max_hops=2,
            relation_types=["FIXES"],
            factor_mode=expansion_pb2.EXPANSION_FACTOR_ADAPTIVE,
            factor=0.5,
            min_strength=0.25,
            max_degree=7,
            traversal_time=to_timestamp(DAY),
        ),
        keep_ranking=True,
    )


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(("body", "field"), BAD_RELATIONS)
async def test_an_invalid_relation_is_refused_naming_the_field(
    served: Served, prefix: str, body: Json, field: str
) -> None:
    relation = {"relation_type": "FIXES", "target_id": ERROR, **body}
    related = await served.http.post(f"{prefix}/memories/{FIX}/relations", json=relation)
    assert (related.status_code, [one["field"] for one in related.json()["fields"]]) == (
        422,
        [field],
    )
    memory = {"content": "Raised the limit.", "relations": [relation]}
    created = await served.http.post(f"{prefix}/memories", json=memory)
    assert (created.status_code, [one["field"] for one in created.json()["fields"]]) == (
        422,
        [f"relations[0].{field}"],
    )
    assert served.script.seen == []


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": ""}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": 51}, "limit"),
        ({"min_score": 1.1}, "min_score"),
        ({"expansion": {"max_hops": 0}}, "expansion.max_hops"),
        ({"expansion": {"max_hops": 4}}, "expansion.max_hops"),
        ({"expansion": {"relation_types": ["MENDS"]}}, "expansion.relation_types[0]"),
        ({"expansion": {"min_strength": 1.1}}, "expansion.min_strength"),
        ({"expansion": {"factor": -0.1}}, "expansion.factor"),
        ({"expansion": {"max_degree": 0}}, "expansion.max_degree"),
        ({"expansion": {"mode": "pagerank"}}, "expansion.mode"),
    ],
)
async def test_an_invalid_search_is_refused_naming_the_field(
    served: Served, prefix: str, body: Json, field: str
) -> None:
    path = f"{prefix}/memories/search?use_graph_expansion=true"
    refused = await served.http.post(path, json={"query": "timeouts", **body})
    assert refused.status_code == 422, refused.text
    assert [one["field"] for one in refused.json()["fields"]] == [field]
    assert served.script.seen == []


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("relate", FIX, "MENDS", ERROR), "relation_type"),
        (("relate", FIX, "FIXES", ERROR, "--strength", "1.1"), "strength"),
        (("relate", FIX, "FIXES", ERROR, "--strength", "-1"), "strength"),
        (("relate", FIX, "FIXES", "no-id"), "target_id"),
        (("add", "x", "--relation", f"MENDS:{ERROR}"), "relations[0].relation_type"),
        (("add", "x", "--relation", "FIXES"), "FIXES:ID"),
        (("search", "timeouts", "--hops", "0"), "expansion.max_hops"),
        (("search", "timeouts", "--hops", "4"), "expansion.max_hops"),
        (("search", "timeouts", "--limit", "51"), "limit"),
        (("unrelate", FIX, ERROR, "--type", "MENDS"), "relation_type"),
    ],
)
async def test_the_command_reports_an_invalid_argument_in_one_line(
    served: Served, words: tuple[str, ...], field: str
) -> None:
    ended = await braid(served, "memories", *words)
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    assert field in ended.err
    assert served.script.seen == []


async def test_the_command_removes_relations_of_one_type(served: Served) -> None:
    answer = memories_pb2.DeleteMemoryRelationResponse(deleted_count=1)
    served.script.answer("DeleteMemoryRelation", answer)
    ended = await braid(served, "memories", "unrelate", FIX, ERROR, "--type", "fixes")
    asked = served.script.seen[0].message
    assert (ended.code, "deleted: 1" in ended.out) == (0, True)
    assert (asked.memory_id, asked.target_id, asked.relation_type) == (FIX, ERROR, FIXES)


async def test_rest_and_the_command_report_a_search_that_could_not_be_expanded(
    served: Served,
) -> None:
    unexpanded = memories_pb2.SearchMemoriesResponse(expansion=DEGRADED)
    unexpanded.MergeFrom(FOUND)
    served.script.answer("SearchMemories", unexpanded)
    path = "/memories/search?use_graph_expansion=true"
    answer = await served.http.post(path, json={"query": "timeouts"})
    assert answer.headers["x-expansion-status"].startswith("DEGRADED; reason=STORE_UNAVAILABLE; ")
    shown = await braid(served, "memories", "search", "timeouts", "--expand", "--tag", "checkout")
    assert (shown.code, "expansion DEGRADED; reason=STORE_UNAVAILABLE" in shown.out) == (4, True)
    assert served.script.seen[-1].message.tags == ["checkout"]
    details = (await braid(served, "memories", "search", "timeouts", "--expand", "--json")).json()
    assert [one["memory"]["id"] for one in details["results"]] == [ERROR]
    assert (details["search"], details["expansion"].split(";")[0]) == ("OK", "DEGRADED")


async def test_the_statistics_of_an_expansion_are_in_a_header(served: Served) -> None:
    report = expansion_pb2.ExpansionReport(
        mode=FORMULA,
        status=legs_pb2.LEG_STATUS_OK,
        initial_count=4,
        expanded_count=5,
        new_count=2,
        kept_count=3,
        dropped_count=1,
        expansion_rate=0.5,
        utilisation=0.75,
    )
    expanded = memories_pb2.SearchMemoriesResponse(expansion=report)
    served.script.answer("SearchMemories", expanded)
    path = "/memories/search?use_graph_expansion=true"
    answer = await served.http.post(path, json={"query": "timeouts"})
    status, *details = answer.headers["x-expansion-status"].split("; ")
    assert status == "OK"
    assert dict(one.split("=") for one in details) == {
        "elapsed_ms": "0.0",
        "initial_count": "4",
        "expanded_count": "5",
        "new_results": "2",
        "kept_results": "3",
        "dropped_results": "1",
        "expansion_rate": "0.500",
        "utilisation": "0.750",
    }


async def test_the_command_shows_related_memories_without_changing_the_ranking(
    served: Served,
) -> None:
    step = graph_expansion_pb2.ExpansionStep(from_id=ERROR, to_id=FIX, relation_type=FIXES)
    related = memories_pb2.MemoryHit(
        memory=memories_pb2.Memory(id=FIX, type="SOLUTION", content="Raised the limit."),
        path=[step],
    )
    answer = memories_pb2.SearchMemoriesResponse(related=[related])
    answer.MergeFrom(FOUND)
    served.script.answer("SearchMemories", answer)
    shown = await braid(served, "memories", "search", "timeouts", "--context")
    asked = served.script.seen[0].message
    assert (asked.keep_ranking, asked.expansion.mode) == (True, FORMULA)
    assert f"FIXES {FIX}: Raised the limit." in shown.out
