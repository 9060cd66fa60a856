"""The tool calls that a computed answer needs after the first ones: histories, further pages, changes in a period."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Final

from services.agent_orchestrator.agent.planner.computed import HISTORY, gather_evidence
from services.agent_orchestrator.agent.planner.computed_answers import topic_of_anchor
from services.agent_orchestrator.agent.planner.language import fold
from services.agent_orchestrator.agent.planner.period_events import DIFF
from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.question_goals import Goal, anchor_of, goal_of
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.planner.routing import ToolCall, iso
from services.agent_orchestrator.agent.planner.stated_relation import stated_relation
from services.agent_orchestrator.agent.results import ToolResult

_SEARCH: Final = "comprehensive_search"
# Entities with a history in one answer, and pages of 50 facts of each.
_MAX_ENTITIES: Final = 3
_MAX_PAGES: Final = 4
_MAX_PASSAGES: Final = 50
_LAST_INSTANT: Final = timedelta(microseconds=1)
_SETTLED: Final = frozenset({"ambiguous", "empty_graph", "unavailable"})


async def goal_calls(
    question: Question, results: Sequence[ToolResult], tools: Collection[str], reading: Reading
) -> list[ToolCall]:
    """Returns the next calls; none if the results suffice, or a tool has said that the graph cannot answer."""
    goal = goal_of(question)
    if goal is None or not results or any(one.status in _SETTLED for one in results):
        return []
    if goal is Goal.PERIOD:
        return [call for call in _period_calls(question, results) if call.tool in tools]
    if HISTORY not in tools or question.page:
        return []
    names = [one.name for one in question.entities if one.is_known][:_MAX_ENTITIES]
    calls = _history_calls(names, results)
    if calls or not names:
        return calls
    further = await _second_hop(goal, question, results, reading)
    return _history_calls([further], results) if further else []


def _history_calls(names: Sequence[str], results: Sequence[ToolResult]) -> list[ToolCall]:
    """Returns calls for histories that were not read, and for their next pages."""
    calls: list[ToolCall] = []
    for name in names:
        pages = [one for one in results if one.tool == HISTORY and fold(one.entity) == fold(name)]
        if not pages:
            calls.append(ToolCall(HISTORY, {"entity": name}))
        elif pages[-1].next_page and len(pages) < _MAX_PAGES:
            calls.append(ToolCall(HISTORY, {"entity": name, "page": pages[-1].next_page}))
    return calls


async def _second_hop(
    goal: Goal, question: Question, results: Sequence[ToolResult], reading: Reading
) -> str:
    """Returns the thing of which a history is needed too: what Sofia heads, for "who was head before Sofia"."""
    evidence = gather_evidence(question, results, reading)
    if goal in {Goal.PREVIOUS, Goal.NEXT}:
        anchor = anchor_of(question)
        alone = anchor is not None and all(one.name == anchor.name for one in question.entities)
        return await topic_of_anchor(evidence) if alone else ""
    if goal is Goal.STILL and len(question.entities) == 1:
        stated = await stated_relation(evidence)
        ends = {fold(end): end for one in stated for end in (one.item.subject, one.item.object)}
        ends.pop(fold(question.entity), None)
        return next(iter(ends.values()), "")
    return ""


def _period_calls(question: Question, results: Sequence[ToolResult]) -> list[ToolCall]:
    """Returns calls for the changes in a period, and for passages of that time."""
    start, end = question.times[0].range.start, question.times[0].range.end
    if start is None or end is None:
        return []
    calls: list[ToolCall] = []
    about = (
        {"entity": question.entity} if question.entities and question.entities[0].is_known else {}
    )
    if not any(one.tool == DIFF for one in results):
        # What begins with the period does not hold before it.
        times = {"before": iso(start - _LAST_INSTANT), "after": iso(end - _LAST_INSTANT)}
        calls.append(ToolCall(DIFF, times | about))
        calls.append(
            ToolCall(
                _SEARCH,
                {
                    "query": question.text,
                    "limit": _MAX_PASSAGES,
                    "reference_time": iso(end - _LAST_INSTANT),
                },
            )
        )
    return calls
