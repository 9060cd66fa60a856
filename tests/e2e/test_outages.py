"""While a store is stopped every question is still answered, and its leg recovers without a restart of Braid."""

from __future__ import annotations

import time
from typing import Any

import pytest

from braid.agent.v1 import agent_pb2, agent_pb2_grpc
from services.runtime.channels import open_channel
from tests.e2e.conftest import System

RECOVERY_SECONDS = 5.0
# Questions that need one store: the graph for facts, the vector tier for what documents say.
QUESTIONS = {
    "graph": "Who owns the Ledger Service?",
    "vector": "What do the documents say about duplicate charges?",
}
PARTS = {"graph": "graph", "vector": "documents"}


def legs(system: System) -> dict[str, dict[str, Any]]:
    """The report of each leg of a search, which must succeed."""
    with system.client() as http:
        answer = http.post(
            "/api/search/comprehensive",
            json={"query": "Who owns the Ledger Service?"},
            headers={"X-Timeout-Ms": "3000"},
        )
    assert answer.status_code == 200, answer.text
    return {leg["name"]: leg for leg in answer.json()["legs"]}


def chat(system: System, question: str) -> dict[str, Any]:
    """The agent's answer over HTTP."""
    with system.client() as http:
        answer = http.post("/api/chat", json={"question": question})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def ask(system: System, question: str) -> agent_pb2.RunDone:
    """The agent's answer over gRPC, with which the run must end."""
    async with open_channel(system.stack.addresses["agent_orchestrator"], retry=False) as channel:
        request = agent_pb2.AskRequest(question=question, skip_memory=True)
        call = agent_pb2_grpc.AgentServiceStub(channel).Ask(request, timeout=60)
        events = [answer.event async for answer in call]
    assert events[-1].WhichOneof("event") == "done", events[-1]
    return events[-1].done


def assert_unavailability_is_reported(answer: str, unavailable: list[str], leg: str) -> None:
    assert PARTS[leg] in unavailable
    assert PARTS[leg] in answer
    assert "cannot" in answer or "could not" in answer
    assert "Traceback" not in answer


@pytest.mark.parametrize(
    ("store", "leg", "other"), [("neo4j", "graph", "vector"), ("postgres", "vector", "graph")]
)
def test_a_stopped_store_makes_its_leg_unavailable_until_it_is_started_again(
    system: System, store: str, leg: str, other: str
) -> None:
    assert legs(system)[leg]["status"] == "OK"
    system.loop.run(system.stack.stop_process(store))
    try:
        for _ in range(5):
            ended = legs(system)
            assert (ended[leg]["status"], ended[other]["status"]) == ("UNAVAILABLE", "OK")
            assert ended[leg]["reason"] == "STORE_UNAVAILABLE"
        body = chat(system, QUESTIONS[leg])
        assert_unavailability_is_reported(body["answer"], body["unavailable"], leg)
        done = system.loop.run(ask(system, QUESTIONS[leg]))
        assert_unavailability_is_reported(done.answer, list(done.unavailable), leg)
    finally:
        system.loop.run(system.stack.start_process(store))
    back = time.monotonic()
    while legs(system)[leg]["status"] != "OK":
        assert time.monotonic() - back < RECOVERY_SECONDS
    assert legs(system)[leg]["status"] == "OK"
