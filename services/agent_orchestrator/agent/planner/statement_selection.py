"""Selects the statements that answer a question by relevance; if none covers the question, it stays unanswered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from services.agent_orchestrator.agent.planner import question_forms
from services.agent_orchestrator.agent.planner.date_format import is_current, overlaps
from services.agent_orchestrator.agent.planner.dates.expressions import find_times
from services.agent_orchestrator.agent.planner.language import fold, stem, word_list
from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.relation_direction import is_on_side, side_of
from services.agent_orchestrator.agent.planner.relevance import (
    Need,
    gives_reason,
    need_of,
    stems_meet,
)
from services.agent_orchestrator.agent.planner.statements import (
    Statement,
    fact_statements,
    passage_statements,
    relation_stems,
)
from services.agent_orchestrator.agent.results import ResultItem

# Weighted shares of a question's words that a statement must cover. Tuned on tests/evals/answers.
FACT_COVERAGE: Final = 0.62
FACT_WORDS: Final = 0.6
SENTENCE_COVERAGE: Final = 0.62
# Statements whose score is this close to the best one are part of the answer.
_CLOSE_FACT: Final = 0.15
_CLOSE_SENTENCE: Final = 0.12
# A sentence of the wrong kind is not an answer, such as one without a number to "how many".
_LEAST_KIND: Final = -0.1
_SAME: Final = 0.03
# Number of sentences quoted after the best one: they often contain reasons and steps.
_FOLLOWING: Final = 1
_FOLLOWING_OPEN: Final = 2
_MAX_FACTS: Final = 8
_MAX_SENTENCES: Final = 2
_EXCLUSIVE: Final = re.compile(
    r"\bwho (?:owns|leads|manages|heads|runs|is)\b|\bwho's\b|\bwhose\b", re.IGNORECASE
)
_CHANGES: Final = frozenset(stem(word) for word in ("change", "happen", "become", "update", "new"))
_BEFORE: Final = re.compile(r"\b(?:before|prior to|preceded|predecessor)\b", re.IGNORECASE)
_AFTER: Final = re.compile(
    r"\b(?:after|following|succeeded|successor|replaced|since)\b", re.IGNORECASE
)
_WHEN: Final = re.compile(r"\b(?:when|while|during|at the time of|as)\b", re.IGNORECASE)


def facts(need: Need, question: Question, items: Sequence[ResultItem]) -> list[Statement]:
    """Returns the facts that answer, current ones first; without changes, and without mentions if there are facts."""
    stated = [item for item in items if item.kind in {"fact", "state"}]
    statements = [one for one in fact_statements(need, stated) if _fits(one, question)]
    side = side_of(question)
    on_side = [one for one in statements if is_on_side(one.item, question, side)]
    good = [
        one
        for one in on_side or statements
        if one.match.coverage >= FACT_COVERAGE
        and one.match.words >= FACT_WORDS
        and one.match.kind >= 0
    ]
    if not good:
        return []
    best = max(one.match.coverage for one in good)
    close = [one for one in good if one.match.coverage >= best - _CLOSE_FACT]
    now = question.clock.now
    close.sort(key=lambda one: (not is_current(one.item, now), -_began(one.item)))
    return close[:_MAX_FACTS]


def sentences(need: Need, question: Question, items: Sequence[ResultItem]) -> list[Statement]:
    """Returns sentences of passages that answer, best first; for an open question with the sentences that follow."""
    statements = passage_statements(need, items)
    covering = [one for one in statements if _covers(one)]
    if question.times:
        covering = [one for one in covering if _is_in_time(one, question)]
    good = sorted(covering, key=lambda one: -one.score)
    if not good:
        return []
    best = good[0].score
    near = [one for one in good if one.score >= best - _CLOSE_SENTENCE]
    chosen = [one for one in near if _is_as_good(one, good[0])][:_MAX_SENTENCES]
    if len({one.item.text for one in chosen}) == 1:
        chosen = _with_following(chosen, statements, question)
    if need.kind == "why" and not any(gives_reason(one.text) for one in chosen):
        return []
    return chosen


def _is_as_good(one: Statement, best: Statement) -> bool:
    """Whether a statement joins the best one: from the same passage, or with an equal score."""
    return one.item == best.item or one.score >= best.score - _SAME


def _with_following(
    chosen: list[Statement], statements: Sequence[Statement], question: Question
) -> list[Statement]:
    """Returns the chosen sentences of one passage and those after the first one, in passage order."""
    first = chosen[0]
    count = _FOLLOWING_OPEN if question_forms.is_open(question) else _FOLLOWING
    wanted = range(first.place + 1, first.place + 1 + count)
    following = [one for one in statements if one.item == first.item and one.place in wanted]
    return sorted(
        {one.place: one for one in (*following, *chosen)}.values(), key=lambda one: one.place
    )


def changes(need: Need, items: Sequence[ResultItem]) -> list[Statement]:
    """Returns the changes between two times; those that cover the question's own words come first, if any do."""
    changed = fact_statements(need, [item for item in items if item.kind == "change"])
    return sorted(changed, key=lambda one: (-round(one.match.words, 2), _began(one.item)))


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
    return [one for one in fact_statements(Need({}, {}, ""), later) if one.text not in known][:3]


def history(question: Question, items: Sequence[ResultItem]) -> list[Statement]:
    """Returns an entity's facts in time order, limited to the requested relation and an event's time."""
    stated = [item for item in items if item.kind in {"fact", "state"}]
    statements = fact_statements(need_of(question), stated)
    asked = question_forms.relation_stems(question)
    related = [one for one in statements if stems_meet(relation_stems(one.item), asked)]
    if related:
        chosen = _around_event(related, statements, question)
    else:
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


def _fits(one: Statement, question: Question) -> bool:
    """Whether a fact's relation is among those that the question asks for."""
    asked = question_forms.relation_stems(question)
    of_fact = relation_stems(one.item) | frozenset(stem(word) for word in word_list(one.text))
    return one.match.has_names and (
        stems_meet(relation_stems(one.item), asked) or len(of_fact & asked) > 1
    )


def _covers(one: Statement) -> bool:
    return one.match.coverage >= SENTENCE_COVERAGE and one.match.kind >= _LEAST_KIND


def _is_in_time(one: Statement, question: Question) -> bool:
    """Whether a sentence's own dates, if any, overlap the time of the question."""
    clock = question.clock
    named = [
        time.range for time in find_times(one.text, clock.now, clock.zone) if time.kind == "range"
    ]
    if not named:
        return True
    wanted = question.times[0].range
    return any(
        (wanted.end is None or time.start is None or time.start < wanted.end)
        and (wanted.start is None or time.end is None or time.end > wanted.start)
        for time in named
    )


def _began(item: ResultItem) -> float:
    return item.valid_from.timestamp() if item.valid_from is not None else 0.0
