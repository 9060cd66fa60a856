"""Conversations belong to one user, give later questions their context, and process one question at a time."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import grpc
import pytest

from braid.agent.v1 import agent_pb2, agent_pb2_grpc
from services.agent_orchestrator.agent.settings import AgentOptions, AnswerSettings
from services.agent_orchestrator.app import Embedders, open_app
from services.runtime.channels import open_channel
from services.runtime.server import start_server
from tests.integration.agent_orchestrator.agent.conftest import (
    Agent,
    AgentRun,
    Model,
    code_of,
    new_conversation,
)
from tests.integration.agent_orchestrator.agent.samples import script_ledger_owners
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, World
from tests.stubs.chat_models import Turn
from tests.stubs.openai_server import Reply
from tests.stubs.script import hang, wait

QUESTION = "Who owns the Ledger Service?"
SEARCH = ("comprehensive_search", {"query": QUESTION})


@pytest.fixture
def provider() -> str:
    return "openai"


@pytest.fixture
def agent_options(with_models: AgentOptions) -> AgentOptions:
    settings = AnswerSettings.model_construct(
        conversation_wait_seconds=2.0, resume_seconds=0.3, history_tokens=200
    )
    return replace(with_models, settings=settings)


@pytest.fixture
def story(world: World) -> World:
    script_ledger_owners(world)
    return world


async def messages_of(agent: Agent, conversation_id: str) -> list[agent_pb2.Message]:
    found = await agent.stub.GetConversation(
        agent_pb2.GetConversationRequest(conversation_id=conversation_id), metadata=ALICE
    )
    return list(found.messages)


def messages_sent_to(model: Model) -> list[str]:
    """The messages of the last request to the model, without the system prompt."""
    messages = model.script.asked[-1]["messages"]
    return [message["content"] for message in messages if message["role"] != "system"]


async def rest_of(call: Any) -> list[agent_pb2.RunEvent]:
    """The remaining events of a call."""
    events = []
    while (answer := await call.read()) is not grpc.aio.EOF:
        events.append(answer.event)
    return events


async def test_a_question_and_its_answer_are_stored_with_sources(
    agent: Agent, model: Model, story: World
) -> None:
    model.says(Turn(tools=[SEARCH]), Turn("Jonas Weber [1]."))
    conversation = await new_conversation(agent)
    asked = await agent.ask(QUESTION, conversation_id=conversation)
    question, answer = await messages_of(agent, conversation)
    assert (question.role, question.text) == (agent_pb2.MESSAGE_ROLE_USER, QUESTION)
    assert (answer.text, answer.run_id) == ("Jonas Weber [1].", asked.run_id)
    assert answer.citations == asked.of("citation")
    listed = await agent.stub.ListConversations(
        agent_pb2.ListConversationsRequest(), metadata=ALICE
    )
    assert [(one.id, one.title, one.message_count) for one in listed.conversations] == [
        (conversation, QUESTION, 2)
    ]


async def test_a_question_can_start_a_conversation(agent: Agent, story: World) -> None:
    new = agent_pb2.CONVERSATION_START_NEW
    asked = await agent.ask(QUESTION, conversation=new)
    conversation = asked.of("started")[0].conversation_id
    assert (await messages_of(agent, conversation))[0].text == QUESTION
    again = await agent.ask("And since when?", conversation_id=conversation)
    assert again.of("started")[0].conversation_id == conversation
    assert len(await messages_of(agent, conversation)) == 4


@pytest.mark.parametrize(
    "more",
    [
        {"conversation_id": "3b0d4d0e-1111-4000-8000-000000000002"},
        {"prior_messages": [agent_pb2.PriorMessage(role=agent_pb2.MESSAGE_ROLE_USER, text="Hi.")]},
        {"conversation": 7},
    ],
)
async def test_a_conversation_is_not_started_within_another_one(
    agent: Agent, story: World, more: dict[str, Any]
) -> None:
    given = {"conversation": agent_pb2.CONVERSATION_START_NEW, **more}
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await agent.ask(QUESTION, **given)
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT


async def test_a_caller_who_may_only_read_starts_no_conversation(
    agent: Agent, story: World
) -> None:
    reading = (*ALICE, ("braid-scopes", "read"))
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await agent.ask(QUESTION, reading, conversation=agent_pb2.CONVERSATION_START_NEW)
    assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
    listed = await agent.stub.ListConversations(
        agent_pb2.ListConversationsRequest(), metadata=ALICE
    )
    assert list(listed.conversations) == []


async def test_a_follow_up_includes_the_earlier_messages(
    agent: Agent, model: Model, story: World
) -> None:
    conversation = await new_conversation(agent)
    model.says(Turn("Jonas Weber."))
    await agent.ask(QUESTION, conversation_id=conversation)
    await agent.ask("And since when?", conversation_id=conversation)
    received = messages_sent_to(model)
    assert received == [QUESTION, "Jonas Weber.", "And since when?"]


async def test_a_caller_can_supply_the_prior_messages(
    agent: Agent, model: Model, story: World
) -> None:
    before = [
        agent_pb2.PriorMessage(role=agent_pb2.MESSAGE_ROLE_USER, text="Hello"),
        agent_pb2.PriorMessage(role=agent_pb2.MESSAGE_ROLE_ASSISTANT, text="Hi."),
    ]
    await agent.ask(QUESTION, prior_messages=before)
    received = messages_sent_to(model)
    assert received == ["Hello", "Hi.", QUESTION]


async def test_older_messages_are_summarized_by_the_language_model(
    agent: Agent, model: Model, story: World
) -> None:
    model.server.routes["/v1/chat/completions"] = _stream_or_summarize(model)
    conversation = await new_conversation(agent)
    model.says(Turn(f"Long. {'word ' * 60}"))
    for number in range(4):
        await agent.ask(f"Question {number}?", conversation_id=conversation)
    async with asyncio.timeout(5):
        while not any("A SUMMARY" in json.dumps(sent) for sent in model.script.asked):
            await agent.ask("More?", conversation_id=conversation)


def _stream_or_summarize(model: Model) -> Any:
    streams = model.script.routes()["/v1/chat/completions"]

    def answer(request: dict[str, Any]) -> Any:
        if request.get("stream"):
            return streams(request)
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "A SUMMARY"},
        }
        return Reply(body=json.dumps({"choices": [choice], "usage": None}).encode())

    return answer


async def test_messages_beyond_the_token_limit_are_omitted_with_a_notice(
    agent: Agent, model: Model, story: World
) -> None:
    before = [
        agent_pb2.PriorMessage(role=role, text=f"{number} {'word ' * 40}")
        for number in range(6)
        for role in (agent_pb2.MESSAGE_ROLE_USER, agent_pb2.MESSAGE_ROLE_ASSISTANT)
    ]
    asked = await agent.ask(QUESTION, prior_messages=before)
    (notice,) = asked.of("notice")
    assert "messages of this conversation were left out." in notice.message
    assert notice.message in asked.done.answer


async def test_conversations_can_be_renamed_and_deleted(agent: Agent, story: World) -> None:
    conversation = await new_conversation(agent, "First")
    renamed = await agent.stub.RenameConversation(
        agent_pb2.RenameConversationRequest(conversation_id=conversation, title="Second"),
        metadata=ALICE,
    )
    assert renamed.conversation.title == "Second"
    await agent.ask(QUESTION, conversation_id=conversation)
    request = agent_pb2.DeleteConversationRequest(conversation_id=conversation)
    await agent.stub.DeleteConversation(request, metadata=ALICE)
    gone = agent.stub.DeleteConversation(request, metadata=ALICE)
    assert await code_of(gone) is grpc.StatusCode.NOT_FOUND


async def test_conversations_and_messages_are_paged_newest_first(
    agent: Agent, story: World
) -> None:
    made = [await new_conversation(agent, str(number)) for number in range(5)]
    found: list[str] = []
    token = ""
    while True:
        page = await agent.stub.ListConversations(
            agent_pb2.ListConversationsRequest(page_size=2, page_token=token), metadata=ALICE
        )
        found += [one.id for one in page.conversations]
        token = page.next_page_token
        if not token:
            break
    assert found == made[::-1]

    for number in range(2):
        await agent.ask(f"Question {number}?", conversation_id=made[0])
    numbers: list[int] = []
    while True:
        messages = await agent.stub.ListMessages(
            agent_pb2.ListMessagesRequest(conversation_id=made[0], page_size=3, page_token=token),
            metadata=ALICE,
        )
        numbers += [one.number for one in messages.messages]
        token = messages.next_page_token
        if not token:
            break
    assert numbers == [4, 3, 2, 1]


async def test_a_user_cannot_access_another_users_conversations_or_runs(
    agent: Agent, story: World
) -> None:
    conversation = await new_conversation(agent)
    asked = await agent.ask(QUESTION, conversation_id=conversation)
    named: dict[str, Any] = {"conversation_id": conversation}
    stub, run_id = agent.stub, asked.run_id
    for call in (
        stub.GetConversation(agent_pb2.GetConversationRequest(**named), metadata=BOB),
        stub.ListMessages(agent_pb2.ListMessagesRequest(**named), metadata=BOB),
        stub.RenameConversation(
            agent_pb2.RenameConversationRequest(title="Mine", **named), metadata=BOB
        ),
        stub.DeleteConversation(agent_pb2.DeleteConversationRequest(**named), metadata=BOB),
        agent.open(QUESTION, BOB, **named),
        stub.StreamRunEvents(agent_pb2.StreamRunEventsRequest(run_id=run_id), metadata=BOB),
        stub.CancelRun(agent_pb2.CancelRunRequest(run_id=run_id), metadata=BOB),
    ):
        assert await code_of(call) is grpc.StatusCode.NOT_FOUND
    listed = await stub.ListConversations(agent_pb2.ListConversationsRequest(), metadata=BOB)
    assert not listed.conversations


async def test_a_second_question_waits_for_the_first_one(
    agent: Agent, model: Model, story: World
) -> None:
    model.says(Turn(tools=[SEARCH]), Turn("First."), Turn("Second."))
    story.vector.script.acts["HybridSearch"] = wait(0.1)
    conversation = await new_conversation(agent)
    first, second = await asyncio.gather(
        agent.ask("First?", conversation_id=conversation),
        _after_the_search_started(story, agent.ask("Second?", conversation_id=conversation)),
    )
    assert (first.done.answer, second.done.answer) == ("First.", "Second.")
    texts = [message.text for message in await messages_of(agent, conversation)]
    assert texts == ["First?", "First.", "Second?", "Second."]


async def _after_the_search_started(world: World, work: Any) -> AgentRun:
    await world.vector.script.seen.wait()
    asked: AgentRun = await work
    return asked


async def test_a_second_question_that_waits_too_long_is_rejected(
    agent: Agent, model: Model, story: World
) -> None:
    model.says(Turn(tools=[SEARCH]))
    story.vector.script.acts["HybridSearch"] = hang
    conversation = await new_conversation(agent)
    first = agent.open("First?", conversation_id=conversation)
    await first.read()
    second = agent.open("Second?", conversation_id=conversation)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await second.read()
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "still answering another question" in (caught.value.details() or "")
    first.cancel()


async def test_canceling_a_run_stops_its_tools_and_frees_the_conversation(
    agent: Agent, model: Model, story: World
) -> None:
    model.says(Turn(tools=[SEARCH]), Turn("Then."))
    story.vector.script.acts["HybridSearch"] = hang
    conversation = await new_conversation(agent)
    call = agent.open("First?", conversation_id=conversation)
    run_id = (await call.read()).event.started.run_id
    await story.vector.script.seen.wait()
    await agent.stub.CancelRun(agent_pb2.CancelRunRequest(run_id=run_id), metadata=ALICE)
    rest = await rest_of(call)
    assert rest[-1].done.end == agent_pb2.RUN_END_CANCELLED
    await asyncio.wait_for(story.vector.script.cancelled.wait(), 5)
    del story.vector.script.acts["HybridSearch"]
    assert (await agent.ask("Again?", conversation_id=conversation)).done.answer == "Then."


async def test_a_run_continues_for_a_reader_that_reconnects(
    agent: Agent, model: Model, story: World
) -> None:
    model.says(Turn(tools=[SEARCH]), Turn("Done."))
    story.vector.script.acts["HybridSearch"] = wait(0.1)
    call = agent.open(QUESTION)
    started = (await call.read()).event
    call.cancel()
    resumed = agent.stub.StreamRunEvents(
        agent_pb2.StreamRunEventsRequest(run_id=started.started.run_id, after_event_id=started.id),
        metadata=ALICE,
    )
    events = [answer.event async for answer in resumed]
    assert events[0].id == started.id + 1
    assert events[-1].done.answer == "Done."


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_run_without_readers_is_stopped(
    agent: Agent, model: Model, story: World, at_once: bool
) -> None:
    model.says(Turn(tools=[SEARCH]))
    story.vector.script.acts["HybridSearch"] = hang
    call = agent.open(QUESTION, cancel_on_disconnect=at_once)
    await call.read()
    await story.vector.script.seen.wait()
    call.cancel()
    await asyncio.wait_for(story.vector.script.cancelled.wait(), 5)


@pytest.fixture
async def replica(world: World) -> AsyncIterator[Agent]:
    """Another process over the same database."""
    async with AsyncExitStack() as stack:
        embedders = Embedders(world.embedder, world.embedder)
        app = await stack.enter_async_context(
            open_app(world.agent, world.runtime, embedders, world.options)
        )
        server = await start_server(
            settings=world.runtime, listen="127.0.0.1:0", services=app.services, probes=app.probes
        )
        stack.push_async_callback(server.stop)
        channel = open_channel(f"127.0.0.1:{server.port}", retry=False)
        stack.push_async_callback(channel.close)
        yield Agent(agent_pb2_grpc.AgentServiceStub(channel))


async def test_another_replica_can_resume_and_cancel_a_run(
    agent: Agent, replica: Agent, model: Model, story: World
) -> None:
    model.says(Turn(tools=[SEARCH]))
    story.vector.script.acts["HybridSearch"] = hang
    call = agent.open(QUESTION)
    run_id = (await call.read()).event.started.run_id
    following: Any = replica.stub.StreamRunEvents(
        agent_pb2.StreamRunEventsRequest(run_id=run_id), metadata=ALICE
    )
    assert (await following.read()).event.started.run_id == run_id
    await replica.stub.CancelRun(agent_pb2.CancelRunRequest(run_id=run_id), metadata=ALICE)
    mine = await rest_of(call)
    theirs = await rest_of(following)
    assert mine == theirs[-len(mine) :]
    assert theirs[-1].done.end == agent_pb2.RUN_END_CANCELLED


async def test_a_run_read_through_another_replica_continues_until_that_reader_leaves(
    agent: Agent, replica: Agent, model: Model, story: World
) -> None:
    model.says(Turn(tools=[SEARCH]))
    story.vector.script.acts["HybridSearch"] = hang
    call = agent.open(QUESTION)
    run_id = (await call.read()).event.started.run_id
    await story.vector.script.seen.wait()
    following: Any = replica.stub.StreamRunEvents(
        agent_pb2.StreamRunEventsRequest(run_id=run_id), metadata=ALICE
    )
    await following.read()
    call.cancel()
    # Longer than a run without readers continues.
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(story.vector.script.cancelled.wait(), 1.0)
    following.cancel()
    await asyncio.wait_for(story.vector.script.cancelled.wait(), 10)


async def test_unknown_runs_and_conversations_are_not_found(agent: Agent, story: World) -> None:
    unknown = str(uuid.uuid4())
    calls: tuple[Any, ...] = (
        agent.open(QUESTION, conversation_id=unknown),
        agent.stub.StreamRunEvents(
            agent_pb2.StreamRunEventsRequest(run_id=unknown), metadata=ALICE
        ),
        agent.stub.CancelRun(agent_pb2.CancelRunRequest(run_id=unknown), metadata=ALICE),
    )
    for call in calls:
        assert await code_of(call) is grpc.StatusCode.NOT_FOUND
