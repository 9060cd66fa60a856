"""Answers that are computed from facts and their dates: predecessors, whole lists, numbers, durations, states.

A list is complete, or says how far it goes. Nothing is computed from facts that were not read to be meant.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from services.agent_orchestrator.agent.planner.comparisons import compare
from services.agent_orchestrator.agent.planner.computed import (
    HISTORY,
    Computed,
    Evidence,
    Line,
    gather_evidence,
    lines_of,
    listed,
)
from services.agent_orchestrator.agent.planner.date_format import day, is_current, overlaps
from services.agent_orchestrator.agent.planner.durations import calendar_length, joined
from services.agent_orchestrator.agent.planner.fact_slots import (
    Slot,
    began,
    choose_slot,
    in_slot,
    slots_of,
    type_in,
    value_in,
    words_about,
)
from services.agent_orchestrator.agent.planner.language import content_stems, fold
from services.agent_orchestrator.agent.planner.period_events import list_events
from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.question_forms import is_past_tense
from services.agent_orchestrator.agent.planner.question_goals import (
    Anchor,
    Goal,
    anchor_of,
    goal_of,
)
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.planner.stated_relation import stated_relation
from services.agent_orchestrator.agent.planner.statements import Statement, fact_statements, gather
from services.agent_orchestrator.agent.results import ResultItem, ToolResult
from services.runtime.patterns import compile_linear

_MAX_NAMES: Final = 20
_NEVER: Final = datetime.max.replace(tzinfo=UTC)
_TIMES: Final = compile_linear(r"\bhow many times\b", ignore_case=True)
# A value that is itself the number: "350", "about 1,200 people".
_NUMBER: Final = compile_linear(r"(?:about |over |around )?\d[\d.,]*(?:\s|$)", ignore_case=True)

Answer = list[Computed]


async def compute(question: Question, results: Sequence[ToolResult], reading: Reading) -> Answer:
    """Returns the paragraphs of a computed answer; none if the question needs none or the facts do not suffice."""
    goal = goal_of(question)
    evidence = gather_evidence(question, results, reading)
    if goal is Goal.PERIOD:
        return list_events(evidence, gather(results))
    if goal is None or not any(result.tool == HISTORY for result in results):
        return []
    return await _WAYS[goal](evidence, goal)


async def topic_of_anchor(evidence: Evidence) -> str:
    """Returns the thing that a named holder holds: "before Sofia" alone leaves open what Sofia held."""
    anchor = anchor_of(evidence.question)
    if anchor is None or not anchor.name:
        return ""
    facts = evidence.about(anchor.name)
    slot = await choose_slot(evidence.reading, evidence.question, anchor.name, facts, any_side=True)
    return value_in(slot, in_slot(slot, facts)[-1].item) if slot is not None else ""


async def _next_to(evidence: Evidence, goal: Goal) -> Answer:
    """Returns what came before or after a holder; without a named one, what came before the present one."""
    anchor = anchor_of(evidence.question)
    slot = await _slot_with(evidence, anchor)
    if slot is None or (anchor is None and goal is Goal.NEXT):
        return []
    filling = [one for one in in_slot(slot, evidence.facts) if one.item.valid_from is not None]
    marks = _marks(evidence, slot, filling, anchor)
    if not filling or (anchor is not None and not marks):
        return []
    chosen = _neighbors(slot, filling, marks, goal)
    limit = _limit(evidence, slot)
    if chosen:
        return [Computed("", lines_of(chosen), limit)]
    if not any(slot in slots_of(one.item) for one in marks):
        return []
    which = "earlier" if goal is Goal.PREVIOUS else "later"
    return [Computed(f"Nothing {which} than this is stated:", lines_of(marks[-1:]), limit)]


def _marks(
    evidence: Evidence, slot: Slot, filling: Sequence[Statement], anchor: Anchor | None
) -> list[Statement]:
    """Returns the facts next to which others are asked for: of the anchor, maybe an event, or the present ones."""
    if anchor is None:
        return [one for one in filling if is_current(one.item, evidence.question.clock.now)]
    holding = [one for one in filling if anchor.is_named(value_in(slot, one.item))]
    if holding:
        return holding
    dated = [one for one in evidence.facts if one.valid_from is not None]
    return fact_statements(
        one for one in dated if any(anchor.is_named(end) for end in (one.subject, one.object))
    )


def _neighbors(
    slot: Slot, filling: Sequence[Statement], marks: Sequence[Statement], goal: Goal
) -> list[Statement]:
    """Returns the other facts of a slot that began last before one of the marks, or first after one."""
    held = {fold(value_in(slot, one.item)) for one in marks}
    others = [one for one in filling if fold(value_in(slot, one.item)) not in held]
    starts: set[datetime] = set()
    for mark in marks:
        if goal is Goal.PREVIOUS:
            starts |= {
                max((began(one) for one in others if began(one) < began(mark)), default=_NEVER)
            }
        else:
            starts |= {
                min((began(one) for one in others if began(one) > began(mark)), default=_NEVER)
            }
    if not marks and others:
        starts = {max(began(one) for one in others)}
    return [one for one in others if began(one) in starts]


async def _slot_with(evidence: Evidence, anchor: Anchor | None) -> Slot | None:
    """Returns the slot that a question asks for, of a thing that the anchor has held."""
    if anchor is None:
        return await _topic_slot(evidence)
    topics = [one.name for one in evidence.question.entities if fold(one.name) != fold(anchor.name)]
    topics = topics or [await topic_of_anchor(evidence)]
    for topic in topics:
        slot = await _slot_of_holder(evidence, topic, anchor)
        if slot is not None:
            return slot
    return None


async def _slot_of_holder(evidence: Evidence, topic: str, anchor: Anchor) -> Slot | None:
    """Returns the slot of a thing that the question names, or in which the anchor is; None without a fact of both."""
    facts = evidence.about(topic)
    held = [one for one in facts if anchor.is_named(_other_end(one, topic))]
    asked = await choose_slot(evidence.reading, evidence.question, topic, facts, any_side=True)
    if asked is not None and asked.relation & words_about(evidence.question):
        return asked if held else None
    return await choose_slot(evidence.reading, evidence.question, topic, held, any_side=True)


def _other_end(item: ResultItem, name: str) -> str:
    return item.object if fold(item.subject) == fold(name) else item.subject


async def _topic_slot(evidence: Evidence) -> Slot | None:
    for topic in evidence.question.entities:
        facts = evidence.about(topic.name)
        slot = await choose_slot(evidence.reading, evidence.question, topic.name, facts)
        if slot is not None:
            return slot
    return None


async def _list_all(evidence: Evidence, _goal: Goal) -> Answer:
    slot = await _topic_slot(evidence)
    if slot is None:
        return []
    filling = _of_asked_type(evidence.question, slot, in_slot(slot, evidence.facts))
    filling = _at_asked_time(evidence.question, filling)
    if not filling:
        return []
    return [
        listed(
            f"{_numbers(evidence, slot, filling)}, in the order of time:",
            filling,
            _limit(evidence, slot),
        )
    ]


async def _count(evidence: Evidence, _goal: Goal) -> Answer:
    """Returns the number of different values, with their names; now or ever, as the question's tense says."""
    question = evidence.question
    if _TIMES.search(question.text):
        return await _count_terms(evidence)
    slot = await _topic_slot(evidence)
    if slot is None:
        return []
    filling = _of_asked_type(question, slot, in_slot(slot, evidence.facts))
    limit = _limit(evidence, slot)
    if question.times:
        filling = _at_asked_time(question, filling)
        return [
            listed(f"{_named(slot, filling)} at that time{':' if filling else '.'}", filling, limit)
        ]
    if is_past_tense(question):
        return [listed(f"{_numbers(evidence, slot, filling)}:", filling, limit)]
    now = [one for one in filling if is_current(one.item, question.clock.now)]
    if len(now) == 1 and _NUMBER.match(value_in(slot, now[0].item)):
        return [Computed("", lines_of(now), limit)]
    ended = len(_values(slot, filling)) - len(_values(slot, now))
    earlier = f"; {ended} more in the past" if ended else ""
    return [listed(f"{_named(slot, now)} now{earlier}{':' if now else '.'}", now, limit)]


