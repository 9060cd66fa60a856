"""Every failure has one status, one form and the request's id, and does not repeat what was sent."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import jsonschema  # type: ignore[import-untyped]
import pytest

from braid.agent.v1 import models_pb2
from braid.common.v1 import errors_pb2
from braid.vector.v1 import search_pb2
from gateway.rest.http.errors import STATUS
from services.runtime import errors
from tests.integration.gateway.conftest import Served, serve_gateway
from tests.integration.gateway.samples import JOB
from tests.integration.gateway.scripted import Script

SEARCH = "/api/search/hybrid"
FAILURES = [
    (errors.InvalidFieldError(errors.FieldError("limit", "is odd")), 422, "INVALID_FIELD", None),
    (errors.InvalidCredentialError(), 401, "INVALID_CREDENTIAL", None),
    (errors.MissingScopeError("read"), 403, "MISSING_SCOPE", None),
    (errors.NotFoundError("document"), 404, "NOT_FOUND", None),
    (errors.WrongStateError("Another model."), 409, "WRONG_STATE", None),
    (errors.StoreUnavailableError("neo4j", 2.5), 503, "STORE_UNAVAILABLE", "3"),
    (errors.EmbedderUnavailableError(), 503, "EMBEDDER_UNAVAILABLE", "1"),
    (errors.AllLegsFailedError({"vector": "TIMED_OUT"}), 503, "ALL_LEGS_FAILED", "1"),
    (errors.OverloadedError(0.2), 429, "OVERLOADED", "1"),
    (errors.DeadlineError(), 504, "DEADLINE", None),
    (RuntimeError("the password is hunter2"), 500, "INTERNAL", None),
]


@pytest.mark.parametrize(("error", "status", "reason", "wait"), FAILURES)
async def test_each_reason_has_its_status(
    served: Served, error: Exception, status: int, reason: str, wait: str | None
) -> None:
    served.script.fail("HybridSearch", error)
    response = await served.http.post(SEARCH, json={"query": "q"}, headers={"x-request-id": "r-1"})
    body = response.json()
    assert (response.status_code, body["reason"], body["request_id"]) == (status, reason, "r-1")
    assert response.headers.get("retry-after") == wait
    assert body["detail"]
    assert "hunter2" not in response.text


def test_every_reason_of_the_contract_has_a_status() -> None:
    reasons = set(errors_pb2.ErrorReason.values()) - {errors_pb2.ERROR_REASON_UNSPECIFIED}
    assert set(STATUS) == reasons


async def test_an_unavailable_store_is_named_in_the_error(served: Served) -> None:
    served.script.fail("HybridSearch", errors.StoreUnavailableError("postgresql"))
    response = await served.http.post(SEARCH, json={"query": "q"})
    assert response.json()["detail"] == "postgresql cannot be reached now."


def fields(response: httpx2.Response) -> list[str]:
    """Returns the names of the invalid fields."""
    return [problem["field"] for problem in response.json()["fields"]]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": " \n"}, "query"),
        ({"query": "a\x00b"}, "query"),
        ({"query": "x" * 4097}, "query"),
        ({"query": 5}, "query"),
        ({}, "query"),
        ({"query": "q", "limit": 0}, "limit"),
        ({"query": "q", "limit": 51}, "limit"),
        ({"query": "q", "limit": -1}, "limit"),
        ({"query": "q", "limit": 2**40}, "limit"),
        ({"query": "q", "limit": "5"}, "limit"),
        ({"query": "q", "limit": True}, "limit"),
        ({"query": "q", "text_weight": 1.1}, "text_weight"),
        ({"query": "q", "text_weight": "much"}, "text_weight"),
        ({"query": "q", "fusion": "both"}, "fusion"),
        ({"query": "q", "as_of": "yesterday"}, "as_of"),
        ({"query": "q", "as_of": "2024"}, "as_of"),
        ({"query": "q", "as_of": 2024}, "as_of"),
        ({"query": "q", "as_of": "0001-01-01T00:00:00+14:00"}, "as_of"),
        ({"query": "q", "filter": {"document_ids": [""]}}, "filter.document_ids[0]"),
        ({"query": "q", "filter": {"document_ids": ["a"] * 1001}}, "filter.document_ids"),
        ({"query": "q", "filter": {"document_ids": [1] * 1001}}, "filter.document_ids"),
        ({"query": "q", "filter": {"metadata": []}}, "filter.metadata"),
        ({"query": "q", "filter": {"metadata": {"a": {"n": 2**60}}}}, "filter.metadata.a.n"),
        ({"query": "q", "space": "another"}, "space"),
        ([], "body"),
        ("q", "body"),
        (None, "body"),
    ],
)
async def test_an_invalid_field_is_named(served: Served, body: Any, field: str) -> None:
    response = await served.http.post(SEARCH, json=body)
    assert (response.status_code, response.json()["reason"]) == (422, "INVALID_FIELD")
    assert fields(response) == [field]
    assert field in response.json()["detail"]
    assert served.script.seen == []


async def test_all_invalid_fields_are_named_at_once(served: Served) -> None:
    response = await served.http.post(SEARCH, json={"query": " ", "limit": 51, "text_weight": 2})
    assert fields(response) == ["query", "limit", "text_weight"]


async def test_a_search_without_any_leg_is_refused_as_an_invalid_body(served: Served) -> None:
    body = {"query": "q", "use_vector": False, "use_graph": False}
    response = await served.http.post("/api/search/comprehensive", json=body)
    assert fields(response) == ["body"]
    streamed = await served.http.post("/api/search/comprehensive/stream", json=body)
    assert fields(streamed) == ["body"]


DEEP = '{"query": "q", "filter": {"metadata": ' + '{"a":' * 90 + "1" + "}" * 90 + "}}"
SURROGATE = '{"query": "q", "filter": {"metadata": {"a": "\\ud800"}}}'


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b'{"query": "\xff"}',
        b"\xff\xfe{}",
        b"[" * 200_000,
        b'{"query": "q", "limit": ' + b"1" * 5000 + b"}",
        b'{"query": "q", "text_weight": NaN}',
        b'{"query": "\\ud800"}',
        DEEP.encode(),
        SURROGATE.encode(),
    ],
)
async def test_a_body_with_invalid_json_is_refused(served: Served, content: bytes) -> None:
    headers = {"content-type": "application/json"}
    response = await served.http.post(SEARCH, content=content, headers=headers)
    assert response.status_code == 422
    assert response.json()["fields"]


async def test_a_query_of_a_megabyte_is_too_large(served: Served) -> None:
    response = await served.http.post(SEARCH, json={"query": "x" * 2**20})
    assert (response.status_code, response.json()["reason"]) == (413, "TOO_LARGE")
    assert response.json()["detail"]


async def test_a_large_body_of_unknown_length_is_too_large(served: Served) -> None:
    async def body() -> Any:
        for _ in range(40):
            yield b"x" * 2**16

    headers = {"content-type": "application/json"}
    response = await served.http.post(SEARCH, content=body(), headers=headers)
    assert (response.status_code, response.json()["reason"]) == (413, "TOO_LARGE")


@pytest.mark.parametrize(
    ("path", "kind", "part"),
    [
        (SEARCH, "application/json", b'{"query":'),
        (SEARCH, "application/json", b""),
        ("/api/documents", "application/json", b'{"text":'),
        ("/api/documents", "multipart/form-data; boundary=x", b"--x\r\n"),
        ("/api/facts", "application/json", b'{"facts":'),
        ("/api/facts", "application/jsonl", b"{"),
    ],
)
async def test_a_stalled_body_is_answered_with_408_and_its_connection_closed(
    settings_of: Any, script: Script, path: str, kind: str, part: bytes
) -> None:
    settings = await settings_of(body_idle_seconds=0.01)
    async with serve_gateway(settings, script) as served:
        url = httpx2.URL(served.url)
        reader, writer = await asyncio.open_connection(url.host, url.port)
        head = f"POST {path} HTTP/1.1\r\nhost: {url.host}\r\ncontent-type: {kind}\r\ncontent-length: 99\r\n\r\n"
        writer.write(head.encode() + part)
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
    assert answer.startswith(b"HTTP/1.1 408 ")
    body = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert body.keys() == {"detail", "reason", "request_id"}
    assert body["reason"] == "REQUEST_TIMEOUT"


JSON_ROUTES = [
    "/api/search/vector",
    "/api/search/text",
    "/api/search/hybrid",
    "/api/search/graph",
    "/api/search/comprehensive",
    "/api/search/comprehensive/stream",
    "/api/reembed",
]
OTHER_TYPES = [
    {},
    {"content-type": ""},
    {"content-type": "application/x-www-form-urlencoded"},
    {"content-type": "text/json"},
    {"content-type": "application/json, text/plain"},
    {"content-type": "application/a/b+json"},
]


@pytest.mark.parametrize("path", JSON_ROUTES)
@pytest.mark.parametrize("headers", OTHER_TYPES)
async def test_a_body_without_a_json_content_type_is_refused(
    served: Served, path: str, headers: dict[str, str]
) -> None:
    response = await served.http.post(path, content=b'{"query": "q"}', headers=headers)
    assert response.status_code == 422
    assert response.json()["fields"] == [
        {"field": "Content-Type", "description": "must be application/json"}
    ]
    assert served.script.seen == []


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=utf-8", "application/x.y+json"]
)
async def test_a_body_with_any_json_content_type_is_accepted(served: Served, kind: str) -> None:
    served.script.answer("HybridSearch", search_pb2.HybridSearchResponse())
    headers = {"content-type": kind}
    response = await served.http.post(SEARCH, content=b'{"query": "q"}', headers=headers)
    assert response.status_code == 200


async def test_an_optional_body_needs_no_content_type(served: Served) -> None:
    answer = models_pb2.StartReembeddingResponse(job=JOB)
    served.script.answer("StartReembedding", answer)
    assert (await served.http.post("/api/reembed")).status_code == 202
    assert fields(await served.http.post(SEARCH)) == ["body"]


async def test_an_error_does_not_repeat_what_was_sent(served: Served) -> None:
    response = await served.http.post(SEARCH, json={"query": {"secret": "hunter2"}})
    assert response.status_code == 422
    assert "hunter2" not in response.text


@pytest.mark.parametrize(
    ("method", "path", "status", "reason"),
    [
        ("GET", "/nothing", 404, "NOT_FOUND"),
        ("GET", "/api/nothing", 404, "NOT_FOUND"),
        ("GET", SEARCH, 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/api/graph/neighborhood/%FF", 422, "INVALID_FIELD"),
        ("GET", "/api/graph/entities?type=%FF", 422, "INVALID_FIELD"),
        ("GET", "/api/graph/entities?limit=many", 422, "INVALID_FIELD"),
        ("GET", "/api/graph/neighborhood/A?as_of=2024", 422, "INVALID_FIELD"),
        ("GET", "/api/graph/neighborhood/A?as_of=20240101", 422, "INVALID_FIELD"),
        ("GET", "/api/jobs?" + "&".join(["state=QUEUED"] * 11), 422, "INVALID_FIELD"),
        ("GET", "/api/jobs/no-uuid", 422, "INVALID_FIELD"),
    ],
)
async def test_errors_of_http_itself_have_the_same_form(
    served: Served, method: str, path: str, status: int, reason: str
) -> None:
    response = await served.http.request(method, path)
    body = response.json()
    assert (response.status_code, body["reason"]) == (status, reason)
    assert body["detail"]
    assert body["request_id"] == response.headers["x-request-id"]


async def test_a_request_id_that_could_forge_a_log_line_is_replaced(served: Served) -> None:
    response = await served.http.get("/healthz", headers={"x-request-id": 'a"},{"b'})
    assert len(response.headers["x-request-id"]) == 32


async def test_a_deadline_can_be_set_and_is_forwarded(served: Served) -> None:
    served.script.hang("HybridSearch")
    headers = {"x-timeout-ms": "150"}
    response = await served.http.post(SEARCH, json={"query": "q"}, headers=headers)
    assert (response.status_code, response.json()["reason"]) == (504, "DEADLINE")
    # gRPC sends what is left in whole milliseconds, rounded up.
    assert 0 < served.script.seen[0].time_left <= 0.151


@pytest.mark.parametrize("value", ["0", "-1", "soon", "1e9", "600001"])
async def test_an_invalid_deadline_is_named(served: Served, value: str) -> None:
    headers = {"x-timeout-ms": value}
    response = await served.http.post(SEARCH, json={"query": "q"}, headers=headers)
    assert response.status_code == 422
    assert [name.lower() for name in fields(response)] == ["x-timeout-ms"]


async def test_the_openapi_document_lists_every_status_that_a_route_returns(
    served: Served,
) -> None:
    document = json.loads((await served.http.get("/openapi.json")).text)
    assert document["openapi"].startswith("3.1")
    assert (await served.http.get("/docs")).status_code == 200
    for path, methods in document["paths"].items():
        for operation in methods.values():
            documented = set(operation["responses"])
            if path.startswith("/api/"):
                assert {str(status) for status in STATUS.values()} | {
                    "405",
                    "408",
                    "413",
                } <= documented


@pytest.mark.parametrize("body", [b"", b'{"query": "a', b"[1,", b"\xff"])
async def test_truncated_json_is_refused_as_an_invalid_body(served: Served, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    response = await served.http.post(SEARCH, content=body, headers=headers)
    assert response.status_code == 422
    assert [problem["field"] for problem in response.json()["fields"]] == ["body"]


@pytest.mark.parametrize(
    ("head", "status", "content"),
    [
        (b"GET /api/documents HTTP/1.1\r\nX-Y: " + b"z" * 70_000, "431", []),
        (b"GET /api/documents HTTP/9.9.9\r\n\r\n", "400", ["text/plain"]),
    ],
)
async def test_statuses_of_malformed_http_requests_are_documented(
    served: Served, head: bytes, status: str, content: list[str]
) -> None:
    document = json.loads((await served.http.get("/openapi.json")).text)
    address = served.http.base_url
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(head)
    answer = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)).decode()
    writer.close()
    assert answer.startswith(f"HTTP/1.1 {status} ")
    documented = document["paths"]["/api/documents"]["get"]["responses"][status]
    assert list(documented.get("content", {})) == content


async def test_an_error_under_v1_has_openais_form_as_documented(served: Served) -> None:
    document = json.loads((await served.http.get("/openapi.json")).text)
    response = await served.http.get("/v1/models/unknown")
    assert response.status_code == 404
    responses = document["paths"]["/v1/models/{model}"]["get"]["responses"]
    shape = responses["404"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    described = {"components": document["components"], "$ref": f"#/components/schemas/{shape}"}
    jsonschema.validate(response.json(), described)
    assert shape == "OpenAIProblem"
