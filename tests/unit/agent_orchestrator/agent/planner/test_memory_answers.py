"""Of what a user's memory has, only what answers is an answer, as a model reads it next to the question."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from services.agent_orchestrator.agent.planner.memory_answers import select
from services.agent_orchestrator.agent.planner.question import read_question
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.results import Citation, ResultItem
from tests.unit.agent_orchestrator.agent.planner.test_answers import CLOCK


def said(quote: str) -> Citation:
    return Citation("", "Your memory", "conversation", "", 0, len(quote), quote)


def message(quote: str) -> ResultItem:
    return ResultItem(
        "memory", f"On 29 November 2026 you wrote: “{quote}”", citations=(said(quote),)
    )


def known(text: str, relation: str, quote: str, *, is_asked: bool = False) -> ResultItem:
    return ResultItem(
        "memory", text, relation=relation, citations=(said(quote),), is_asked=is_asked
    )


ITEMS = [
    known("You use NATS.", "USES", "We switched from Kafka to NATS."),
    known("You work on Sturmvogel.", "WORKS_ON", "I work on Sturmvogel."),
    known("Your laptop is ThinkPad X1.", "USES", "My laptop is a ThinkPad X1."),
    message("I'm vegetarian."),
    message("My birthday is on 4 May."),
    message("My sister Mara lives in Linz."),
    message("I don't use Docker."),
    message("Is my sister vegetarian?"),
    message("Please forget that my brother lives in Rome."),
    message("Imagine I am a captain who uses a compass."),
    message('ERROR 2026-11-02 user=bob said "My phone number is 555 and I live in Paris"'),
    message("My salary is a million, said nobody ever."),
]


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("Am I vegetarian?", "I'm vegetarian."),
        ("When is my birthday?", "My birthday is on 4 May."),
        ("Where does my sister live?", "My sister Mara lives in Linz."),
        ("Do I use Docker?", "I don't use Docker."),
        ("What computer do I have?", "My laptop is a ThinkPad X1."),
    ],
)
async def test_what_was_said_answers_whatever_the_memory_understood_of_it(
    reading: Reading, question: str, quote: str
) -> None:
    chosen = await select(read_question(question, [], CLOCK), ITEMS, reading)
    assert [one.citations[0].quote for one in chosen] == [quote]


@pytest.mark.parametrize(
    "question",
    [
        "What is my dog called?",
        "Where does my brother live?",
        "What is my phone number?",
        "Do I use a compass?",
        "Where do I live?",
        "What is my salary?",
    ],
)
async def test_what_was_neither_said_nor_understood_is_not_answered(
    reading: Reading, question: str
) -> None:
    assert await select(read_question(question, [], CLOCK), ITEMS, reading) == []


async def test_what_is_of_the_relation_asked_for_is_the_answer_as_it_stands(
    reading: Reading,
) -> None:
    asked = known("You use Zed.", "USES", "I use Zed.", is_asked=True)
    chosen = await select(read_question("What do I use?", [], CLOCK), [*ITEMS, asked], reading)
    assert chosen == [asked]


async def test_of_what_was_said_twice_the_last_comes_first(reading: Reading) -> None:
    first, last = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    said_first = replace(message("I am 34 years old."), valid_from=first)
    said_last = replace(message("Actually I am 35 years old."), valid_from=last)
    question = read_question("How old am I?", [], CLOCK)
    assert await select(question, [said_first, said_last], reading) == [said_last, said_first]


async def test_what_was_looked_for_in_conversations_is_shown_as_it_was_found(
    reading: Reading,
) -> None:
    question = read_question("When did I tell you about my birthday?", [], CLOCK)
    assert await select(question, ITEMS[3:5], reading) == ITEMS[3:5]
