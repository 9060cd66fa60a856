"""Questions about earlier conversations are answered with what was said, and when, to their own user only."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.integration.agent_orchestrator.agent.conftest import Agent, AgentRun
from tests.integration.agent_orchestrator.agent.test_entity_memory import conversation, tools
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, Metadata, World

SAID = "The boiler of the mill was replaced by Karl."
QUESTION = "When did I tell you about the boiler?"


async def ask(agent: Agent, text: str, who: Metadata = ALICE) -> AgentRun:
    """Asks in a conversation of its own."""
    return await agent.ask(text, who, conversation_id=await conversation(agent, who))


async def test_what_a_user_said_is_quoted_with_its_day_to_this_user_only(
    agent: Agent, answers: World
) -> None:
    await ask(agent, SAID)
    asked = await ask(agent, QUESTION)
    assert tools(asked) == {"query_graph", "search_conversations"}
    today = datetime.now(UTC)
    assert f"{today.day} {today:%B} {today.year} you wrote: “{SAID}”" in asked.done.answer
    [source] = asked.of("citation")
    assert source.quote == SAID
    again = await ask(agent, QUESTION)
    assert QUESTION not in again.done.answer
    other = await ask(agent, QUESTION, BOB)
    assert "Nothing about this was said in a conversation that is kept." in other.done.answer
    assert "Karl" not in other.done.answer


async def test_what_was_answered_is_quoted_on_request(agent: Agent, answers: World) -> None:
    first = await ask(agent, "Who owns the Ledger Service?")
    asked = await ask(agent, "What did you tell me about the first text?")
    assert tools(asked) == {"search_conversations"}
    assert first.done.answer.splitlines()[0] in asked.done.answer
    assert "the answer was" in asked.done.answer
