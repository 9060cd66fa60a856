"""Questions that are completed from the conversation, and the choice between their readings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.agent.planner.answers import (
    AnsweredPart,
    better_readings,
    compose,
)
from services.agent_orchestrator.agent.planner.entity_recognition import KnownEntity
from services.agent_orchestrator.agent.planner.follow_up import (
    MAX_PARTS,
    Turn,
    no_choice,
    parts_left_out,
    understand,
)
from services.agent_orchestrator.agent.planner.question import Clock, Question
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.results import Citation, ResultItem, ToolResult

CLOCK = Clock(datetime(2026, 11, 24, 10, tzinfo=UTC), ZoneInfo("UTC"))
BELL = "Where does the brass bell hang?"
INVENTORY = (
    "The brass bell hangs in the tower. The red lamp hangs above the stairs. The red lamp was bought in 2019. "
    "The museum opens at nine. The brass bell has hung there since 1907."
)
MOST_READINGS = 2 * MAX_PARTS


async def link(_text: str) -> Sequence[KnownEntity]:
    return []


async def read(text: str, *before: str, answer: str = "") -> list[Question]:
    return await understand(text, [Turn(one, answer) for one in before], CLOCK, link, no_choice)


@pytest.mark.parametrize(
    ("before", "follow_up", "completed"),
    [
        (BELL, "and the red lamp?", "Where does the red lamp hang?"),
        (BELL, "What about the lamp?", "Where does the lamp hang?"),
        ("When was the old bell cast?", "and the new lamp?", "When was the new lamp cast?"),
        ("What is the price of the hose?", "and the barrow?", "What is the price of the barrow?"),
        ("Who leads the sales crew?", "and the night crew?", "Who leads the night crew?"),
        ("What hangs in the hall?", "and in the kitchen?", "What hangs in the kitchen?"),
        ("Where does Alice live?", "and Bob?", "Where does Bob live?"),
        ("Where does Alice live?", "and the gardener?", "Where does the gardener live?"),
        ("Who was on call in August?", "And in September?", "Who was on call in September?"),
        ("Who was on call in August?", "In September?", "Who was on call In September?"),
        (BELL, "Since when?", "Since when does the brass bell hang?"),
        (BELL, "Why?", "Why does the brass bell hang?"),
        (BELL, "When was that?", "When does the brass bell hang?"),
        ("Who owns the barn?", "since when?", "Who owns the barn, since when?"),
        ("We chose the barn.", "Why did we?", "We chose the barn, why?"),
        (
            "What does the Marlin probe cost?",
            "why did that change?",
            "why did the Marlin probe cost change?",
        ),
        (BELL, "Who made it?", "Who made the brass bell?"),
    ],
)
async def test_a_follow_up_is_completed_by_its_missing_part(
    before: str, follow_up: str, completed: str
) -> None:
    readings = await read(follow_up, before)
    assert readings[0].text == completed


async def test_a_completed_question_is_the_one_that_the_next_follow_up_continues() -> None:
    [question] = await read("Who made it?", BELL, "and the red lamp?")
    assert question.text == "Who made the red lamp?"


async def test_a_personal_pronoun_means_a_person_that_the_answer_names() -> None:
    [question] = await read(
        "Where does she live?", "Who chairs the board?", answer="“Ada Byron chairs the board.” [1]"
    )
    assert question.text == "Where does Ada Byron live?"


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("What is the brass bell made of and who owns it?", "who owns the brass bell?"),
        ("Who owns Hill Farm and when was it founded?", "when was Hill Farm founded?"),
    ],
)
async def test_a_pronoun_in_the_second_part_means_the_topic_of_the_first(
    text: str, second: str
) -> None:
    assert [one.text for one in await read(text)][1:] == [second]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "how heavy is the Osprey? when is lunch? what does the soup cost?",
            ["how heavy is the Osprey?", "when is lunch?", "what does the soup cost?"],
        ),
        (f"{BELL} and the red lamp?", [BELL, "Where does the red lamp hang?", "and the red lamp?"]),
        ("Who owns the barn? Since when?", ["Who owns the barn? and Since when?"]),
    ],
)
async def test_a_question_that_stands_alone_is_asked_alone(text: str, parts: list[str]) -> None:
    assert [one.text for one in await read(text)] == parts


async def test_questions_beyond_the_limit_are_left_out_and_known() -> None:
    asked = [f"What does part {number} cost?" for number in range(8)]
    text = " ".join(asked)
    assert [one.text for one in await read(text)] == asked[:MAX_PARTS]
    assert parts_left_out(text) == asked[MAX_PARTS:]


@pytest.mark.parametrize(
    "text", ["Thanks!", "How much does the red lamp weigh?", "What do you know about me?"]
)
async def test_what_needs_no_completion_stays_as_it_is(text: str) -> None:
    assert [one.text for one in await read(text, BELL)] == [text]


async def test_without_earlier_turns_nothing_is_completed() -> None:
    assert [one.text for one in await read("and the red lamp?")] == ["and the red lamp?"]


async def answered(reading: Reading, text: str, *before: str) -> str:
    cited = Citation("d1", "Inventory", "wiki", "c1", 0, len(INVENTORY), INVENTORY)
    found = ToolResult(
        "comprehensive_search",
        "ok",
        "acme",
        items=(ResultItem("passage", INVENTORY, 0.6, citations=(cited,)),),
    )
    parts = [AnsweredPart(one, (found,)) for one in await read(text, *before)]
    return (
        await compose(await better_readings(parts, reading), reading, introduce=False)
    ).text.splitlines()[0]


@pytest.mark.parametrize(
    ("follow_up", "said"),
    [
        ("and the red lamp?", "“The red lamp hangs above the stairs.”"),
        ("Since when?", "since 1907"),
        # "It" does not mean the bell here.
        ("Is it true that the museum opens at nine?", "“The museum opens at nine.”"),
    ],
)
async def test_the_reading_that_is_answered_better_counts(
    reading: Reading, follow_up: str, said: str
) -> None:
    assert said in await answered(reading, follow_up, BELL)


async def test_a_wrong_completion_loses_to_the_text_as_given(reading: Reading) -> None:
    [completed, given] = await read("and the red lamp?", "Who is the mayor of the town?")
    assert completed.text == "Who is the mayor of the red lamp?"
    assert given.is_alternative
    assert "red lamp" in await answered(
        reading, "and the red lamp?", "Who is the mayor of the town?"
    )


WORDS = "and|the|red lamp|it|that|since when|why|who|owns|in 2023|does|is|谁负责|Кто|was|of|?|she|what about|Ada|cast"
FREE = st.one_of(
    st.text(max_size=200),
    st.text(alphabet=st.sampled_from("?!.,;:-–— ()¿"), max_size=60),
    st.lists(st.sampled_from(WORDS.split("|")), max_size=12).map(" ".join),
)


@given(FREE, st.lists(FREE, max_size=3))
async def test_any_text_has_a_bounded_number_of_readings(text: str, before: list[str]) -> None:
    readings = await read(text, *before, answer=text)
    assert 1 <= len(readings) <= MOST_READINGS
    assert not readings[0].is_alternative


@pytest.mark.parametrize(
    "text",
    [
        "the brass bell " * 546,
        "x" * 8_192,
        "?!" * 4_096,
        "谁负责 the лампа " * 512,
        "Who owns it and when did that change? " * 10,
        "",
    ],
)
async def test_long_and_odd_texts_are_read(text: str) -> None:
    readings = await read(text, BELL, text, "and the red lamp?")
    assert 1 <= len(readings) <= MOST_READINGS
