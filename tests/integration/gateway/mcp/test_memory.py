"""MCP's memory tools: what a user said is saved and found for that user alone, and given as one text."""

from __future__ import annotations

import pytest

from braid.agent.v1 import entity_memory_pb2, profile_pb2
from braid.common.v1 import legs_pb2
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.mcp.clients import failure_of, http_client, value_of


async def test_memories_are_saved_and_found_for_the_calling_user(guarded: Served) -> None:
    relationship = entity_memory_pb2.MemoryRelationship(
        source=entity_memory_pb2.MemoryEnd(name="User"),
        type=entity_memory_pb2.MEMORY_RELATIONSHIP_TYPE_WORKS_WITH,
        target=entity_memory_pb2.MemoryEnd(name="Dana Fox"),
        mention_count=1,
    )
    guarded.script.answer(
        "SaveTurn", entity_memory_pb2.SaveTurnResponse(relationships=[relationship])
    )
    answered = entity_memory_pb2.MemoryAnswer(relationship=relationship, answer="Dana Fox")
    guarded.script.answer(
        "AnswerRelationshipQuery",
        entity_memory_pb2.AnswerRelationshipQueryResponse(answers=[answered]),
    )
    guarded.script.answer("QueryEntities", entity_memory_pb2.QueryEntitiesResponse())
    async with http_client(guarded.url, "writer") as client:
        arguments = {"text": "I work with Dana Fox."}
        saved = value_of(await client.call_tool("memory", arguments))
        found = value_of(await client.call_tool("memory", {"query": "who do I work with?"}))
    assert saved["status"] == "done"
    assert found["memories"] == saved["memories"]
    assert found["memories"][0]["target"] == "Dana Fox"
    assert {one.call.user for one in guarded.script.seen} == {"bob"}


@pytest.mark.parametrize(
    ("leg", "expected"),
    [
        (legs_pb2.LEG_STATUS_NO_MATCH, "found"),
        (legs_pb2.LEG_STATUS_UNAVAILABLE, "incomplete"),
    ],
)
async def test_what_is_known_is_one_text(
    guarded: Served, leg: legs_pb2.LegStatus.ValueType, expected: str
) -> None:
    known = profile_pb2.GetContextResponse(
        text="[1] The user uses Grafana.",
        items=[profile_pb2.ContextItem(number=1)],
        left_out_count=2,
        memory_leg=legs_pb2.LegReport(status=leg),
    )
    guarded.script.answer("GetContext", known)
    arguments = {"view": "context", "query": "Which dashboards?", "max_tokens": 50}
    async with http_client(guarded.url, "writer") as client:
        found = value_of(await client.call_tool("memory", arguments))
        wrong = failure_of(await client.call_tool("memory", {**arguments, "text": "I use Miro."}))
    assert (found["status"], found["context"]) == (expected, known.text)
    assert "2 more did not fit" in found["message"]
    assert guarded.script.seen[0].message.max_tokens == 50
    assert wrong.startswith("text: does not go with view context")


async def test_a_read_only_caller_can_query_the_memory(guarded: Served) -> None:
    async with http_client(guarded.url, "reader") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        wrong = failure_of(await client.call_tool("memory_query", {"limit": 0}))
    assert "memory_query" in names
    assert "memory" not in names
    assert len(names) <= 8
    assert wrong.startswith("limit: ")


async def test_a_relation_needs_its_target(guarded: Served) -> None:
    async with http_client(guarded.url, "writer") as client:
        arguments = {"view": "save", "relation": "KNOWS"}
        failure = failure_of(await client.call_tool("memory", arguments))
    assert failure.startswith("text: is required, or relation and target")
