"""The Python client asks, streams, resumes and manages conversations, with and without `await`."""

from __future__ import annotations

import asyncio

import pytest

from braid.agent.v1 import agent_pb2
from braid_client import AsyncBraid, Braid, BraidCallError
from tests.integration.agent_orchestrator.agent.samples import script_ledger_owners
from tests.integration.agent_orchestrator.conftest import World

QUESTION = "Who owns the Ledger Service?"


@pytest.fixture
def story(world: World) -> World:
    script_ledger_owners(world)
    return world


async def test_a_question_is_stored_in_a_conversation_that_can_be_renamed_and_deleted(
    story: World,
) -> None:
    async with AsyncBraid(f"127.0.0.1:{story.agent_port}", api_key="alice-key") as braid:
        conversation = await braid.create_conversation()
        answer = await braid.ask(QUESTION, conversation_id=conversation.id)
        assert "Jonas Weber" in answer.text
        assert answer.model == "local-planner"
        assert answer.end == agent_pb2.RUN_END_COMPLETE
        assert answer.citations
        assert answer.tool_calls

        kept = await braid.get_conversation(conversation.id)
        assert [message.text for message in kept.messages] == [QUESTION, answer.text]
        latest_first = [message.number async for message in braid.list_messages(conversation.id)]
        assert latest_first == [2, 1]
        await braid.rename_conversation(conversation.id, "Owners")
        assert [one.title async for one in braid.list_conversations()] == ["Owners"]
        await braid.delete_conversation(conversation.id)
        with pytest.raises(BraidCallError) as caught:
            await braid.get_conversation(conversation.id)
        assert caught.value.failure.reason == "NOT_FOUND"


async def test_the_events_of_a_run_can_be_read_again_from_any_event(story: World) -> None:
    async with AsyncBraid(f"127.0.0.1:{story.agent_port}", api_key="alice-key") as braid:
        events = [event async for event in braid.stream_ask(QUESTION)]
        run_id = events[0].started.run_id
        rest = [e async for e in braid.run_events(run_id, after_event_id=events[3].id)]
        assert rest == events[4:]
        await braid.cancel_run(run_id)


async def test_without_await_the_complete_and_the_streamed_answer_agree(story: World) -> None:
    def converse() -> tuple[str, str]:
        with Braid(f"127.0.0.1:{story.agent_port}", api_key="alice-key") as braid:
            answer = braid.ask(QUESTION)
            *_, last = braid.stream_ask(QUESTION)
            return answer.text, last.done.answer

    whole, streamed = await asyncio.to_thread(converse)
    assert whole == streamed
