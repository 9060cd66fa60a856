"""`POST /api/search/…`: the requests to the services, and the form of the responses."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from braid.agent.v1 import search_pb2 as agent
from braid.common.v1 import expansion_pb2, legs_pb2, reranking_pb2, retrieval_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import chunks_pb2
from braid.vector.v1 import search_pb2 as vector
from services.runtime.times import to_timestamp
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import (
    CHUNK_HIT,
    CHUNK_JSON,
    COMPREHENSIVE,
    COMPREHENSIVE_JSON,
    DAY,
    FACT_HIT,
    FACT_HIT_JSON,
)

OK = legs_pb2.LEG_STATUS_OK
FOUND: dict[str, Any] = {"hits": [CHUNK_HIT], "result_count": 1, "space_revision": 7}
BY_VECTOR: dict[str, Any] = {
    "vector_path": retrieval_pb2.VECTOR_PATH_INDEX,
    "embedding_source": retrieval_pb2.EMBEDDING_SOURCE_STORED,
}


def leg(name: str) -> legs_pb2.LegReport:
    return legs_pb2.LegReport(
        leg=legs_pb2.Leg.Value(f"LEG_{name.upper()}"),
        status=OK,
        elapsed=Duration(nanos=2_000_000),
        cached=True,
    )


CHUNK_SEARCHES = [
    (
        "vector",
        "VectorSearch",
        vector.VectorSearchResponse(leg=leg("vector"), **FOUND, **BY_VECTOR),
    ),
    ("text", "TextSearch", vector.TextSearchResponse(leg=leg("text"), **FOUND)),
    (
        "hybrid",
        "HybridSearch",
        vector.HybridSearchResponse(leg=leg("hybrid"), **FOUND, **BY_VECTOR),
    ),
]


@pytest.mark.parametrize(("mode", "rpc", "answer"), CHUNK_SEARCHES)
async def test_a_chunk_search_returns_hits_and_its_leg(
    served: Served, mode: str, rpc: str, answer: Any
) -> None:
    served.script.answer(rpc, answer)
    response = await served.http.post(f"/api/search/{mode}", json={"query": "INC-104"})
    body = response.json()
    took = body["legs"][0].pop("took_ms")
    assert response.status_code == 200
    assert took > 0
    hybrid = mode == "hybrid"
    steps: dict[str, Any] = {"expansion": None, "reranking": None, "nearest": []} if hybrid else {}
    assert body == {
        "results": [CHUNK_JSON | ({"contributions": {}, "expansion": None} if hybrid else {})],
        **steps,
        "legs": [{"name": mode, "status": "OK", "reason": None, "cached": True}],
        "total_results": 1,
        "embedding": None if mode == "text" else "stored",
        "vector_path": None if mode == "text" else "hnsw",
        "revision": 7,
    }


async def test_a_hybrid_search_forwards_every_field(served: Served) -> None:
    served.script.answer(
        "HybridSearch", vector.HybridSearchResponse(leg=legs_pb2.LegReport(status=OK))
    )
    body = {
        "query": "who",
        "limit": 3,
        "text_weight": 0.5,
        "fusion": "reciprocal_rank",
        "filter": {"document_ids": ["a"], "metadata": {"kind": "note"}},
        "as_of": "2024-04-18",
        "min_score": 0,
        "use_cache": False,
    }
    response = await served.http.post("/api/search/hybrid", json=body)
    expected = vector.HybridSearchRequest(
        query="who",
        limit=3,
        text_weight=0.5,
        fusion=chunks_pb2.FUSION_RECIPROCAL_RANK,
        as_of=to_timestamp(DAY),
        min_score=0,
        cache=retrieval_pb2.CACHE_MODE_BYPASS,
    )
    expected.filter.document_ids.append("a")
    expected.filter.metadata["kind"] = "note"
    assert response.status_code == 200
    assert served.script.seen[0].message == expected


async def test_omitted_fields_stay_unset_so_that_the_contracts_defaults_apply(
    served: Served,
) -> None:
    served.script.answer(
        "HybridSearch", vector.HybridSearchResponse(leg=legs_pb2.LegReport(status=OK))
    )
    await served.http.post("/api/search/hybrid", json={"query": "who"})
    assert served.script.seen[0].message == vector.HybridSearchRequest(query="who")


@pytest.mark.parametrize(
    ("match_name", "match"),
    [
        ("any", chunks_pb2.TEXT_MATCH_ANY),
        ("phrase", chunks_pb2.TEXT_MATCH_PHRASE),
        ("prefix", chunks_pb2.TEXT_MATCH_PREFIX),
    ],
)
async def test_a_text_search_forwards_its_match_mode(
    served: Served, match_name: str, match: chunks_pb2.TextMatch.ValueType
) -> None:
    served.script.answer("TextSearch", vector.TextSearchResponse(leg=legs_pb2.LegReport(status=OK)))
    body = {"query": "who", "match": match_name, "use_cache": True}
    await served.http.post("/api/search/text", json=body)
    assert served.script.seen[0].message == vector.TextSearchRequest(
        query="who", match=match, cache=retrieval_pb2.CACHE_MODE_USE
    )


async def test_a_degraded_leg_has_a_reason(served: Served) -> None:
    answer = vector.HybridSearchResponse(
        leg=legs_pb2.LegReport(
            status=legs_pb2.LEG_STATUS_DEGRADED, reason=legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE
        )
    )
    served.script.answer("HybridSearch", answer)
    response = await served.http.post("/api/search/hybrid", json={"query": "who"})
    leg = response.json()["legs"][0]
    assert (leg["status"], leg["reason"]) == ("DEGRADED", "EMBEDDER_UNAVAILABLE")


async def test_a_graph_search_returns_dated_facts(served: Served) -> None:
    answer = query_pb2.SearchFactsResponse(
        hits=[FACT_HIT],
        leg=legs_pb2.LegReport(status=OK),
        vector_path=retrieval_pb2.VECTOR_PATH_INDEX,
        space_revision=3,
    )
    served.script.answer("SearchFacts", answer)
    body = (await served.http.post("/api/search/graph", json={"query": "owner"})).json()
    assert body["results"] == [FACT_HIT_JSON]
    assert (body["vector_path"], body["revision"]) == ("index", 3)


@pytest.mark.parametrize(
    ("as_of", "kind"),
    [("2024-04-18T02:00:00+02:00", "instant"), ({"start": "2024-04-18"}, "range")],
)
async def test_a_graph_search_accepts_an_instant_or_a_time_range(
    served: Served, as_of: Any, kind: str
) -> None:
    served.script.answer(
        "SearchFacts", query_pb2.SearchFactsResponse(leg=legs_pb2.LegReport(status=OK))
    )
    await served.http.post("/api/search/graph", json={"query": "owner", "as_of": as_of})
    selector = served.script.seen[0].message.as_of
    start = selector.instant if kind == "instant" else selector.range.start_time
    assert selector.WhichOneof("at") == kind
    assert start == to_timestamp(DAY)


@pytest.mark.parametrize("as_of", ["2024", 2024, {"start": "2024"}, {"end": 1.5e9}])
async def test_a_year_alone_is_not_a_valid_time_of_a_graph_search(
    served: Served, as_of: Any
) -> None:
    response = await served.http.post("/api/search/graph", json={"query": "q", "as_of": as_of})
    assert response.status_code == 422
    assert "such as 2024-04-18" in response.json()["detail"]
    assert served.script.seen == []


async def test_a_comprehensive_search_returns_both_lists_the_fused_list_and_the_legs(
    served: Served,
) -> None:
    served.script.answer("ComprehensiveSearch", COMPREHENSIVE)
    body = {"query": "who", "use_vector": True, "use_graph": False, "limit": 5}
    body["use_cache"] = False
    response = await served.http.post("/api/search/comprehensive", json=body)
    assert response.json() == COMPREHENSIVE_JSON
    assert served.script.seen[0].message == agent.ComprehensiveSearchRequest(
        query="who",
        use_vector=True,
        use_graph=False,
        limit=5,
        cache=retrieval_pb2.CACHE_MODE_BYPASS,
    )


LISTS = {"results", "vector_results", "graph_results"}


@pytest.mark.parametrize(
    ("included", "asked", "shown"),
    [
        (["results"], [agent.ANSWER_PART_RESULTS], {"results"}),
        ("results", [agent.ANSWER_PART_RESULTS], {"results"}),
        (
            ["results", "legs"],
            [agent.ANSWER_PART_RESULTS, agent.ANSWER_PART_LEGS],
            {"results"},
        ),
        ("legs", [agent.ANSWER_PART_LEGS], set()),
        (
            ["vector_results", "graph_results"],
            [agent.ANSWER_PART_VECTOR_RESULTS, agent.ANSWER_PART_GRAPH_RESULTS],
            {"vector_results", "graph_results"},
        ),
        ([], [], LISTS),
    ],
)
async def test_a_response_contains_the_included_lists_and_always_the_legs(
    served: Served, included: Any, asked: list[int], shown: set[str]
) -> None:
    served.script.answer("ComprehensiveSearch", COMPREHENSIVE)
    body = {"query": "who", "include": included}
    answer = (await served.http.post("/api/search/comprehensive", json=body)).json()
    assert served.script.seen[0].message.include == asked
    assert answer == {
        name: value
        for name, value in COMPREHENSIVE_JSON.items()
        if name not in LISTS or name in shown
    }


async def test_the_fused_list_requested_alone_keeps_its_metadata(served: Served) -> None:
    fused = agent.SearchResult(id="c")
    fused.metadata["team"] = "payments"
    answer = agent.ComprehensiveSearchResponse(results=[fused])
    served.script.answer("ComprehensiveSearch", answer)
    body = {"query": "who", "include": "results"}
    response = await served.http.post("/api/search/comprehensive", json=body)
    assert response.json()["results"][0]["metadata"] == {"team": "payments"}


@pytest.mark.parametrize("included", ["everything", ["results", "facts"], 5, ["results"] * 11])
async def test_an_unknown_part_of_the_response_is_refused(served: Served, included: Any) -> None:
    body = {"query": "who", "include": included}
    response = await served.http.post("/api/search/comprehensive", json=body)
    assert response.status_code == 422
    assert response.json()["fields"][0]["field"].startswith("include")
    assert served.script.seen == []


EXPANDED = ["hybrid", "comprehensive"]
RPC = {"hybrid": "ExpandedHybridSearch", "comprehensive": "ComprehensiveSearch"}
ANSWERS: dict[str, Any] = {
    "hybrid": agent.ExpandedHybridSearchResponse,
    "comprehensive": agent.ComprehensiveSearchResponse,
}


@pytest.mark.parametrize("path", EXPANDED)
async def test_a_search_forwards_its_reranking_and_expansion_options(
    served: Served, path: str
) -> None:
    served.script.answer(RPC[path], ANSWERS[path]())
    body = {
        "query": "who",
        "rerank": "local",
        "expansion": {
            "mode": "formula",
            "hops": 3,
            "relation_types": ["FIXES"],
            "factor_mode": "adaptive",
            "factor": 0.5,
            "min_strength": 0.25,
            "max_degree": 7,
            "traversal_time": "2024-04-18",
        },
    }
    response = await served.http.post(f"/api/search/{path}", json=body)
    assert response.status_code == 200, response.text
    asked = served.script.seen[0].message
    assert asked.rerank == reranking_pb2.RERANK_MODE_LOCAL
    assert asked.expansion == expansion_pb2.ExpansionOptions(
        mode=expansion_pb2.EXPANSION_MODE_FORMULA,
        max_hops=3,
        relation_types=["FIXES"],
        factor_mode=expansion_pb2.EXPANSION_FACTOR_ADAPTIVE,
        factor=0.5,
        min_strength=0.25,
        max_degree=7,
        traversal_time=to_timestamp(DAY),
    )


@pytest.mark.parametrize("path", EXPANDED)
@pytest.mark.parametrize("mode", ["none", "formula", "QUERY_AWARE", "pagerank"])
async def test_an_expansion_can_be_given_by_the_name_of_its_mode(
    served: Served, path: str, mode: str
) -> None:
    served.script.answer(RPC[path], ANSWERS[path]())
    await served.http.post(f"/api/search/{path}", json={"query": "who", "expansion": mode})
    name = f"EXPANSION_MODE_{mode.upper()}"
    assert served.script.seen[0].message.expansion.mode == expansion_pb2.ExpansionMode.Value(name)


@pytest.mark.parametrize("path", EXPANDED)
async def test_a_response_reports_its_expansion(served: Served, path: str) -> None:
    report = expansion_pb2.ExpansionReport(
        mode=expansion_pb2.EXPANSION_MODE_FORMULA,
        status=legs_pb2.LEG_STATUS_DEGRADED,
        reason=legs_pb2.LEG_REASON_STORE_UNAVAILABLE,
        initial_count=2,
        expanded_count=3,
        new_count=1,
        kept_count=2,
        expansion_rate=0.5,
        incident_relation_count=4,
        followed_relation_count=3,
        utilisation=0.75,
    )
    report.elapsed.FromMilliseconds(12)
    served.script.answer(RPC[path], ANSWERS[path](expansion=report))
    body = {"query": "who", "expansion": "formula"}
    answer = (await served.http.post(f"/api/search/{path}", json=body)).json()
    assert answer["expansion"] == {
        "mode": "formula",
        "status": "DEGRADED",
        "reason": "STORE_UNAVAILABLE",
        "overhead_ms": 12.0,
        "initial_count": 2,
        "expanded_count": 3,
        "new_results": 1,
        "kept_results": 2,
        "dropped_results": 0,
        "expansion_rate": 0.5,
        "incident_relations": 4,
        "followed_relations": 3,
        "utilisation": 0.75,
    }


@pytest.mark.parametrize("path", EXPANDED)
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"expansion": "sideways"}, "expansion.mode"),
        ({"expansion": {"mode": "formula", "hops": 0}}, "expansion.hops"),
        ({"expansion": {"mode": "formula", "hops": 4}}, "expansion.hops"),
        ({"expansion": {"mode": "formula", "hops": 1.5}}, "expansion.hops"),
        ({"expansion": {"factor": 1.1}}, "expansion.factor"),
        ({"expansion": {"factor_mode": "wild"}}, "expansion.factor_mode"),
        ({"expansion": {"min_strength": -0.1}}, "expansion.min_strength"),
        ({"expansion": {"min_strength": 1.1}}, "expansion.min_strength"),
        ({"expansion": {"max_degree": 1001}}, "expansion.max_degree"),
        ({"expansion": {"relation_types": [""]}}, "expansion.relation_types[0]"),
        ({"expansion": {"relation_types": ["FIXES"] * 33}}, "expansion.relation_types"),
        ({"expansion": {"depth": 1}}, "expansion.depth"),
        ({"rerank": "magic"}, "rerank"),
    ],
)
async def test_invalid_expansion_options_are_refused_naming_the_field(
    served: Served, path: str, body: dict[str, Any], field: str
) -> None:
    response = await served.http.post(f"/api/search/{path}", json={"query": "who", **body})
    assert response.status_code == 422, response.text
    assert [one["field"] for one in response.json()["fields"]] == [field]
    assert served.script.seen == []
