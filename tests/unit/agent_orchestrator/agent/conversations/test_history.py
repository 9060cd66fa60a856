"""The conversation history before a question is limited to a token budget."""

from __future__ import annotations

from pydantic_ai.messages import ModelMessage

from services.agent_orchestrator.agent.conversations.history import StoredMessage, build_history


def turns(count: int, length: int = 40) -> list[StoredMessage]:
    """Returns `count` turns, latest first."""
    stored = []
    for number in reversed(range(count)):
        stored.append(StoredMessage("assistant", f"answer {number} ".ljust(length, "x")))
        stored.append(StoredMessage("user", f"question {number} ".ljust(length, "x")))
    return stored


def texts(messages: list[ModelMessage]) -> list[str]:
    return [str(part.content) for message in messages for part in message.parts]  # type: ignore[union-attr]


def test_turns_within_the_budget_are_all_kept() -> None:
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


def test_a_summary_precedes_the_turns() -> None:
    history = build_history(turns(1), budget=100, summary="They spoke of ledgers.")
    assert "They spoke of ledgers." in texts(history.messages)[0]


def test_without_earlier_turns_the_history_is_empty() -> None:
    assert build_history([], budget=10).messages == []
