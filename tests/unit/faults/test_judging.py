"""The judge of the fault suite detects a server that lies, one that hangs and one that breaks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import httpx2
import pytest

from tests.faults.cases import CASES, CHAT, DOCUMENT, RERANKED, SEARCH, SHORT, Expected
from tests.faults.judging import Attempt, defects, hangs, is_whole, lies
from tests.stubs.openai_server import OpenAIStub, Reply

GRAPH_UNAVAILABLE = Expected(
    legs=frozenset({"graph"}), failing=frozenset({DOCUMENT}), parts=frozenset({"graph"})
)


def legs(vector: str, graph: str) -> dict[str, Any]:
    return {
        "legs": [{"name": "vector", "status": vector}, {"name": "graph", "status": graph}],
        "reranking": None,
    }


async def attempt(operation: str, body: Mapping[str, Any], status: int = 200) -> Attempt:
    """Sends one request to a real server that responds with this body and status."""
    async with OpenAIStub() as server, httpx2.AsyncClient() as http:
        server.routes["/v1/asked"] = lambda _: Reply(status, json.dumps(body).encode())
        answer = await http.post(f"{server.base_url}/asked", json={})
        return Attempt(operation, 3.0, 0.1, answer.status_code, answer.json())


async def test_a_leg_that_reports_its_unavailable_store_is_accepted() -> None:
    attempted = await attempt(SEARCH, legs("OK", "UNAVAILABLE"))
    assert list(lies(attempted, GRAPH_UNAVAILABLE)) == []
    assert list(defects(attempted, GRAPH_UNAVAILABLE)) == []


@pytest.mark.parametrize("status", ["OK", "NO_MATCH"])
async def test_a_leg_that_claims_to_have_searched_an_unavailable_store_is_a_lie(
    status: str,
) -> None:
    attempted = await attempt(SEARCH, legs("OK", status))
    assert list(lies(attempted, GRAPH_UNAVAILABLE)) == [
        f"the leg graph says {status} and cannot have looked"
    ]


async def test_a_write_acknowledged_without_its_store_is_a_lie() -> None:
    attempted = await attempt(DOCUMENT, {"jobs": []}, status=202)
    assert list(lies(attempted, GRAPH_UNAVAILABLE)) == ["document succeeded without what it needs"]
    refused = await attempt(DOCUMENT, {"detail": "away"}, status=503)
    assert list(lies(refused, GRAPH_UNAVAILABLE)) == []


async def test_an_answer_that_omits_an_unavailable_tier_is_a_lie() -> None:
    quiet = await attempt(CHAT, {"answer": "Jonas Weber.", "unavailable": []})
    assert list(lies(quiet, GRAPH_UNAVAILABLE)) == ["chat names [] as unavailable, not ['graph']"]
    honest = await attempt(CHAT, {"answer": "The graph cannot be asked.", "unavailable": ["graph"]})
    assert list(lies(honest, GRAPH_UNAVAILABLE)) == []


async def test_results_reported_as_reranked_without_the_model_are_a_lie() -> None:
    reranker_unavailable = Expected(degraded=True)
    reranked = legs("OK", "OK") | {"reranking": {"status": "OK"}}
    assert list(lies(await attempt(RERANKED, reranked), reranker_unavailable)) == [
        "the results are said to be reranked"
    ]
    honest = reranked | {"reranking": {"status": "DEGRADED"}}
    assert list(lies(await attempt(RERANKED, honest), reranker_unavailable)) == []


async def test_an_internal_error_a_stack_trace_and_a_failing_search_are_defects() -> None:
    broken = await attempt(SEARCH, {"detail": "A defect."}, status=500)
    assert "search ended in an internal error" in list(defects(broken, GRAPH_UNAVAILABLE))
    shown = await attempt(CHAT, {"answer": "Traceback (most recent call last)", "unavailable": []})
    assert list(defects(shown, GRAPH_UNAVAILABLE)) == ["chat shows a stack trace"]
    failed = await attempt(SEARCH, {"detail": "away"}, status=503)
    assert list(defects(failed, GRAPH_UNAVAILABLE)) == ["search failed with 503: away"]
    everything = Expected(failing=frozenset({SEARCH}))
    assert list(defects(failed, everything)) == []


@pytest.mark.parametrize(
    ("elapsed", "status", "hung"),
    [(2.9, 200, False), (3.04, 504, False), (3.06, 200, True), (6.0, 0, True)],
)
def test_a_response_after_its_deadline_counts_as_hung(
    elapsed: float, status: int, hung: bool
) -> None:
    assert hangs(Attempt(SEARCH, 3.0, elapsed, status)) is hung


def test_only_a_complete_response_is_whole() -> None:
    def answered(body: Mapping[str, Any], status: int = HTTPStatus.OK) -> Attempt:
        return Attempt(SEARCH, 3.0, 0.1, status, body)

    assert is_whole(answered(legs("OK", "NO_MATCH")))
    assert not is_whole(answered(legs("OK", "DEGRADED")))
    assert not is_whole(answered({}, status=503))
    chat = Attempt(CHAT, 3.0, 0.1, 200, {"answer": "x", "unavailable": ["graph"]})
    assert not is_whole(chat)


def test_case_names_are_unique_and_include_the_short_cases() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))
    assert set(names) >= SHORT
