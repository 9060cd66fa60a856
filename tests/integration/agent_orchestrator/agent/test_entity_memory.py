"""Statements in a conversation are stored in the user's entity memory and found by the user's later questions."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from braid.agent.v1 import agent_pb2, entity_memory_pb2_grpc
from braid.agent.v1 import entity_memory_pb2 as memory_pb2
from tests.integration.agent_orchestrator.agent.conftest import Agent, AgentRun
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, Metadata, World

USE = "I use Grafana for monitoring."
QUESTION = "What do I use for monitoring?"


async def conversation(agent: Agent, who: Metadata = ALICE) -> str:
    made = await agent.stub.CreateConversation(agent_pb2.CreateConversationRequest(), metadata=who)
    return str(made.conversation.id)


async def say(agent: Agent, text: str, where: str, who: Metadata = ALICE, **more: bool) -> AgentRun:
    """Asks with the entity memory on."""
    return await agent.ask(text, who, **{"conversation_id": where, "skip_memory": False, **more})


def tools(asked: AgentRun) -> set[str]:
    return {call.tool for call in asked.of("tool_call")}


@pytest.fixture
def memory(world: World) -> entity_memory_pb2_grpc.EntityMemoryServiceStub:
    return entity_memory_pb2_grpc.EntityMemoryServiceStub(world.channel)


async def test_a_statement_is_found_by_the_next_question(agent: Agent, answers: World) -> None:
    where = await conversation(agent)
    await say(agent, USE, where)
    asked = await say(agent, QUESTION, where)
    assert tools(asked) == {"query_graph", "search_conversations"}
    assert "You use Grafana." in asked.done.answer
    [source] = asked.of("citation")
    assert source.quote == USE


async def test_statements_are_shared_between_a_users_conversations_but_not_between_users(
    agent: Agent, answers: World
) -> None:
    await say(agent, USE, await conversation(agent))
    elsewhere = await say(agent, QUESTION, await conversation(agent))
    stranger = await say(agent, QUESTION, await conversation(agent, BOB), BOB)
    assert "Grafana" in elsewhere.done.answer
    assert "Grafana" not in stranger.done.answer
    assert tools(stranger) == {"query_graph", "search_conversations"}


async def test_a_question_about_colleagues_is_answered_from_memory(
    agent: Agent, answers: World
) -> None:
    where = await conversation(agent)
    await say(agent, "I work with Sarah and Tariq.", where)
    asked = await say(agent, "Who do I work with?", where)
    assert tools(asked) == {"query_graph", "search_conversations"}
    assert {"You work with Sarah.", "You work with Tariq."} <= {
        line.split(" [")[0].lstrip("- ") for line in asked.done.answer.splitlines()
    }


async def test_what_is_known_about_a_user_is_listed_with_the_sentences_that_say_it(
    agent: Agent, answers: World
) -> None:
    where = await conversation(agent)
    await say(agent, USE, where)
    await say(agent, "I work with Sarah.", where)
    asked = await say(agent, "What do you know about me?", where)
    assert tools(asked) == {"query_graph", "search_conversations"}
    assert "You work with Sarah." in asked.done.answer
    assert "You use Grafana." in asked.done.answer
    assert {source.quote for source in asked.of("citation")} == {USE, "I work with Sarah."}


async def test_a_withdrawn_statement_is_forgotten(agent: Agent, answers: World) -> None:
    where = await conversation(agent)
    await say(agent, USE, where)
    await say(agent, "We no longer use Grafana.", where)
    asked = await say(agent, "What do I use?", where)
    assert "You use Grafana" not in asked.done.answer


async def test_what_a_user_asks_to_forget_is_named_and_no_longer_known(
    agent: Agent, answers: World
) -> None:
    where = await conversation(agent)
    await say(agent, USE, where)
    asked = await say(agent, "Please forget that I use Grafana", where)
    assert tools(asked) == {"forget"}
    assert "Forgotten: “You use Grafana”." in asked.done.answer
    assert "Grafana" not in (await say(agent, QUESTION, where)).done.answer
    again = await say(agent, "Please forget that I use Grafana", where)
    assert "Nothing about this is in your memory." in again.done.answer


async def test_everything_is_forgotten_once_it_is_confirmed(agent: Agent, answers: World) -> None:
    where = await conversation(agent)
    await say(agent, USE, where)
    asked = await say(agent, "Forget everything about me.", where)
    assert "Yes, forget everything." in asked.done.answer
    assert "Grafana" in (await say(agent, QUESTION, where)).done.answer
    done = await say(agent, "Yes, forget everything.", where)
    assert "is erased: 1 names and 1 relationships" in done.done.answer
    assert "Grafana" not in (await say(agent, QUESTION, where)).done.answer


async def test_nobody_forgets_for_another_user(agent: Agent, answers: World) -> None:
    await say(agent, USE, await conversation(agent))
    theirs = await conversation(agent, BOB)
    await say(agent, "Forget that I use Grafana", theirs, BOB)
    await say(agent, "Yes, forget everything.", theirs, BOB)
    assert "Grafana" in (await say(agent, QUESTION, await conversation(agent))).done.answer


async def test_a_question_with_skip_memory_stores_nothing(
    agent: Agent, answers: World, memory: entity_memory_pb2_grpc.EntityMemoryServiceStub
) -> None:
    where = await conversation(agent)
    await say(agent, USE, where, skip_memory=True)
    asked = await say(agent, QUESTION, where)
    assert "You use Grafana" not in asked.done.answer
    found = await memory.QueryEntities(memory_pb2.QueryEntitiesRequest(), metadata=ALICE)
    assert [hit.entity.name for hit in found.hits] == []


async def test_a_statement_is_noted_only_if_it_is_saved(agent: Agent, answers: World) -> None:
    where = await conversation(agent)
    saved = await say(agent, USE, where)
    skipped = await say(agent, USE, where, skip_memory=True)
    assert saved.done.answer.startswith("Noted")
    assert skipped.done.answer.startswith("All right.")


async def test_a_statement_is_answered_with_what_was_noted_and_how_to_undo_it(
    agent: Agent, answers: World
) -> None:
    where = await conversation(agent)
    await say(agent, USE, where)
    await say(agent, QUESTION, where)  # the process that reads statements has started
    noted = (await say(agent, "I work with Tomek Nowak.", where)).done.answer
    assert noted.startswith("Noted: you work with Tomek Nowak.")
    who = "Who do I work with?"
    assert "Tomek Nowak" in (await say(agent, who, where)).done.answer
    await say(agent, noted.partition("“")[2].partition("”")[0], where)
    assert "You work with Tomek" not in (await say(agent, who, where)).done.answer
    assert "Grafana" in (await say(agent, QUESTION, where)).done.answer


async def test_what_the_memory_does_not_understand_is_not_said_to_be_noted(
    agent: Agent, answers: World
) -> None:
    where = await conversation(agent)
    await say(agent, USE, where)
    await say(agent, QUESTION, where)
    assert (await say(agent, "I am tired.", where)).done.answer.startswith("All right.")


async def test_what_a_chat_front_end_quotes_is_neither_searched_nor_saved(
    agent: Agent, answers: World
) -> None:
    prompt = f"Generate a concise title for the chat.\n\nConversation:\nUser: {USE}\nAI: Noted."
    where = await conversation(agent)
    titled = await say(agent, prompt, where)
    assert tools(titled) == set()
    assert "Grafana" in titled.done.answer
    asked = await say(agent, QUESTION, where)
    assert "You use Grafana" not in asked.done.answer


async def test_the_source_of_an_entity_outlives_its_conversation(
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


async def test_a_statement_is_stored_without_another_question(
    agent: Agent, answers: World, memory: entity_memory_pb2_grpc.EntityMemoryServiceStub
) -> None:
    """Extraction runs after the answer; the entity is stored soon afterwards, without another question."""
    await say(agent, USE, await conversation(agent))
    async with asyncio.timeout(20):
        while not (  # noqa: ASYNC110 - the memory has no event to wait for
            await memory.QueryEntities(memory_pb2.QueryEntitiesRequest(), metadata=ALICE)
        ).hits:
            await asyncio.sleep(0.05)


READER = (*ALICE, ("braid-scopes", "read"))


async def test_a_caller_that_may_only_read_saves_nothing(
    agent: Agent, answers: World, memory: entity_memory_pb2_grpc.EntityMemoryServiceStub
) -> None:
    where = await conversation(agent)
    await say(agent, "Hello.", where)
    asked = await say(agent, USE, where, READER)
    assert asked.done.end == agent_pb2.RUN_END_COMPLETE
    assert any("may only read" in notice.message for notice in asked.of("notice"))
    assert not {"save_entity", "save_relationship"} & set(asked.events[0].started.tools)
    found = await agent.stub.GetConversation(
        agent_pb2.GetConversationRequest(conversation_id=where), metadata=ALICE
    )
    assert [message.text for message in found.messages][::2] == ["Hello."]
    entities = await memory.QueryEntities(
        memory_pb2.QueryEntitiesRequest(page_size=10), metadata=ALICE
    )
    assert list(entities.hits) == []
    # The conversation is free for the next question.
    assert (await say(agent, QUESTION, where)).done.end == agent_pb2.RUN_END_COMPLETE


@pytest.mark.parametrize(
    "method", ["CreateConversation", "RenameConversation", "DeleteConversation"]
)
async def test_conversations_are_changed_with_the_scope_write_alone(
    agent: Agent, answers: World, method: str
) -> None:
    where = await conversation(agent)
    named = {} if method == "CreateConversation" else {"conversation_id": where}
    title = {} if method == "DeleteConversation" else {"title": "t"}
    request = getattr(agent_pb2, f"{method}Request")(**named, **title)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await getattr(agent.stub, method)(request, metadata=READER)
    assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED


async def test_a_run_whose_answer_is_kept_is_cancelled_with_the_scope_write_alone(
    agent: Agent, answers: World
) -> None:
    kept = await say(agent, USE, await conversation(agent))
    unkept = await say(agent, USE, "", READER)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await agent.stub.CancelRun(agent_pb2.CancelRunRequest(run_id=kept.run_id), metadata=READER)
    assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
    await agent.stub.CancelRun(agent_pb2.CancelRunRequest(run_id=unkept.run_id), metadata=READER)


async def test_what_the_memory_does_not_understand_is_quoted_from_the_users_own_messages(
    agent: Agent, answers: World
) -> None:
    where = await conversation(agent)
    told = await say(agent, "I'm vegetarian.", where)
    assert "I keep that in mind" in told.done.answer
    asked = await say(agent, "Am I vegetarian?", await conversation(agent))
    assert "you wrote: “I'm vegetarian.”" in asked.done.answer
    other = await say(agent, "When is my birthday?", where)
    assert "Nothing is remembered about you on this yet." in other.done.answer
    stranger = await say(agent, "Am I vegetarian?", await conversation(agent, BOB), BOB)
    assert "Nothing is remembered about you on this yet." in stranger.done.answer


async def test_a_message_that_is_to_be_forgotten_is_not_quoted_any_more(
    agent: Agent, answers: World
) -> None:
    where, theirs = await conversation(agent), await conversation(agent, BOB)
    await say(agent, "I'm vegetarian.", where)
    await say(agent, "I'm vegetarian.", theirs, BOB)
    gone = await say(agent, "Please forget that I'm vegetarian.", where)
    assert "is no longer found (messages: 1)" in gone.done.answer
    asked = await say(agent, "Am I vegetarian?", where)
    assert "Nothing is remembered about you on this yet." in asked.done.answer
    assert "vegetarian" in (await say(agent, "Am I vegetarian?", theirs, BOB)).done.answer
    kept = await agent.stub.GetConversation(
        agent_pb2.GetConversationRequest(conversation_id=where), metadata=ALICE
    )
    assert "I'm vegetarian." in [message.text for message in kept.messages]


async def test_what_took_the_place_of_something_is_told_with_what_was_before(
    agent: Agent, answers: World
) -> None:
    where = await conversation(agent)
    await say(agent, "My boss is Ana.", where)
    told = await say(agent, "My boss is Bob now.", where)
    assert "Noted: your boss is Bob (before: Ana)." in told.done.answer
    assert "Your boss is Bob." in (await say(agent, "Who is my boss?", where)).done.answer
    past = await say(agent, "Who was my boss before?", where)
    assert "Your boss was Ana until" in past.done.answer


async def test_undoing_a_statement_brings_back_what_was_before_and_says_so(
    agent: Agent, answers: World
) -> None:
    where = await conversation(agent)
    await say(agent, "My boss is Ana.", where)
    told = await say(agent, "My boss is Bob.", where)
    assert "“forget that my boss is Bob”" in told.done.answer
    undone = await say(agent, "Forget that my boss is Bob.", where)
    assert "Forgotten: “Your boss is Bob”." in undone.done.answer
    assert "As before: “Your boss is Ana”." in undone.done.answer
    assert "Your boss is Ana." in (await say(agent, "Who is my boss?", where)).done.answer
    await say(agent, "My boss is Carl.", where)
    gone = await say(agent, "Forget my boss.", where)
    assert "As before" not in gone.done.answer
    assert "Ana" not in (await say(agent, "Who is my boss?", where)).done.answer


async def test_a_statement_about_something_else_than_the_user_is_noted_too(
    agent: Agent, answers: World
) -> None:
    where = await conversation(agent)
    told = await say(agent, "Sturmvogel needs PostgreSQL and Redis.", where)
    assert tools(told) == set()
    assert "Noted: Sturmvogel depends on PostgreSQL" in told.done.answer


async def test_what_has_a_role_is_forgotten_by_it(agent: Agent, answers: World) -> None:
    where = await conversation(agent)
    await say(agent, "My boss is Ana.", where)
    gone = await say(agent, "Forget my boss.", where)
    assert "Forgotten: “Your boss is Ana”." in gone.done.answer
    assert "Ana" not in (await say(agent, "Who is my boss?", where)).done.answer


async def test_nothing_is_said_to_be_kept_in_mind_that_stands_in_no_conversation(
    agent: Agent, answers: World
) -> None:
    told = await agent.ask("I'm vegetarian.", ALICE, skip_memory=False)
    assert "I keep that in mind" not in told.done.answer
