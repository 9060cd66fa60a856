"""Every path names all methods that it allows; HEAD returns the headers of GET, and OPTIONS the methods."""

from __future__ import annotations

import asyncio

import pytest

from braid.agent.v1 import jobs_pb2
from braid.vector.v1 import documents_pb2
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import DOCUMENT, JOB, JOB_ID

READ = {"GET", "HEAD", "OPTIONS"}
PATHS = [
    ("/api/documents", READ | {"POST"}),
    ("/api/documents/notes/a.md", READ | {"DELETE"}),
    ("/api/consistency", READ | {"POST"}),
    ("/api/search/hybrid", {"POST", "OPTIONS"}),
    ("/api/jobs/dead", READ),
    (f"/api/jobs/{JOB_ID}/cancel", {"POST", "OPTIONS"}),
    ("/healthz", READ),
    ("/openapi.json", READ),
    ("/docs", READ),
]


def named(allow: str) -> set[str]:
    """Returns the methods that `Allow` names."""
    return set(allow.split(", "))


@pytest.mark.parametrize(("path", "methods"), PATHS)
async def test_a_refused_method_is_answered_with_all_allowed_methods(
    served: Served, path: str, methods: set[str]
) -> None:
    for method in ("PUT", "PATCH"):
        response = await served.http.request(method, path)
        assert (response.status_code, response.json()["reason"]) == (405, "METHOD_NOT_ALLOWED")
        assert named(response.headers["allow"]) == methods


@pytest.mark.parametrize(("path", "methods"), PATHS)
async def test_options_returns_the_allowed_methods(
    served: Served, path: str, methods: set[str]
) -> None:
    response = await served.http.options(path)
    assert (response.status_code, response.content) == (204, b"")
    assert named(response.headers["allow"]) == methods
    assert served.script.seen == []


@pytest.mark.parametrize("method", ["OPTIONS", "HEAD", "PUT"])
async def test_an_unknown_path_has_no_methods(served: Served, method: str) -> None:
    response = await served.http.request(method, "/api/nothing")
    assert (response.status_code, response.headers.get("allow")) == (404, None)


async def test_options_of_a_path_with_data_needs_a_key(guarded: Served) -> None:
    assert (await guarded.http.options("/api/documents")).status_code == 401
    assert (await guarded.http.options("/healthz")).status_code == 204


@pytest.mark.parametrize("path", ["/api/documents/a", "/openapi.json", "/docs", "/healthz"])
async def test_head_returns_the_headers_of_get_without_a_body(served: Served, path: str) -> None:
    answer = documents_pb2.GetDocumentResponse(document=DOCUMENT)
    served.script.answer("GetDocument", answer)
    got, head = await served.http.get(path), await served.http.head(path)
    changing = ("date", "x-request-id")
    assert (head.status_code, head.content) == (200, b"")
    assert {n: v for n, v in head.headers.items() if n not in changing} == {
        n: v for n, v in got.headers.items() if n not in changing
    }


async def test_head_fails_with_the_same_status_as_get(served: Served) -> None:
    assert (await served.http.head("/api/jobs/no-uuid")).status_code == 422
    assert (await served.http.head("/api/search/hybrid")).status_code == 405


async def test_head_of_an_event_stream_cancels_the_call(served: Served) -> None:
    served.script.hang("WatchJob", jobs_pb2.WatchJobResponse(job=JOB))
    response = await served.http.head(f"/api/jobs/{JOB_ID}/events")
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-type"].startswith("text/event-stream")
    await asyncio.wait_for(served.script.cancelled.wait(), 5)


async def test_mcp_has_no_stream_of_its_own_to_listen_to(served: Served) -> None:
    for method in ("GET", "DELETE"):
        answer = await served.http.request(
            method, "/mcp", headers={"accept": "text/event-stream, application/json"}
        )
        assert answer.status_code == 405
        assert "POST" in answer.headers["allow"]


async def test_a_long_response_is_compressed_for_clients_that_accept_it(served: Served) -> None:
    sizes = {}
    for encoding in ("gzip", "identity"):
        async with served.http.stream(
            "GET", "/openapi.json", headers={"accept-encoding": encoding}
        ) as answer:
            sizes[answer.headers.get("content-encoding", "identity")] = sum(
                [len(part) async for part in answer.aiter_raw()]
            )
            assert "accept-encoding" in answer.headers["vary"].casefold()
    assert sizes["gzip"] < sizes["identity"] / 5


async def test_a_short_response_is_sent_as_it_is(served: Served) -> None:
    answer = await served.http.get("/healthz", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in answer.headers
