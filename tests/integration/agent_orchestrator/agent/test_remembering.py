"""What users say in a conversation is remembered: saved after the answer, found by the next question, theirs alone."""

from __future__ import annotations

import asyncio

import pytest

from braid.agent.v1 import agent_pb2, entity_memory_pb2_grpc
from braid.agent.v1 import entity_memory_pb2 as memory_pb2
from tests.integration.agent_orchestrator.agent.conftest import Agent, Asked
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, Metadata, World

USE = "I use Grafana for monitoring."
QUESTION = "What do I use for monitoring?"


async def conversation(agent: Agent, who: Metadata = ALICE) -> str:
    made = await agent.stub.CreateConversation(agent_pb2.CreateConversationRequest(), metadata=who)
    return str(made.conversation.id)


async def say(agent: Agent, text: str, where: str, who: Metadata = ALICE, **more: bool) -> Asked:
    """A turn that may be remembered."""
    return await agent.ask(text, who, **{"conversation_id": where, "skip_memory": False, **more})


def tools(asked: Asked) -> set[str]:
    return {call.tool for call in asked.of("tool_call")}


@pytest.fixture
def memory(world: World) -> entity_memory_pb2_grpc.EntityMemoryServiceStub:
    return entity_memory_pb2_grpc.EntityMemoryServiceStub(world.channel)


async def test_what_was_said_is_found_by_the_next_question(agent: Agent, answers: World) -> None:
    where = await conversation(agent)
    await say(agent, USE, where)
    asked = await say(agent, QUESTION, where)
    assert tools(asked) == {"query_graph"}
    assert "You use Grafana." in asked.done.answer
    [source] = asked.of("citation")
    assert source.quote == USE


async def test_another_conversation_of_the_user_knows_it_and_another_user_does_not(
    agent: Agent, answers: World
) -> None:
    await say(agent, USE, await conversation(agent))
    elsewhere = await say(agent, QUESTION, await conversation(agent))
    stranger = await say(agent, QUESTION, await conversation(agent, BOB), BOB)
    assert "Grafana" in elsewhere.done.answer
    assert "Grafana" not in stranger.done.answer
    assert tools(stranger) == {"query_graph"}


async def test_colleagues_are_answered_from_the_memory(agent: Agent, answers: World) -> None:
    where = await conversation(agent)
    await say(agent, "I work with Sarah and Tariq.", where)
    asked = await say(agent, "Who do I work with?", where)
    assert tools(asked) == {"query_graph"}
    assert {"You work with Sarah.", "You work with Tariq."} <= {
        line.split(" [")[0].lstrip("- ") for line in asked.done.answer.splitlines()
    }


async def test_what_is_taken_back_is_forgotten(agent: Agent, answers: World) -> None:
    where = await conversation(agent)
    await say(agent, USE, where)
    await say(agent, "We no longer use Grafana.", where)
    asked = await say(agent, "What do I use?", where)
    assert "You use Grafana" not in asked.done.answer


async def test_a_turn_that_is_not_to_be_remembered_leaves_nothing(
    agent: Agent, answers: World, memory: entity_memory_pb2_grpc.EntityMemoryServiceStub
) -> None:
    where = await conversation(agent)
    await say(agent, USE, where, skip_memory=True)
    asked = await say(agent, QUESTION, where)
    assert "You use Grafana" not in asked.done.answer
    found = await memory.QueryEntities(memory_pb2.QueryEntitiesRequest(), metadata=ALICE)
    assert [hit.entity.name for hit in found.hits] == []


async def test_where_it_was_said_outlives_the_conversation(
    agent: Agent, answers: World, memory: entity_memory_pb2_grpc.EntityMemoryServiceStub
) -> None:
    where = await conversation(agent)
    said = await say(agent, USE, where)
    await say(agent, QUESTION, where)
    await agent.stub.DeleteConversation(
        agent_pb2.DeleteConversationRequest(conversation_id=where), metadata=ALICE
    )
    [hit] = (await memory.QueryEntities(memory_pb2.QueryEntitiesRequest(), metadata=ALICE)).hits
    assert hit.entity.first_seen.conversation_id == where
    assert hit.entity.first_seen.message_id == said.run_id


async def test_nobody_waits_for_a_turn_to_be_read(
    agent: Agent, answers: World, memory: entity_memory_pb2_grpc.EntityMemoryServiceStub
) -> None:
    """The answer ends before the turn is read; what it says is there soon after, without another question."""
    await say(agent, USE, await conversation(agent))
    async with asyncio.timeout(20):
        while not (  # noqa: ASYNC110 - the memory has no event to wait for
            await memory.QueryEntities(memory_pb2.QueryEntitiesRequest(), metadata=ALICE)
        ).hits:
            await asyncio.sleep(0.05)
