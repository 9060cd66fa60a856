"""Exported telemetry: one trace for each request, metrics of all processes, and no text of a user."""

from __future__ import annotations

import re
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from services.runtime.instruments import INSTRUMENTS
from tests.e2e.conftest import System
from tests.stubs.otlp_collector import Collector, Span

# A word that occurs only in a document, in questions and in invalid requests.
CANARY = "zanzibarquokka"
TRACE = "0af7651916cd43dd8448eb211c80319c"
QUESTION_TRACE = "1bf7651916cd43dd8448eb211c80319c"


def headers(trace: str) -> dict[str, str]:
    """The headers of a caller that records its own trace."""
    return {"traceparent": f"00-{trace}-b7ad6b7169203331-01"}


@pytest.fixture(scope="module")
def client(system: System) -> Iterator[httpx2.Client]:
    with system.client() as client:
        yield client


@pytest.fixture(scope="module")
def canary_job(system: System, client: httpx2.Client) -> str:
    """Sends the canary to the system in many ways; returns the id of the job that ingests it."""
    text = f"The {CANARY} harbour is run by {CANARY} Holding since 2024."
    answer = client.post("/api/documents", json={"title": CANARY, "text": text})
    assert answer.status_code in {200, 202}, answer.text
    job = answer.json()["job"]["id"]
    wait_until(lambda: client.get(f"/api/jobs/{job}").json()["state"] == "SUCCEEDED")
    query = f"Who runs the {CANARY} harbour?"
    searched = client.post(
        "/api/search/comprehensive", json={"query": query}, headers=headers(TRACE)
    )
    assert searched.status_code == 200, searched.text
    asked = client.post("/api/chat", json={"question": query}, headers=headers(QUESTION_TRACE))
    assert asked.status_code == 200, asked.text
    for wrong in (
        {"query": query, "limit": CANARY},
        {"query": query, CANARY: 1},
        {"query": "\x00" + CANARY},
    ):
        assert client.post("/api/search/comprehensive", json=wrong).status_code == 422
    client.get(f"/api/documents/{CANARY}")
    client.get(f"/api/graph/entities/{CANARY}")
    client.get(f"/{CANARY}", headers={"x-request-id": f"<{CANARY}>"})
    client.request(CANARY.upper(), "/api/documents")
    client.get("/api/documents", headers={"Authorization": f"Bearer {CANARY}"})
    return str(job)


def wait_until(holds: Callable[[], Any], seconds: float = 30.0) -> None:
    """Waits until a condition holds, which other processes bring about."""
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, "not in time"
        time.sleep(0.1)


def spans_of(collector: Collector, trace: str, *expected: tuple[str, str]) -> list[Span]:
    """Waits until a trace has the `expected` spans of (service, name) and a single root, and returns its spans."""

    def is_whole() -> bool:
        spans = collector.trace(trace)
        ids = {span.span_id for span in spans}
        roots = [span for span in spans if span.parent_id not in ids]
        return {(span.service, span.name) for span in spans} >= set(expected) and len(roots) == 1

    wait_until(is_whole)
    return collector.trace(trace)


def test_a_search_is_one_trace_through_all_processes_to_the_stores(
    canary_job: str, collector: Collector
) -> None:
    spans = spans_of(
        collector,
        TRACE,
        ("gateway", "POST /api/search/comprehensive"),
        ("agent_orchestrator", "braid.agent.v1.SearchService/ComprehensiveSearch"),
        ("agent_orchestrator", "leg vector"),
        ("agent_orchestrator", "leg graph"),
        ("agent_orchestrator", "embedding bge-small-en-v1.5"),
        ("vector_search", "braid.vector.v1.VectorSearchService/HybridSearch"),
        ("vector_search", "postgresql search_chunks"),
        ("graph_query", "braid.graph.v1.GraphQueryService/SearchFacts"),
    )
    assert {span.service for span in spans} == {
        "gateway",
        "agent_orchestrator",
        "vector_search",
        "graph_query",
    }
    assert any(span.name.startswith("neo4j ") for span in spans)
    legs = {span.name: span.attributes for span in spans if span.name.startswith("leg ")}
    assert legs["leg vector"]["leg.status"] == "OK"
    assert legs["leg graph"]["leg.status"] == "NO_MATCH"  # no fact is about it
    assert int(legs["leg vector"]["leg.hits"]) > 0
    made = {span.span_id: span for span in spans}
    [root] = [span for span in spans if span.parent_id not in made]
    assert (root.service, root.parent_id) == ("gateway", "b7ad6b7169203331")
    for span in spans:
        if span.name.startswith("postgresql "):
            assert set(span.attributes) == {"db.system.name", "db.query.summary"}
    served = [span for span in spans if "rpc.code" in span.attributes]
    assert served
    for span in served:
        client = made[span.parent_id]
        assert (client.name, client.service != span.service) == (span.name, True)
        assert "/".join((client.attributes["rpc.service"], client.attributes["rpc.method"])) == (
            span.name
        )
        assert (client.attributes["rpc.system"], client.attributes["rpc.grpc.status_code"]) == (
            "grpc",
            "0",
        )
        assert client.attributes["server.address"]


