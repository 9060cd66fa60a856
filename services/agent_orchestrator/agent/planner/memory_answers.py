"""Which records of the user's memory, and which of their own messages, answer a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.reading import BAR, Reading
from services.agent_orchestrator.agent.planner.replies import (
    asks,
    asks_about_conversations,
    asks_to_forget,
)
from services.agent_orchestrator.agent.planner.statements import Statement
from services.agent_orchestrator.agent.results import ResultItem

# Logits below the best one within which others answer too.
_NEAR: Final = 3.0


async def select(
    question: Question, items: Sequence[ResultItem], reading: Reading
) -> list[ResultItem]:
    """Returns the items that answer, best first.

    Findings, what is remembered of the relation, role or name that is asked for, and what was looked for in
    conversations, are the answer as they stand. Of anything else that was remembered or said, what a model reads as an
    answer is one: similar words or meanings alone are not.
    """
    if asks_about_conversations(question.text):
        return list(items)
    certain = [one for one in items if one.kind != "memory" or one.is_asked]
    if certain:
        return certain
    # What the user asked before, or asked to forget, answers nothing.
    read = [
        Statement(one.text, _said(one), one, next(iter(one.citations), None))
        for one in items
        if not (asks(_quote(one)) or asks_to_forget(_quote(one)))
    ]
    scored = [one for one in await reading.read(question.text, read) if one.score >= BAR]
    return [one.item for one in scored if one.score >= scored[0].score - _NEAR]


def _said(item: ResultItem) -> str:
    """Returns what is read of an item: a message as it was written, a relationship with the words that said it."""
    quote = _quote(item)
    return f"{item.text} {quote}" if item.relation and quote != item.text else quote


def _quote(item: ResultItem) -> str:
    return item.citations[0].quote if item.citations else item.text
