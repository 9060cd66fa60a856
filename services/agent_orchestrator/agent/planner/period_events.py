"""What happened in a period: changes of the graph in it, and documents that are dated in it, newest first."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from services.agent_orchestrator.agent.planner.computed import Computed, Evidence, Line
from services.agent_orchestrator.agent.planner.date_format import reference
from services.agent_orchestrator.agent.planner.fact_slots import relation_key
from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.question_goals import (
    JOINING,
    LEAVING,
    asks_for_turnover,
)
from services.agent_orchestrator.agent.planner.statements import (
    Found,
    Statement,
    fact_statements,
    passage_statements,
)
from services.agent_orchestrator.agent.planner.time_preference import given_date
from services.agent_orchestrator.agent.results import ResultItem

DIFF: Final = "diff_graph"
_MAX_CHANGES: Final = 20
_MAX_DOCUMENTS: Final = 10
_KINDS: Final = {"added": "New: ", "ended": "Ended: ", "changed": "Changed: "}
_PEOPLE: Final = frozenset({"person", "people", "employee", "user"})


def list_events(evidence: Evidence, found: Found) -> list[Computed]:
    """Returns the changes and the dated documents of the question's period."""
    question = evidence.question
    start, end = question.times[0].range.start, question.times[0].range.end
    if start is None or end is None:
        return []
    zone = question.clock.zone
    period = reference(start, end, zone)
    changes = _changes(question, found, start, end)
    answer: list[Computed] = []
    if changes:
        shown = changes[:_MAX_CHANGES]
        lines = tuple(Line(one, _KINDS.get(one.item.change, "")) for one in shown)
        answer.append(
            Computed(
                f"From {period}, newest first:", lines, _limit(evidence, len(changes), len(shown))
            )
        )
    if asks_for_turnover(question):
        return answer
    documents = _documents(found, start, end)
    if documents:
        lines = tuple(Line(one) for one in documents[:_MAX_DOCUMENTS])
        limit = "The documents are those that a search for the question found; there may be more."
        answer.append(Computed(f"Documents dated {period}, newest first:", lines, limit))
    return answer


def _changes(question: Question, found: Found, start: datetime, end: datetime) -> list[Statement]:
    items = [item for item in found.facts if item.kind == "change"]
    if asks_for_turnover(question):
        items = [item for item in items if _is_turnover(item, question)]
        people = [item for item in items if item.subject_type.casefold() in _PEOPLE]
        items = people or items
    return sorted(
        fact_statements(items), key=lambda one: _happened(one.item, start, end), reverse=True
    )


def _is_turnover(item: ResultItem, question: Question) -> bool:
    """Whether a change is of the asked kind: an end for "left", a beginning for "joined", or an event that says so."""
    leaves, joins = bool(LEAVING.search(question.text)), bool(JOINING.search(question.text))
    if item.is_event:
        words = " ".join([item.text, *relation_key(item)])
        return bool((leaves and LEAVING.search(words)) or (joins and JOINING.search(words)))
    return (
        item.change == "changed"
        or (leaves and item.change == "ended")
        or (joins and item.change == "added")
    )


def _happened(item: ResultItem, start: datetime, end: datetime) -> datetime:
    """Returns the moment of a change: the end of what ended, otherwise the beginning."""
    moment = item.valid_until if item.change == "ended" else item.valid_from
    return moment if moment is not None and start <= moment < end else start


def _documents(found: Found, start: datetime, end: datetime) -> list[Statement]:
    """Returns the first found sentence of each document or message that is dated within the period, newest first."""
    first: dict[tuple[str, datetime], Statement] = {}
    for one in passage_statements(found.passages):
        since = one.message.time if one.message is not None else given_date(one.item)
        if one.citation is not None and since is not None and start <= since < end:
            first.setdefault((one.citation.document_id, since), one)
    return sorted(first.values(), key=lambda one: one.item.valid_from or start, reverse=True)


def _limit(evidence: Evidence, count: int, shown: int) -> str:
    total = max((one.total_count for one in evidence.results if one.tool == DIFF), default=count)
    if asks_for_turnover(evidence.question) and total > count:
        read = sum(len(one.items) for one in evidence.results if one.tool == DIFF)
        total = count if read >= total else total
    if total <= shown:
        return ""
    return (
        f"Found {total} changes, showing {shown}. Name an entity or a shorter period to see fewer."
    )
