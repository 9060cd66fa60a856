"""Any input is answered with a documented status, and an error with the documented fields."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlencode

from hypothesis import given, settings
from hypothesis import strategies as st

from braid.agent.v1 import ingest_pb2, jobs_pb2, search_pb2
from braid.graph.v1 import (
    corrections_pb2,
    findings_pb2,
    history_pb2,
    ontology_pb2,
    query_pb2,
    structure_pb2,
)
from braid.graph.v1 import ingest_pb2 as graph_ingest_pb2
from braid.vector.v1 import documents_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from gateway.settings import GatewaySettings
from tests.integration.gateway.conftest import Served, serve_gateway
from tests.integration.gateway.samples import JOB
from tests.integration.gateway.scripted import (
    AGENT,
    GRAPH,
    LOOPBACK,
    VECTOR,
    Script,
    start_scripted,
)

ANSWERS = {
    "VectorSearch": vector_pb2.VectorSearchResponse(),
    "TextSearch": vector_pb2.TextSearchResponse(),
    "HybridSearch": vector_pb2.HybridSearchResponse(),
    "SearchFacts": query_pb2.SearchFactsResponse(),
    "ComprehensiveSearch": search_pb2.ComprehensiveSearchResponse(),
    "StreamComprehensiveSearch": search_pb2.StreamComprehensiveSearchResponse(),
    "GetNeighborhood": query_pb2.GetNeighborhoodResponse(),
    "GetEntityHistory": history_pb2.GetEntityHistoryResponse(),
    "GetSnapshot": history_pb2.GetSnapshotResponse(),
    "DiffGraph": history_pb2.DiffGraphResponse(),
    "FindPaths": structure_pb2.FindPathsResponse(),
    "ListFacts": structure_pb2.ListFactsResponse(),
    "GetFact": structure_pb2.GetFactResponse(),
    "EndFact": graph_ingest_pb2.EndFactResponse(),
    "WithdrawFacts": corrections_pb2.WithdrawFactsResponse(
        withdrawals=[
            corrections_pb2.Withdrawal(outcome=corrections_pb2.WITHDRAWAL_OUTCOME_WITHDRAWN)
        ]
    ),
    "CorrectFact": corrections_pb2.CorrectFactResponse(),
    "AddFindings": findings_pb2.AddFindingsResponse(),
    "SearchFindings": findings_pb2.SearchFindingsResponse(),
    "GetOntology": ontology_pb2.GetOntologyResponse(),
    "PutOntology": ontology_pb2.PutOntologyResponse(),
    "ListEntities": query_pb2.ListEntitiesResponse(),
    "IngestDocument": ingest_pb2.IngestDocumentResponse(job=JOB),
    "IngestFacts": ingest_pb2.IngestFactsResponse(),
    "ListJobs": jobs_pb2.ListJobsResponse(jobs=[JOB]),
    "ListDeadDocuments": jobs_pb2.ListDeadDocumentsResponse(),
    "CancelJob": jobs_pb2.CancelJobResponse(job=JOB),
    "RetryJob": jobs_pb2.RetryJobResponse(job=JOB),
    "GetJob": jobs_pb2.GetJobResponse(job=JOB),
    "WatchJob": jobs_pb2.WatchJobResponse(job=JOB),
    "GetDocument": documents_pb2.GetDocumentResponse(),
    "ListDocuments": documents_pb2.ListDocumentsResponse(),
    "DeleteDocument": ingest_pb2.DeleteDocumentResponse(),
}
POSTED = (
    "/api/search/vector",
    "/api/search/text",
    "/api/search/hybrid",
    "/api/search/graph",
    "/api/search/comprehensive",
    "/api/search/comprehensive/stream",
    "/api/documents",
    "/api/facts",
    "/api/facts/00000000-0000-4000-8000-000000000001/end",
    "/api/findings",
    "/api/findings/search",
    "/api/ontology",
)
ASKED = (
    "/api/graph/snapshot",
    "/api/graph/diff",
    "/api/graph/paths",
    "/api/facts",
    "/api/findings",
)
PARAMETERS = st.sampled_from(
    [
        "as_of",
        "from",
        "to",
        "entity",
        "source",
        "target",
        "subject",
        "object_uuid",
        "known_at",
        "limit",
        "cursor",
        "relation",
        "kind",
        "about_entity",
        "min_confidence",
        "max_hops",
    ]
)
TIMES = st.sampled_from(["2024-04-18", "../..", "2024-01-01/2023-01-01", "/", "2024/", "a/b/c"])
NAMES = st.sampled_from(
    [
        "query",
        "limit",
        "text_weight",
        "filter",
        "as_of",
        "min_score",
        "fusion",
        "metadata",
        "start",
        "document_ids",
        "use_graph",
        "text",
        "id",
        "facts",
        "subject",
        "relation",
        "object",
        "valid_at",
        "invalid_at",
        "findings",
        "finding",
        "key_insight",
        "confidence",
        "entity_types",
        "name",
        "version",
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["q", "2024"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)
TYPES = st.sampled_from(
    ["application/json", "application/jsonl", "multipart/form-data; boundary=x", "text/plain", ""]
)
PATHS = st.sampled_from(
    [
        "/api/graph/neighborhood/",
        "/api/graph/history/",
        "/api/facts/",
        "/api/documents/",
        "/api/jobs/",
        "/api/",
    ]
)
METHODS = st.sampled_from(["GET", "DELETE", "PUT", "HEAD"])
ANSWERED = {200, 202, 404, 405, 413, 422}


async def check_all(requests: list[dict[str, Any]]) -> None:
    """Sends the requests to a new gateway and checks each response."""
    script = Script()
    for rpc, answer in ANSWERS.items():
        script.answer(rpc, answer)
    servers = [await start_scripted(names, script) for names in (AGENT, VECTOR, GRAPH)]
    targets = [f"{LOOPBACK}:{server.port}" for server in servers]
    own: dict[str, Any] = dict(
        zip(("agent_target", "vector_target", "graph_target"), targets, strict=True)
    )
    listen = f"{LOOPBACK}:0"
    try:
        gateway_settings = GatewaySettings(
            _env_file=None, gateway_listen=listen, drain_seconds=0, **own
        )
        async with serve_gateway(gateway_settings, script) as served:
            for request in requests:
                await check(served, request)
    finally:
        await asyncio.gather(*(server.stop() for server in servers))


async def check(served: Served, request: dict[str, Any]) -> None:
    """Asserts that the status is a documented one, and that an error has the documented fields."""
    response = await served.http.request(**request)
    assert response.status_code in ANSWERED
    if response.status_code >= 400 and request["method"] != "HEAD":
        body = response.json()
        assert {"detail", "reason", "request_id"} <= body.keys()


@settings(max_examples=8)
@given(bodies=st.lists(st.tuples(st.sampled_from(POSTED), VALUES), min_size=20, max_size=60))
def test_any_json_gets_a_documented_response(bodies: list[tuple[str, Any]]) -> None:
    requests = [
        {
            "method": "PUT" if path == "/api/ontology" else "POST",
            "url": path,
            "content": json.dumps(value).encode(),
            "headers": {"content-type": "application/json"},
        }
        for path, value in bodies
    ]
    asyncio.run(check_all(requests))


@settings(max_examples=8)
@given(
    bodies=st.lists(
        st.tuples(st.sampled_from(POSTED), TYPES, st.binary()), min_size=20, max_size=60
    )
)
def test_any_bytes_get_a_documented_response(bodies: list[tuple[str, str, bytes]]) -> None:
    requests = [
        {"method": "POST", "url": path, "content": data, "headers": {"content-type": kind}}
        for path, kind, data in bodies
    ]
    asyncio.run(check_all(requests))


@settings(max_examples=8)
@given(paths=st.lists(st.tuples(METHODS, PATHS, st.binary(max_size=30)), min_size=20, max_size=60))
def test_any_path_gets_a_documented_response(paths: list[tuple[str, str, bytes]]) -> None:
    requests = [
        {"method": method, "url": path + "".join(f"%{byte:02X}" for byte in name)}
        for method, path, name in paths
    ]
    asyncio.run(check_all(requests))


@settings(max_examples=8)
@given(
    asked=st.lists(
        st.tuples(
            st.sampled_from(ASKED),
            st.lists(st.tuples(PARAMETERS, TIMES | st.text(max_size=20)), max_size=4),
        ),
        min_size=20,
        max_size=60,
    )
)
def test_any_parameters_get_a_documented_response(
    asked: list[tuple[str, list[tuple[str, str]]]],
) -> None:
    requests = [
        {"method": "GET", "url": f"{path}?{urlencode(given, errors='surrogatepass')}"}
        for path, given in asked
    ]
    asyncio.run(check_all(requests))
