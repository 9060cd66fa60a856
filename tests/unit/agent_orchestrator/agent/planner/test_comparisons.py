"""A comparison of things about which no facts are stated quotes a sentence about each of them."""

from __future__ import annotations

import pytest

from services.agent_orchestrator.agent.planner.comparisons import sentence_per_side
from services.agent_orchestrator.agent.planner.statements import Statement, passage_statements
from services.agent_orchestrator.agent.results import Citation, ResultItem

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


@pytest.mark.parametrize(
    "question",
    [
        "Compare the Kestrel probe and the Osprey probe.",
        "How does the Kestrel probe differ from the Osprey probe?",
        "Kestrel vs Osprey",
    ],
)
def test_a_sentence_about_each_side_is_quoted(question: str) -> None:
    found = sentence_per_side(question, read(SOUP, OSPREY, KESTREL))
    assert [one.text for one in found] == [KESTREL, OSPREY]


def test_a_sentence_about_both_sides_is_quoted_once() -> None:
    both = "The Kestrel probe is lighter than the Osprey probe."
    found = sentence_per_side("Compare the Kestrel and the Osprey", read(both, KESTREL, OSPREY))
    assert [one.text for one in found] == [both]


@pytest.mark.parametrize(
    "question", ["Compare the Kestrel probe and the Heron probe", "Compare the Kestrel", "Kestrel?"]
)
def test_one_side_alone_is_no_comparison(question: str) -> None:
    assert sentence_per_side(question, read(KESTREL, OSPREY)) == []
