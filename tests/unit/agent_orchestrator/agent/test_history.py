"""The turns before a question, within a budget of tokens."""

from __future__ import annotations

from pydantic_ai.messages import ModelMessage

from services.agent_orchestrator.agent.conversations.history import StoredMessage, build_history


def turns(count: int, length: int = 40) -> list[StoredMessage]:
    """So many turns, latest first."""
    said = []
    for number in reversed(range(count)):
        said.append(StoredMessage("assistant", f"answer {number} ".ljust(length, "x")))
        said.append(StoredMessage("user", f"question {number} ".ljust(length, "x")))
    return said


def texts(messages: list[ModelMessage]) -> list[str]:
    return [str(part.content) for message in messages for part in message.parts]  # type: ignore[union-attr]


def test_everything_is_kept_that_fits() -> None:
    history = build_history(turns(2), budget=1_000)
    assert history.left_out == 0
    assert [text[:10] for text in texts(history.messages)] == [
        "question 0",
        "answer 0 x",
        "question 1",
        "answer 1 x",
    ]


def test_the_oldest_turns_are_left_out_and_counted() -> None:
    history = build_history(turns(5), budget=45)
    assert history.left_out == 6
    assert texts(history.messages)[0].startswith("question 3")


def test_a_history_never_begins_with_an_answer() -> None:
    history = build_history(turns(3), budget=35)
    assert texts(history.messages)[0].startswith("question 2")
    assert len(history.messages) + history.left_out == 6


def test_a_summary_stands_before_the_turns() -> None:
    history = build_history(turns(1), budget=100, summary="They spoke of ledgers.")
    assert "They spoke of ledgers." in texts(history.messages)[0]


def test_nothing_before_is_no_history() -> None:
    assert build_history([], budget=10).messages == []
