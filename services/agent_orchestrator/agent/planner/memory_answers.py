"""Which records of the user's memory, and which of their own messages, answer a question."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.reading import BAR, Reading
from services.agent_orchestrator.agent.planner.replies import asks, asks_about_conversations
from services.agent_orchestrator.agent.planner.statements import Statement
from services.agent_orchestrator.agent.results import ResultItem
from services.agent_orchestrator.entity_memory.extraction.own_text import OwnText
from services.agent_orchestrator.entity_memory.forgetting import asks_to_forget

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
    certain = [one for one in items if one.kind != "memory" or one.is_asked]
    if asks_about_conversations(question.text):
        messages = [one for one in items if one.kind == "memory" and not one.relation]
        return messages or certain
    if certain:
        return certain
    read = [
        Statement(one.text, said, one, next(iter(one.citations), None))
        for one in items
        if (said := _said(one))
    ]
    scored = [one for one in await reading.read(question.text, read) if one.score >= BAR]
    near = [one.item for one in scored if one.score >= scored[0].score - _NEAR]
    # What was said last holds: "actually I am 35".
    return sorted(near, key=_time, reverse=True)


def _said(item: ResultItem) -> str:
    """Returns what is read of an item: a relationship with the words that said it, a message's own sentences.

    What the user asked, asked to forget, quoted, pasted or played answers nothing: "" if a message has nothing else.
    """
    quote = item.citations[0].quote if item.citations else item.text
    if item.relation:
        return item.text if quote == item.text else f"{item.text} {quote}"
    if asks_to_forget(quote):
        return ""
    own = (one.text for one in OwnText().sentences(quote) if not (one.question or asks(one.text)))
    return " ".join(own)


def _time(item: ResultItem) -> datetime:
    return item.valid_from or datetime.min.replace(tzinfo=UTC)
