"""Selects the statements that answer a question: how well each was read to answer, its time, its side of a relation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from services.agent_orchestrator.agent.planner import other_languages, question_forms
from services.agent_orchestrator.agent.planner.comparisons import with_each_side
from services.agent_orchestrator.agent.planner.date_format import is_current, overlaps
from services.agent_orchestrator.agent.planner.fact_slots import meant, names_relation
from services.agent_orchestrator.agent.planner.language import (
    content_stems,
    content_words,
    fold,
    is_english,
    stem,
)
from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.reading import BAR, Reading
from services.agent_orchestrator.agent.planner.relation_direction import is_on_side, side_of
from services.agent_orchestrator.agent.planner.statements import (
    Statement,
    fact_statements,
    passage_statements,
)
from services.agent_orchestrator.agent.planner.time_preference import ALIKE, in_force
from services.agent_orchestrator.agent.results import ResultItem

_MAX_FACTS: Final = 8
_MAX_READ_FACTS: Final = 20
_MAX_SENTENCES: Final = 2
_MAX_SENTENCES_OPEN: Final = 3
_EXCLUSIVE: Final = re.compile(
    r"\bwho (?:owns|leads|manages|heads|runs|is)\b|\bwho's\b|\bwhose\b", re.IGNORECASE
)
_CHANGES: Final = frozenset(stem(word) for word in ("change", "happen", "become", "update", "new"))
_BEFORE: Final = re.compile(r"\b(?:before|prior to|preceded|predecessor)\b", re.IGNORECASE)
_AFTER: Final = re.compile(
    r"\b(?:after|following|succeeded|successor|replaced|since)\b", re.IGNORECASE
)
_WHEN: Final = re.compile(r"\b(?:when|while|during|at the time of|as)\b", re.IGNORECASE)


async def facts(
    reading: Reading, question: Question, items: Sequence[ResultItem]
) -> list[Statement]:
    """Returns the facts that answer, current ones first; without changes and mentions."""
    stated = fact_statements(item for item in items if item.kind in {"fact", "state"})
    side = side_of(question)
    on_side = [one for one in stated if is_on_side(one.item, question, side)]
    read = await reading.read(question.text, on_side or stated, limit=_MAX_READ_FACTS)
    good = meant(question, _within_reach(read))
    if not all(names_relation(question, one) for one in good):
        good = await reading.confirmed(question, good)
    now = question.clock.now
    good.sort(key=lambda one: (not is_current(one.item, now), -_began(one.item)))
    return good[:_MAX_FACTS]


async def sentences(
    reading: Reading, question: Question, items: Sequence[ResultItem]
) -> list[Statement]:
    """Returns sentences of passages that answer, best first: at most two, three for an open question."""
    if not is_english(question.text):
        return await other_languages.sentences(reading, question, items)
    read = await reading.read(question.text, passage_statements(items))
    holding = in_force([one for one in read if one.score >= BAR], question)
    good = await reading.confirmed(question, _within_reach(holding))
    if not good and question_forms.asks_for_summary(question):
        good = _about_topic(question, read)
    count = _MAX_SENTENCES_OPEN if question_forms.is_open(question) else _MAX_SENTENCES
    return with_each_side(question, good[:count], read)


def _about_topic(question: Question, read: Sequence[Statement]) -> list[Statement]:
    """Returns what is said near a word of the question: no single sentence answers a request for a summary."""
    asked = frozenset(map(stem, content_words(question.text)))
    return [one for one in read if asked & content_stems(one.context)]


def _within_reach(read: Sequence[Statement]) -> list[Statement]:
    """Returns the statements above the bar that answer about as well as the best one."""
    best = max((one.score for one in read), default=BAR)
    return [one for one in read if one.score >= max(BAR, best - ALIKE)]


async def changes(
    reading: Reading, question: Question, items: Sequence[ResultItem]
) -> list[Statement]:
    """Returns the changes between two times; those that answer the question come first, if any do."""
    changed = fact_statements(item for item in items if item.kind == "change")
    read = await reading.read(question.text, changed, limit=_MAX_READ_FACTS)
    answering = {one.text for one in _within_reach(read)}
    return sorted(changed, key=lambda one: (one.text not in answering, _began(one.item)))


def changes_since(chosen: Sequence[Statement], items: Iterable[ResultItem]) -> list[Statement]:
    """Returns later changes related to the chosen facts: same relation, and a shared subject or object."""
    ends = {
        (one.item.relation, end) for one in chosen for end in (one.item.subject, one.item.object)
    }
    later = [
        item
        for item in items
        if item.kind == "change"
        and item.change != "ended"
        and {(item.relation, item.subject), (item.relation, item.object)} & ends
    ]
    known = {one.text for one in chosen}
    return [one for one in fact_statements(later) if one.text not in known][:3]


async def history(
    reading: Reading, question: Question, items: Sequence[ResultItem]
) -> list[Statement]:
    """Returns an entity's facts in time order, limited to the requested relation and an event's time."""
    statements = fact_statements(item for item in items if item.kind in {"fact", "state"})
    read = await reading.read(question.text, statements, limit=_MAX_READ_FACTS)
    relations = {one.item.relation for one in meant(question, _within_reach(read))}
    related = [one for one in statements if one.item.relation in relations]
    if related:
        chosen = _around_event(related, statements, question)
    else:
        asked = question_forms.relation_stems(question)
        chosen = (
            statements if question_forms.is_certain_history(question) or asked & _CHANGES else []
        )
    return sorted(chosen, key=lambda one: _began(one.item))


def is_contested(question: Question, chosen: Sequence[Statement], now: datetime) -> bool:
    """Whether several subjects are named although only one is possible."""
    if not _EXCLUSIVE.search(question.text) or len(question.entities) != 1:
        return False
    current = [one.item for one in chosen if is_current(one.item, now) and not one.item.is_event]
    answers = {
        (item.relation, fold(item.subject))
        for item in current
        if fold(item.object) == fold(question.entity)
    }
    return len({relation for relation, _ in answers}) < len(answers)


def _around_event(
    related: list[Statement], statements: Sequence[Statement], question: Question
) -> list[Statement]:
    """Returns the facts true at, before or after an event or person that the question names besides its topic."""
    for entity in question.entities[1:]:
        named = [
            one
            for one in statements
            if fold(entity.name) in (fold(one.item.subject), fold(one.item.object))
        ]
        marks = [one.item for one in named if one.item.valid_from is not None]
        if not marks:
            continue
        start = min(item.valid_from for item in marks if item.valid_from is not None)
        if _BEFORE.search(question.text):
            earlier = [
                one for one in related if one.item.valid_until and one.item.valid_until <= start
            ]
            return earlier[-1:] or related
        if _AFTER.search(question.text):
            later = [one for one in related if one.item.valid_from and one.item.valid_from > start]
            return sorted(later, key=lambda one: _began(one.item))[:1] or related
        if _WHEN.search(question.text):
            return [
                one
                for one in related
                if overlaps(one.item, start, None) and _began(one.item) <= start.timestamp()
            ] or related
    return related


def _began(item: ResultItem) -> float:
    return item.valid_from.timestamp() if item.valid_from is not None else 0.0
