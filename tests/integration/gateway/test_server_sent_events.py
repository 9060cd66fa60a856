"""Server-Sent Events: their order, heartbeats, failures, and cancellation of the call when the client disconnects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx2
import pytest

from braid.agent.v1 import jobs_pb2, search_pb2
from services.runtime import errors
from tests.integration.gateway.conftest import Served, serve_gateway
from tests.integration.gateway.samples import (
    CHUNK_HIT,
    CHUNK_JSON,
    COMPREHENSIVE,
    COMPREHENSIVE_JSON,
    JOB,
    JOB_ID,
    JOB_JSON,
    LEGS_JSON,
    report,
)
from tests.integration.gateway.scripted import Script

SEARCH = "/api/search/comprehensive"
RPC = "StreamComprehensiveSearch"
LEG = search_pb2.StreamComprehensiveSearchResponse(
    leg=search_pb2.LegResults(report=report("vector", "OK"), vector_results=[CHUNK_HIT])
)
LEG_JSON = {"leg": LEGS_JSON[0], "vector_results": [CHUNK_JSON], "graph_results": []}
FINAL = search_pb2.StreamComprehensiveSearchResponse(final=COMPREHENSIVE)


async def events(response: httpx2.Response) -> AsyncIterator[tuple[str, Any]]:
    """Yields events as name and data; a heartbeat is `("", None)`."""
    name = ""
    async for line in response.aiter_lines():
        if line.startswith(":"):
            yield "", None
        elif line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


async def all_events(
    served: Served, path: str, include: Sequence[str] = (), **headers: str
) -> list[tuple[str, Any]]:
    """Returns every event of a search."""
    body = {"query": "who", "include": include}
    async with served.http.stream("POST", path, json=body, headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        return [event async for event in events(response)]


@pytest.mark.parametrize(
    ("path", "headers"),
    [(f"{SEARCH}/stream", {}), (SEARCH, {"accept": "text/event-stream"})],
)
async def test_legs_are_sent_first_and_the_complete_response_last(
    served: Served, path: str, headers: dict[str, str]
) -> None:
    served.script.answer(RPC, LEG, FINAL)
    assert await all_events(served, path, **headers) == [
        ("leg", LEG_JSON),
        ("final", COMPREHENSIVE_JSON),
    ]


async def test_the_last_event_contains_only_the_included_lists(served: Served) -> None:
    served.script.answer(RPC, LEG, FINAL)
    leg, final = await all_events(served, f"{SEARCH}/stream", ["results"])
    assert leg == ("leg", LEG_JSON)
    assert final[1].keys() == {
        "results",
        "legs",
        "total_results",
        "embedding",
        "expansion",
        "reranking",
        "nearest",
    }


async def test_a_search_that_fails_before_the_first_event_has_an_error_status(
    served: Served,
) -> None:
    served.script.fail(RPC, errors.AllLegsFailedError({"vector": "UNAVAILABLE"}))
    response = await served.http.post(f"{SEARCH}/stream", json={"query": "who"})
    assert (response.status_code, response.json()["reason"]) == (503, "ALL_LEGS_FAILED")


async def test_a_failure_after_the_first_event_is_an_event(served: Served) -> None:
    served.script.fail(RPC, errors.DeadlineError(), LEG)
    received = await all_events(served, f"{SEARCH}/stream", **{"x-request-id": "r-1"})
    assert [name for name, _ in received] == ["leg", "error"]
    assert received[1][1] == {
        "detail": errors.DeadlineError().message,
        "reason": "DEADLINE",
        "request_id": "r-1",
    }


@pytest.fixture
async def short_heartbeat(settings_of: Any, script: Script) -> AsyncIterator[Served]:
    """A gateway with a short heartbeat interval."""
    async with serve_gateway(await settings_of(heartbeat_seconds=0.1), script) as running:
        yield running


@pytest.mark.parametrize("before", [[], [LEG]])
async def test_silence_is_filled_with_heartbeats(
    short_heartbeat: Served, before: list[Any]
) -> None:
    short_heartbeat.script.hang(RPC, *before)
    async with short_heartbeat.http.stream(
        "POST", f"{SEARCH}/stream", json={"query": "q"}
    ) as response:
        names = []
        async for name, _ in events(response):
            names.append(name)
            if names.count("leg") == len(before) and names[-2:] == ["", ""]:
                break
    # On a slow machine there is a heartbeat before the first leg as well.
    assert set(names[len(before) + 1 :]) == {""}


async def test_a_client_that_disconnects_from_a_stream_cancels_the_call(served: Served) -> None:
    served.script.hang(RPC, LEG)
    async with served.http.stream("POST", f"{SEARCH}/stream", json={"query": "q"}) as response:
        await anext(events(response))
    async with asyncio.timeout(5):
        await served.script.cancelled.wait()


async def test_a_client_that_disconnects_during_a_search_cancels_the_call(served: Served) -> None:
    served.script.hang("HybridSearch")
    asking = asyncio.create_task(served.http.post("/api/search/hybrid", json={"query": "q"}))
    async with asyncio.timeout(5):
        await served.script.reached.wait()
        asking.cancel()
        await served.script.cancelled.wait()
    assert (await served.http.get("/healthz")).status_code == 200


async def test_a_job_is_watched_to_its_end(served: Served) -> None:
    first = jobs_pb2.WatchJobResponse(job=JOB)
    done = jobs_pb2.Job(id=JOB_ID, state=jobs_pb2.JOB_STATE_SUCCEEDED)
    served.script.answer("WatchJob", first, jobs_pb2.WatchJobResponse(job=done))
    async with served.http.stream("GET", f"/api/jobs/{JOB_ID}/events") as response:
        received = [event async for event in events(response)]
    assert received[0] == ("job", JOB_JSON)
    assert received[1][1]["state"] == "SUCCEEDED"
    assert len(received) == 2