async def _count_terms(evidence: Evidence) -> Answer:
    """Returns how many times a relation between named things has held."""
    if len(evidence.question.entities) < 2:  # noqa: PLR2004 both ends of a relation
        return []
    terms = _at_asked_time(evidence.question, await stated_relation(evidence))
    return (
        [listed(f"Stated: {len(terms)} time{'s' if len(terms) > 1 else ''}:", terms, "")]
        if terms
        else []
    )


async def _first_or_last(evidence: Evidence, goal: Goal) -> Answer:
    slot = await _topic_slot(evidence)
    if slot is None:
        return []
    filling = _of_asked_type(evidence.question, slot, in_slot(slot, evidence.facts))
    now = evidence.question.clock.now
    dated = [
        one for one in filling if one.item.valid_from is not None and one.item.valid_from <= now
    ]
    if not dated:
        return []
    ends = min if goal is Goal.FIRST else max
    chosen = [one for one in dated if began(one) == ends(began(other) for other in dated)]
    undated = sum(one.item.valid_from is None for one in filling)
    without = f"{undated} more without a date may be earlier or later. " if undated else ""
    return [Computed("", lines_of(chosen), f"{without}{_limit(evidence, slot)}".strip())]


async def _duration(evidence: Evidence, _goal: Goal) -> Answer:
    """Returns how long a relation has lasted: until now if it has not ended."""
    clock = evidence.question.clock
    stated = await stated_relation(evidence)
    spans = [one for one in stated if not one.item.is_event and began(one) <= clock.now]
    if not spans:
        return []
    lines = tuple(Line(one, f"{_length(one, clock.now, evidence)}: ") for one in spans)
    return [Computed("", lines)]


