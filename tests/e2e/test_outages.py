"""A store that goes away in mid-run: every question is still answered, and the leg is back without a restart."""

from __future__ import annotations

import time
from typing import Any

import pytest

from braid.agent.v1 import agent_pb2, agent_pb2_grpc
from services.runtime.channels import open_channel
from tests.e2e.conftest import System

RECOVERY_SECONDS = 5.0
# Of questions that a store answers alone: the one about facts, the other about what is written.
QUESTIONS = {
    "graph": "Who owns the Ledger Service?",
    "vector": "What do the documents say about duplicate charges?",
}
PARTS = {"graph": "graph", "vector": "documents"}


def legs(system: System) -> dict[str, dict[str, Any]]:
    """How each leg of a question ended; the question itself must be answered."""
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
    told: dict[str, Any] = answer.json()
    return told


async def ask(system: System, question: str) -> agent_pb2.RunDone:
    """The agent's answer over gRPC; a run that ends otherwise has none."""
    async with open_channel(system.stack.addresses["agent_orchestrator"], retry=False) as channel:
        request = agent_pb2.AskRequest(question=question, skip_memory=True)
        call = agent_pb2_grpc.AgentServiceStub(channel).Ask(request, timeout=60)
        events = [answer.event async for answer in call]
    assert events[-1].WhichOneof("event") == "done", events[-1]
    return events[-1].done


def assert_it_says_what_was_unavailable(answer: str, unavailable: list[str], leg: str) -> None:
    assert PARTS[leg] in unavailable
    assert PARTS[leg] in answer
    assert "cannot" in answer or "could not" in answer
    assert "Traceback" not in answer


@pytest.mark.parametrize(
    ("store", "leg", "other"), [("neo4j", "graph", "vector"), ("postgres", "vector", "graph")]
)
def test_a_store_may_go_and_come_back(system: System, store: str, leg: str, other: str) -> None:
    assert legs(system)[leg]["status"] == "OK"
    system.loop.run(system.stack.stop_process(store))
    try:
        for _ in range(5):
            ended = legs(system)
            assert (ended[leg]["status"], ended[other]["status"]) == ("UNAVAILABLE", "OK")
            assert ended[leg]["reason"] == "STORE_UNAVAILABLE"
        told = chat(system, QUESTIONS[leg])
        assert_it_says_what_was_unavailable(told["answer"], told["unavailable"], leg)
        done = system.loop.run(ask(system, QUESTIONS[leg]))
        assert_it_says_what_was_unavailable(done.answer, list(done.unavailable), leg)
    finally:
        system.loop.run(system.stack.start_process(store))
    back = time.monotonic()
    while legs(system)[leg]["status"] != "OK":
        assert time.monotonic() - back < RECOVERY_SECONDS
    assert legs(system)[leg]["status"] == "OK"
