"""Conversations in passages: who wrote what when, and quotations that stay within one message."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.agent.planner.answers import AnsweredPart, compose
from services.agent_orchestrator.agent.planner.messages import messages_in
from services.agent_orchestrator.agent.planner.question import Clock, read_question
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.planner.statements import passage_statements
from services.agent_orchestrator.agent.results import Citation, ResultItem, ToolResult
from services.agent_orchestrator.ingest.formats.message_threads import Thread, read_messages

CLOCK = Clock(datetime(2026, 11, 24, 10, tzinfo=UTC), ZoneInfo("UTC"))
THREAD = (
    "so we met at the harbor\n\n"
    "Priya (2024-05-03 09:15): Morning all\n\n"
    "Tomas (2024-05-03 09:16): Hey Priya! Sold my boat yesterday. The buyer was in a hurry\n\n"
    "Priya (2024-05-03 09:18): Sorry to hear it.\nWe start the pottery course on Tuesday"
)


def passage(text: str) -> ResultItem:
    cited = Citation("t1", "Chat", "threads", "c1", 40, 40 + len(text), text)
    return ResultItem(
        "passage", text, 0.6, valid_from=datetime(2024, 5, 3, 9, 18, tzinfo=UTC), citations=(cited,)
    )


async def answer(reading: Reading, question: str, *items: ResultItem, status: str = "ok") -> str:
    asked = read_question(question, [], CLOCK)
    found = ToolResult("comprehensive_search", "ok", "acme", items=items)
    unknown = ToolResult("search_knowledge_graph", "unknown_entity", "acme", entity="Tomas")
    results = (found,) if status == "ok" else (unknown, found)
    return (await compose([AnsweredPart(asked, results)], reading, introduce=False)).text


def test_each_sentence_has_the_author_and_time_of_its_message() -> None:
    stated = passage_statements([passage(THREAD)])
    said = [(one.message.author if one.message else "", one.text) for one in stated]
    assert said == [
        ("", "so we met at the harbor"),
        ("Priya", "Morning all"),
        ("Tomas", "Hey Priya!"),
        ("Tomas", "Sold my boat yesterday."),
        ("Tomas", "The buyer was in a hurry"),
        ("Priya", "Sorry to hear it."),
        ("Priya", "We start the pottery course on Tuesday"),
    ]
    for one in stated:
        assert one.citation is not None
        assert THREAD[one.citation.start - 40 : one.citation.end - 40] == one.text


@pytest.mark.parametrize(
    "question", ["When did Tomas sell his boat?", "What did Tomas sell in May 2024?"]
)
async def test_a_message_answers_with_its_author_and_date(reading: Reading, question: str) -> None:
    text = await answer(reading, question, passage(THREAD))
    assert text.removeprefix("- ").startswith(
        "Tomas: “Sold my boat yesterday.” [1] (Chat · threads), 3 May 2024"
    )


async def test_the_graph_need_not_know_somebody_who_wrote_a_message(reading: Reading) -> None:
    text = await answer(
        reading, "When did Tomas sell his boat?", passage(THREAD), status="unknown_entity"
    )
    assert "does not know" not in text


def test_the_text_of_an_ingested_thread_is_read_as_its_messages() -> None:
    lines = [
        '{"thread": "t", "author": "Ana María (ops)", "time": "2024-05-03T09:15:00Z", "text": "Hi.\\n\\nAll is well."}',
        '{"thread": "t", "time": "2024-05-03T09:16:00Z", "text": "Pump restarted: 4 bar"}',
    ]
    [thread] = read_messages("\n".join(lines).encode(), "t", 10_000)
    assert isinstance(thread, Thread)
    stated = passage_statements([passage(thread.layout.text)])
    said = [
        (one.message.author, one.message.time.minute, one.text) for one in stated if one.message
    ]
    assert said == [
        ("Ana María (ops)", 15, "Hi."),
        ("Ana María (ops)", 15, "All is well."),
        ("", 16, "Pump restarted: 4 bar"),
    ]


def test_a_heading_with_an_impossible_date_is_text() -> None:
    assert not messages_in("Tomas (2024-13-45 09:16): Hello")


@given(st.text(alphabet=st.sampled_from("Aa :()\n2024-05-03 09:15é"), max_size=300))
def test_messages_lie_in_order_within_any_passage(text: str) -> None:
    end = 0
    for message in messages_in(text):
        assert end <= message.start <= message.end <= len(text)
        end = message.end
