"""Of statements that answer alike, the one in force at the time of the question comes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from services.agent_orchestrator.agent.planner.question import Clock, read_question
from services.agent_orchestrator.agent.planner.statements import Statement
from services.agent_orchestrator.agent.planner.time_preference import began, in_force
from services.agent_orchestrator.agent.results import Citation, ResultItem

CLOCK = Clock(datetime(2026, 11, 26, 10, tzinfo=UTC), ZoneInfo("UTC"))
OLD = "The Marlin probe costs £90."
NEW = "From 1 April 2025 the Marlin probe costs £120."


def said(
    text: str, since: str | None = None, *, title: str = "Prices", score: float = 5.0
) -> Statement:
    valid_from = None if since is None else datetime.fromisoformat(since).replace(tzinfo=UTC)
    cited = Citation(f"{text}.md", title, "", "c", 0, len(text), text)
    item = ResultItem("passage", text, valid_from=valid_from, citations=(cited,))
    return Statement(text, f"{title}: {text}", item, cited, score=score)


def chosen(question: str, *statements: Statement) -> Sequence[str]:
    ordered = sorted(statements, key=lambda one: -one.score)
    return [one.text for one in in_force(ordered, read_question(question, [], CLOCK))]


@pytest.mark.parametrize(
    "question",
    [
        "What does the Marlin probe cost?",
        "What does the Marlin probe cost today?",
        "What does the Marlin probe cost this month?",
        "Does the Marlin probe still cost £90?",
    ],
)
def test_the_present_prefers_the_latest(question: str) -> None:
    assert chosen(question, said(OLD, "2023-05-02", score=6), said(NEW, "2025-03-01"))[0] == NEW


def test_a_statement_without_a_date_is_not_newer_than_one_with_a_date() -> None:
    written = said(OLD, "2026-11-25T09:00:00.123456", score=6)
    assert chosen("What does the Marlin probe cost?", written, said(NEW, "2025-03-01"))[0] == NEW
    assert began(written, CLOCK) is None


def test_an_earlier_time_leaves_out_what_held_only_later() -> None:
    question = "What did the Marlin probe cost in May 2024?"
    assert chosen(question, said(OLD, "2023-05-02"), said(NEW, "2025-03-01", score=6)) == [OLD]


def test_what_holds_only_in_the_future_does_not_answer_for_the_present() -> None:
    later = said("From 1 April 2027 the Marlin probe costs £150.", "2026-11-01", score=6)
    assert chosen("What does the Marlin probe cost?", said(OLD, "2023-05-02"), later) == [OLD]


def test_a_correction_precedes_what_it_corrects() -> None:
    correction = said("The Marlin probe costs £95.", "2023-05-03", title="Correction: prices")
    later = said(OLD, "2023-06-01", score=6)
    assert chosen("What does the Marlin probe cost?", later, correction)[0] == correction.text


def test_first_means_the_earliest() -> None:
    question = "What did the Marlin probe cost originally?"
    assert chosen(question, said(OLD, "2023-05-02"), said(NEW, "2025-03-01", score=6))[0] == OLD


def test_a_much_better_answer_is_not_displaced_by_a_later_one() -> None:
    aside = said("The Marlin probe was mentioned.", "2026-01-01", score=-1)
    assert chosen("What does the Marlin probe cost?", said(OLD, "2023-05-02"), aside)[0] == OLD


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("Since 2 May 2024, Wanda heads Logistics.", "2024-05-02"),
        ("As of 1 March 2025 the fee is £3.", "2025-03-02"),
        ("Effective 1 June 2025, the fee is £4.", "2025-06-01"),
        ("The bell was opened on 3 March 2024.", None),
        ("From 1 May 2024 to 3 May 2024 the hall was closed.", None),
    ],
)
def test_a_date_that_opens_a_period_is_its_beginning(text: str, start: str | None) -> None:
    since = began(replace(said(text)), CLOCK)
    assert (None if since is None else since.date().isoformat()) == start
