"""`POST /api/chat`: one JSON answer, or events."""

from __future__ import annotations

import json
from typing import Any

from tests.integration.agent_orchestrator.conftest import World
from tests.integration.gateway.conftest import Served


def events_of(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """The events of a stream: id, name, data."""
    found = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "event" in lines:
            found.append((lines["id"], lines["event"], json.loads(lines["data"])))
    return found


async def test_a_question_is_answered_as_one_json_object(gateway: Served, answers: World) -> None:
    response = await gateway.http.post("/api/chat", json={"question": "What is c1?"})
    assert response.status_code == 200, response.text
    answer = response.json()
    assert answer["answer"]
    assert answer["end"] == "complete"
    assert answer["citations"][0]["quote"] == "c1 is the first text."
    assert answer["tool_calls"][0]["status"] == "ok"
    assert {leg["name"] for leg in answer["legs"]} == {"vector", "graph"}


async def test_the_same_question_can_be_answered_as_events(gateway: Served, answers: World) -> None:
    response = await gateway.http.post(
        "/api/chat", json={"question": "What is c1?"}, headers={"accept": "text/event-stream"}
    )
    events = events_of(response.text)
    assert events[0][1] == "started"
    assert events[-1][1] == "done"
    assert [number for number, _, _ in events] == [str(n + 1) for n in range(len(events))]
    run_id = events[0][2]["run_id"]

    resumed = await gateway.http.get(
        f"/api/chat/{run_id}/events", headers={"last-event-id": events[2][0]}
    )
    assert events_of(resumed.text) == events[3:]
