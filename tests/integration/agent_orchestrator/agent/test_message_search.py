"""Messages of conversations are found by their words, by their own user only."""

from __future__ import annotations

from typing import Any

import asyncpg
import pytest

from braid.agent.v1 import agent_pb2
from services.agent_orchestrator.agent.settings import AgentOptions
from tests.integration.agent_orchestrator.agent.conftest import Agent, Model, new_conversation
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, World
from tests.stubs.chat_models import Turn


@pytest.fixture
def provider() -> str:
    return "openai"


@pytest.fixture
def agent_options(with_models: AgentOptions) -> AgentOptions:
    return with_models


async def found(agent: Agent, query: str, **more: Any) -> list[tuple[str, int, str]]:
    """Returns the found messages: the conversation's title, the number and the text."""
    metadata = more.pop("metadata", ALICE)
    request = agent_pb2.SearchMessagesRequest(query=query, **more)
    answer = await agent.stub.SearchMessages(request, metadata=metadata)
    return [
        (one.conversation_title, one.message.number, one.message.text) for one in answer.messages
    ]


async def test_messages_are_found_by_their_words_by_their_own_user(
    agent: Agent, answers: World, model: Model
) -> None:
    pumps, other = await new_conversation(agent, "Pumps"), await new_conversation(agent, "Else")
    model.says(Turn("The valve of the red pump leaks."), Turn("Noted."), Turn("Noted."))
    await agent.ask("My pumps are red.", conversation_id=pumps)
    await agent.ask("My boat is red.", conversation_id=other)
    await agent.ask("It's Ana's \\boat\\ & 'pump' | !x:*", conversation_id=other)
    red = [text for _, _, text in await found(agent, "When did I tell you of the red pump?")]
    assert set(red[:2]) == {"My pumps are red.", "The valve of the red pump leaks."}
    assert set(red[2:]) == {"My boat is red.", "It's Ana's \\boat\\ & 'pump' | !x:*"}
    mine = await found(agent, "valve red", role=agent_pb2.MESSAGE_ROLE_USER)
    assert mine == [("Else", 1, "My boat is red."), ("Pumps", 1, "My pumps are red.")]
    assert await found(agent, "red", limit=1) == [("Else", 1, "My boat is red.")]
    assert len(await found(agent, "ana's '\\ boat")) == 2
    assert await found(agent, "submarine") == await found(agent, "when did I") == []
    assert await found(agent, "red", metadata=BOB) == []


async def test_messages_from_before_their_words_were_stored_are_found(
    agent: Agent, answers: World, world: World
) -> None:
    conversation = await new_conversation(agent, "Old")
    await agent.ask("My pumps are red.", conversation_id=conversation)
    connection = await asyncpg.connect(world.database.dsn("braid_agent"))
    await connection.execute("update conversation_message set words = null")
    await connection.close()
    assert ("Old", 1, "My pumps are red.") in await found(agent, "pump")
