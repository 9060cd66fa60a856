"""`POST /api/chat` answers with one JSON object or an event stream, and rejects invalid requests."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

import pytest

from services.runtime.errors import StoreUnavailableError
from tests.integration.agent_orchestrator.agent.samples import (
    CHUNK,
    LATER_CHUNK,
    script_ledger_owners,
)
from tests.integration.agent_orchestrator.conftest import World
from tests.integration.chat.conftest import BOB
from tests.integration.gateway.conftest import Served
from tests.stubs.script import fail, hang

QUESTION = "Who owns the Ledger Service?"
EVENTS = {"accept": "text/event-stream"}


@pytest.fixture
def story(world: World) -> World:
    script_ledger_owners(world)
    return world


def events_of(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """The events of a stream as (id, name, data)."""
    found = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "event" in lines:
            found.append((lines["id"], lines["event"], json.loads(lines["data"])))
    return found


async def test_a_question_is_answered_as_one_json_object(gateway: Served, story: World) -> None:
    response = await gateway.http.post("/api/chat", json={"question": QUESTION})
    assert response.status_code == 200, response.text
    answer = response.json()
    assert "Jonas Weber" in answer["answer"]
    assert answer["end"] == "complete"
    assert answer["model"] == "local-planner"
    assert answer["unavailable"] == []
    assert {cited["chunk_id"] for cited in answer["citations"]} <= {CHUNK, LATER_CHUNK}
    for cited in answer["citations"]:
        for span in cited["spans"]:
            assert answer["answer"][span["start"] : span["end"]] == f"[{cited['number']}]"
    assert answer["tool_calls"][0]["status"] == "ok"
    assert answer["legs"]
    assert answer["usage"]["tool_calls"] == len(answer["tool_calls"])


async def test_a_question_can_start_a_conversation_that_the_next_one_continues(
    gateway: Served, story: World
) -> None:
    first = await gateway.http.post("/api/chat", json={"question": QUESTION, "conversation": "new"})
    conversation = first.json()["conversation_id"]
    next_one = {"question": "And since when?", "conversation_id": conversation}
    assert (await gateway.http.post("/api/chat", json=next_one)).status_code == 200
    kept = (await gateway.http.get(f"/api/conversations/{conversation}")).json()
    assert [one["text"] for one in kept["messages"] if one["role"] == "user"] == [
        QUESTION,
        "And since when?",
    ]
    both = {"question": QUESTION, "conversation": "new", "conversation_id": conversation}
    assert (await gateway.http.post("/api/chat", json=both)).status_code == 422
    unknown = {"question": QUESTION, "conversation": "old"}
    assert (await gateway.http.post("/api/chat", json=unknown)).status_code == 422


@pytest.mark.parametrize("by", ["accept", "field"])
async def test_a_question_can_be_answered_as_an_event_stream(
    gateway: Served, story: World, by: str
) -> None:
    asked = {"question": QUESTION, "stream": by == "field"}
    headers = EVENTS if by == "accept" else {}
    response = await gateway.http.post("/api/chat", json=asked, headers=headers)
    events = events_of(response.text)
    names = [name for _, name, _ in events]
    assert names[0] == "started"
    assert names[-1] == "done"
    assert {"tool_call", "tool_result", "leg_status", "text", "citation", "usage"} < set(names)
    assert [number for number, _, _ in events] == [str(n + 1) for n in range(len(events))]
    text = "".join(data["text"] for _, name, data in events if name == "text")
    assert text == events[-1][2]["answer"]


async def test_a_stream_resumes_after_the_last_event_that_was_read(
    gateway: Served, story: World
) -> None:
    response = await gateway.http.post("/api/chat", json={"question": QUESTION}, headers=EVENTS)
    events = events_of(response.text)
    path = f"/api/chat/{events[0][2]['run_id']}/events"
    resumed = await gateway.http.get(path, headers={"last-event-id": events[2][0]})
    assert events_of(resumed.text) == events[3:]
    whole = await gateway.http.get(path)
    assert events_of(whole.text) == events
    for other in (BOB, {"last-event-id": "x"}):
        refused = await gateway.http.get(path, headers=other)
        assert refused.status_code == (404 if other is BOB else 422)


async def test_a_stream_of_an_unfinished_run_resumes_at_another_replica(
    gateway: Served, other_gateway: Served, story: World
) -> None:
    may_go_on = asyncio.Event()

    async def wait(_request: object) -> None:
        await may_go_on.wait()

    story.graph.script.acts["SearchFacts"] = wait
    body = {"question": QUESTION}
    async with gateway.http.stream("POST", "/api/chat", json=body, headers=EVENTS) as response:
        lines = response.aiter_lines()
        first = [await anext(lines) for _ in range(3)]
        run_id = json.loads(next(x for x in first if x.startswith("data: "))[6:])["run_id"]
        path = f"/api/chat/{run_id}/events"
        resumed = asyncio.create_task(other_gateway.http.get(path, headers={"last-event-id": "1"}))
        await asyncio.wait_for(story.graph.script.seen.wait(), 5)
        may_go_on.set()
        rest = [line async for line in lines]
    theirs = events_of((await resumed).text)
    assert theirs == events_of("\n".join(rest))
    assert theirs[-1][1] == "done"


async def test_a_run_can_be_canceled(gateway: Served, story: World) -> None:
    for method in ("SearchFacts", "LinkEntities"):
        story.graph.script.acts[method] = hang
    async with gateway.http.stream(
        "POST", "/api/chat", json={"question": QUESTION}, headers=EVENTS
    ) as response:
        lines = response.aiter_lines()
        seen = [await anext(lines) for _ in range(3)]
        run_id = json.loads(next(x for x in seen if x.startswith("data: "))[6:])["run_id"]
        await asyncio.wait_for(story.graph.script.seen.wait(), 5)
        cancelled = await gateway.http.post(f"/api/chat/{run_id}/cancel")
        assert cancelled.status_code == 204
        rest = [line async for line in lines]
    assert any('"end":"cancelled"' in line for line in rest)
    await asyncio.wait_for(story.graph.script.cancelled.wait(), 5)


@pytest.mark.parametrize("streams", [True, False])
async def test_a_client_that_disconnects_cancels_its_run(
    gateway: Served, story: World, streams: bool
) -> None:
    story.graph.script.acts["LinkEntities"] = hang
    body = {"question": QUESTION, "stream": streams}
    asking = asyncio.create_task(gateway.http.post("/api/chat", json=body))
    await asyncio.wait_for(story.graph.script.seen.wait(), 5)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await asyncio.wait_for(story.graph.script.cancelled.wait(), 5)
    answer = await gateway.http.get("/api/conversations")
    assert answer.status_code == 200


async def test_conversations_are_created_listed_renamed_and_deleted(
    gateway: Served, story: World
) -> None:
    http = gateway.http
    made = await http.post("/api/conversations", json={})
    assert made.status_code == 201
    path = f"/api/conversations/{made.json()['id']}"
    asked = await http.post(
        "/api/chat", json={"question": QUESTION, "conversation_id": made.json()["id"]}
    )
    assert asked.status_code == 200
    whole = (await http.get(path)).json()
    assert [message["role"] for message in whole["messages"]] == ["user", "assistant"]
    assert whole["conversation"]["title"] == QUESTION
    assert whole["messages"][1]["citations"] == asked.json()["citations"]
    renamed = await http.patch(path, json={"title": "Owners"})
    assert renamed.json()["title"] == "Owners"
    page = (await http.get(f"{path}/messages", params={"limit": 1})).json()
    assert [message["number"] for message in page["messages"]] == [2]
    rest = await http.get(f"{path}/messages", params={"limit": 1, "cursor": page["next_cursor"]})
    assert [message["number"] for message in rest.json()["messages"]] == [1]
    assert [one["id"] for one in (await http.get("/api/conversations")).json()["conversations"]]
    assert (await http.get(path, headers=BOB)).status_code == 404
    assert (await http.delete(path)).status_code == 204
    assert (await http.get(path)).status_code == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"question": ""}, "question"),
        ({"question": " \n "}, "question"),
        ({"question": "x" * 100_000}, "question"),
        ({}, "question"),
        ({"question": "x", "conversation_id": "no-uuid"}, "conversation_id"),
        ({"question": "x", "time_zone": "Mars/Olympus"}, "time_zone"),
        ({"question": "x", "profile": "none"}, "profile"),
        ({"question": "x", "search_preferences": {"default_limit": 51}}, "default_limit"),
        ({"question": "x", "colour": "red"}, "colour"),
    ],
)
@pytest.mark.parametrize("streams", [True, False])
async def test_an_invalid_field_is_named_and_no_run_starts(
    gateway: Served, story: World, body: dict[str, Any], field: str, streams: bool
) -> None:
    response = await gateway.http.post("/api/chat", json=body, headers=EVENTS if streams else {})
    assert response.status_code == 422, response.text
    assert field in response.json()["fields"][0]["field"]
    assert story.graph.script.count("LinkEntities") == 0


async def test_an_unknown_conversation_is_not_found(gateway: Served, story: World) -> None:
    body = {"question": QUESTION, "conversation_id": str(uuid.uuid4())}
    response = await gateway.http.post("/api/chat", json=body)
    assert (response.status_code, response.json()["reason"]) == (404, "NOT_FOUND")


async def test_an_unavailable_tier_is_named_in_a_complete_answer(
    gateway: Served, story: World
) -> None:
    for method in ("SearchFacts", "LinkEntities", "GetEntity"):
        story.graph.script.acts[method] = fail(StoreUnavailableError("neo4j"))
    response = await gateway.http.post("/api/chat", json={"question": QUESTION})
    assert response.status_code == 200
    assert response.json()["unavailable"] == ["graph"]
    assert "graph" in response.json()["answer"]