def test_a_question_is_one_trace_with_the_agents_tools(
    canary_job: str, collector: Collector
) -> None:
    spans = spans_of(
        collector,
        QUESTION_TRACE,
        ("agent_orchestrator", "agent run"),
        ("gateway", "POST /api/chat"),
        ("vector_search", "braid.vector.v1.VectorSearchService/HybridSearch"),
    )
    tools = [span for span in spans if span.name.startswith("tool ")]
    assert tools
    made = {span.span_id: span for span in spans}
    for tool in tools:
        assert tool.attributes == {"tool": tool.name.removeprefix("tool ")}
        assert "agent run" in _ancestors(tool, made)
    searches = [span for span in spans if span.service == "vector_search"]
    assert searches
    assert all("POST /api/chat" in _ancestors(span, made) for span in searches)


def _ancestors(span: Span, made: dict[str, Span]) -> list[str]:
    found = []
    while span.parent_id in made:
        span = made[span.parent_id]
        found.append(span.name)
    return found


def test_metrics_of_all_processes_are_exported_by_otlp(
    canary_job: str, collector: Collector
) -> None:
    expected = {
        "http.server.request.duration",
        "rpc.server.duration",
        "db.client.operation.duration",
        "db.client.connection.count",
        "braid.search.leg.duration",
        "braid.agent.tool.duration",
        "braid.model.duration",
        "braid.embedding_cache.misses",
        "braid.admission.capacity",
        "braid.jobs",
        "braid.ingestion.lag",
    }
    wait_until(lambda: expected <= set(collector.metrics))
    known = {one.name for one in INSTRUMENTS}
    assert {name for name in collector.metrics if name.startswith("braid.")} <= known
    assert {"gateway", "agent_orchestrator", "vector_search", "graph_query"} <= collector.services


def scraped(system: System) -> dict[str, str]:
    """The text of `/metrics` of each process."""
    found = {}
    for name, address in system.stack.metrics.items():
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
            found[name] = answer.read().decode()
    return found


def test_every_process_exposes_its_metrics_for_prometheus(canary_job: str, system: System) -> None:
    # Jobs are counted every 15 s; after an outage of the database the metric is missing until the next count.
    wait_until(lambda: "braid_jobs{" in scraped(system)["agent_orchestrator"])
    found = scraped(system)
    assert 'http_route="/api/search/comprehensive"' in found["gateway"]
    assert "rpc_server_duration_seconds_bucket" in found["vector_search"]
    assert 'db_query_summary="search_chunks"' in found["vector_search"]
    assert 'db_system_name="neo4j"' in found["graph_query"]


def test_no_text_of_a_user_is_in_spans_metrics_or_logs(
    canary_job: str, system: System, collector: Collector
) -> None:
    spans_of(
        collector,
        QUESTION_TRACE,
        ("agent_orchestrator", "agent run"),
        ("gateway", "POST /api/chat"),
    )
    wait_until(lambda: "braid.search.leg.duration" in collector.metrics)
    everything = {
        "spans": "".join(span.text for span in collector.spans),
        "metrics": "".join(collector.texts),
        **{f"/metrics of {name}": text for name, text in scraped(system).items()},
        **{
            path.name: path.read_text(errors="replace")
            for path in (system.stack.data / "logs").glob("*.log")
        },
    }
    assert everything["gateway.log"]
    assert everything["spans"]
    assert [name for name, text in everything.items() if CANARY in text.casefold()] == []


def test_log_lines_name_their_trace_and_span(canary_job: str, system: System) -> None:
    lines = (system.stack.data / "logs" / "vector_search.log").read_text().splitlines()
    mine = [line for line in lines if TRACE in line]
    assert mine
    assert all(re.search(r'"span_id": "[0-9a-f]{16}"', line) for line in mine)
