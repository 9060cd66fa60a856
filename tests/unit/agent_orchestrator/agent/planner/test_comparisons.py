"""A comparison of things about which no facts are stated quotes a sentence about each of them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.agent_orchestrator.agent.planner.comparisons import sides_left_out, with_each_side
from services.agent_orchestrator.agent.planner.question import Clock, read_question
from services.agent_orchestrator.agent.planner.statements import Statement, passage_statements
from services.agent_orchestrator.agent.results import Citation, ResultItem

CLOCK = Clock(datetime(2026, 11, 24, 10, tzinfo=UTC), UTC)
KESTREL = "The Kestrel probe weighs 120 kilograms."
OSPREY = "The Osprey probe weighs 310 kilograms."
SOUP = "The soup costs two euros."


def read(*texts: str) -> list[Statement]:
    """Returns sentences of one document each, as if they were read to answer in this order."""
    return [
        statement
        for number, text in enumerate(texts)
        for statement in passage_statements(
            [
                ResultItem(
                    "passage",
                    text,
                    0.6,
                    citations=(
                        Citation(f"{number}.md", "Note", "", f"c{number}", 0, len(text), text),
                    ),
                )
            ]
        )
    ]


def answer(question: str, chosen: list[str], *sentences: str) -> list[str]:
    """Returns the answer to a question for which these sentences were chosen of those read."""
    statements = read(*sentences)
    asked = read_question(question, (), CLOCK)
    good = [one for one in statements if one.text in chosen]
    return [one.text for one in with_each_side(asked, good, statements)]


@pytest.mark.parametrize(
    "question",
    [
        "Compare the Kestrel probe and the Osprey probe.",
        "How does the Kestrel probe differ from the Osprey probe?",
        "Kestrel vs Osprey",
    ],
)
def test_a_sentence_about_the_side_that_was_left_out_is_added(question: str) -> None:
    assert answer(question, [KESTREL], SOUP, OSPREY, KESTREL) == [KESTREL, OSPREY]
    assert answer(question, [OSPREY], SOUP, OSPREY, KESTREL) == [OSPREY, KESTREL]


def test_an_answer_about_both_sides_stays() -> None:
    both = "The Kestrel probe is lighter than the Osprey probe."
    question = "Compare the Kestrel and the Osprey"
    assert answer(question, [both], both, KESTREL, OSPREY) == [both]


def test_a_comparison_that_nothing_answers_is_not_answered() -> None:
    assert answer("Compare the Kestrel and the Osprey", [], KESTREL, OSPREY) == []


@pytest.mark.parametrize(
    ("question", "left_out"),
    [
        ("Compare the Kestrel probe and the Heron probe", ["Heron"]),
        ("How does the Blue Heron probe differ from the Kestrel?", ["Blue Heron probe"]),
        ("Compare the weights of the Kestrel and the Heron", ["Heron"]),
        ("Compare the Kestrel", []),
        ("Kestrel?", []),
    ],
)
def test_a_side_without_a_sentence_is_named(question: str, left_out: list[str]) -> None:
    assert answer(question, [KESTREL], KESTREL, OSPREY) == [KESTREL]
    assert sides_left_out(read_question(question, (), CLOCK), read(KESTREL)) == left_out