def _length(one: Statement, now: datetime, evidence: Evidence) -> str:
    start, end = one.item.valid_from, one.item.valid_until
    if start is None:
        return "How long is not stated"
    is_open = end is None or end > now
    length = calendar_length(
        start, now if end is None or end > now else end, evidence.question.clock.zone
    )
    length = f"{length[0].upper()}{length[1:]}"
    return f"{length} so far" if is_open else length


async def _still(evidence: Evidence, _goal: Goal) -> Answer:
    """Returns yes or no from the dates of a relation, and what holds in its place."""
    clock = evidence.question.clock
    stated = await stated_relation(evidence)
    if not stated:
        return []
    current = [one for one in stated if is_current(one.item, clock.now)]
    if current:
        since = current[-1].item.valid_from
        said = (
            f"Yes, since {day(since, clock.zone)}:"
            if since is not None
            else "Yes, as far as is stated:"
        )
        return [Computed(said, lines_of(current[-1:]))]
    last = max(stated, key=began)
    until = last.item.valid_until
    if until is None or until > clock.now:
        return [Computed("Not yet:", lines_of([last]))]
    answer = [Computed(f"No, it ended on {day(until, clock.zone)}:", lines_of([last]))]
    following = _in_place_of(evidence, last)
    return [*answer, Computed("Now:", lines_of(following))] if following else answer


def _in_place_of(evidence: Evidence, ended: Statement) -> list[Statement]:
    """Returns current facts of the ended fact's slots: of its object first, as the new owner of a service."""
    now = evidence.question.clock.now
    for slot in reversed(slots_of(ended.item)):
        filling = [one for one in in_slot(slot, evidence.facts) if is_current(one.item, now)]
        if filling:
            return filling[-3:]
    return []


async def _compare(evidence: Evidence, _goal: Goal) -> Answer:
    return compare(evidence)


def _of_asked_type(
    question: Question, slot: Slot, statements: Sequence[Statement]
) -> list[Statement]:
    """Returns the facts with values of a type that the question names; all if it names none of their types."""
    said = words_about(question) - slot.relation
    typed = [one for one in statements if content_stems(type_in(slot, one.item)) & said]
    return typed or list(statements)


def _at_asked_time(question: Question, statements: Sequence[Statement]) -> list[Statement]:
    if not question.times:
        return list(statements)
    asked = question.times[0].range
    return [one for one in statements if overlaps(one.item, asked.start, asked.end)]


def _numbers(evidence: Evidence, slot: Slot, statements: Sequence[Statement]) -> str:
    """Returns the number of different values, and how many of them hold now."""
    now = [one for one in statements if is_current(one.item, evidence.question.clock.now)]
    count, current = len(_values(slot, statements)), len(_values(slot, now))
    held = "" if all(one.item.is_event for one in statements) else f", {current} of them now"
    return (
        f"{_named(slot, statements)} in all{held}"
        if count > 1
        else f"{_named(slot, statements)} in all"
    )


def _named(slot: Slot, statements: Sequence[Statement]) -> str:
    names = list(_values(slot, statements).values())
    if not names:
        return "Stated: none"
    more = len(names) - _MAX_NAMES
    shown = [*names[:_MAX_NAMES], f"{more} more"] if more > 0 else names
    return f"Stated: {len(names)} ({joined(shown)})"


def _values(slot: Slot, statements: Sequence[Statement]) -> dict[str, str]:
    values: dict[str, str] = {}
    for one in statements:
        value = value_in(slot, one.item)
        values.setdefault(fold(value), value)
    return values


def _limit(evidence: Evidence, slot: Slot) -> str:
    known = [one.entity for one in evidence.results if fold(one.entity) == slot.topic]
    return evidence.limit_of(known[0]) if known else ""


_WAYS: Final[dict[Goal, Callable[[Evidence, Goal], Awaitable[Answer]]]] = {
    Goal.PREVIOUS: _next_to,
    Goal.NEXT: _next_to,
    Goal.FIRST: _first_or_last,
    Goal.LAST: _first_or_last,
    Goal.ALL: _list_all,
    Goal.COUNT: _count,
    Goal.COMPARE: _compare,
    Goal.DURATION: _duration,
    Goal.STILL: _still,
}
