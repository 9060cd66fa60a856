"""Maps a question and its tool to calls with arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from services.agent_orchestrator.agent.planner import question_forms, replies
from services.agent_orchestrator.agent.planner.dates.expressions import TimeExpression
from services.agent_orchestrator.agent.planner.question import Question

HISTORY: Final = "get_entity_history"
DOCUMENT_TOOLS: Final = frozenset({"comprehensive_search", "hybrid_search", "vector_search"})
_LAST_INSTANT: Final = timedelta(microseconds=1)
_RELATION_NAME: Final = re.compile(r"\b[A-Z]{2,60}(?:_[A-Z]{1,60}){1,20}\b")
_PERCENT: Final = re.compile(
    r"(?:above|over|at least|more than|of|>=?)\s{0,9}(\d{1,9}(?:\.\d{1,9})?)\s{0,9}(%)?"
)
_TWO_SIDES: Final = re.compile(r"\b(?:compared|from|to|than|differ\w{0,40}|versus|vs)\b")
_FINDING_KINDS: Final = (
    ("intent", re.compile(r"\bintent(?:s|ions?)?\b|\bgoals?\b")),
    ("outcome", re.compile(r"\boutcomes?\b|\bblockers?\b")),
    ("finding", re.compile(r"\bfindings?\b|\binsights?\b")),
)
# Replacements if a profile lacks a tool, best first.
_SUBSTITUTES: Final[dict[str, tuple[str, ...]]] = {
    "comprehensive_search": (
        "hybrid_search",
        "vector_search",
        "search_knowledge_graph",
        "graph_search",
    ),
    "hybrid_search": (
        "comprehensive_search",
        "vector_search",
        "search_knowledge_graph",
        "graph_search",
    ),
    "vector_search": (
        "hybrid_search",
        "comprehensive_search",
        "search_knowledge_graph",
        "graph_search",
    ),
    "search_knowledge_graph": ("graph_search", "comprehensive_search", "hybrid_search"),
    "get_entity_history": (
        "search_knowledge_graph",
        "graph_search",
        "comprehensive_search",
        "hybrid_search",
    ),
    "get_snapshot": (
        "search_knowledge_graph",
        "graph_search",
        "comprehensive_search",
        "hybrid_search",
    ),
    "diff_graph": (
        "get_entity_history",
        "search_knowledge_graph",
        "graph_search",
        "comprehensive_search",
    ),
    "search_findings": ("comprehensive_search", "hybrid_search"),
    "query_graph": ("comprehensive_search", "hybrid_search"),
}
# Messages that an answer quotes at most.
_MESSAGES: Final = 3
# Messages that are read for the one that answers.
_READ_MESSAGES: Final = 10
_NO_TIME: Final = frozenset({"hybrid_search", "vector_search"})


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool by name with its arguments; times are ISO 8601 in UTC."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


def plan(parts: Sequence[Question], tools: Collection[str]) -> list[ToolCall]:
    """Returns the calls that a question needs, limited to the available tools; none for small talk."""
    calls: list[ToolCall] = []
    for part in parts:
        for call in route(part):
            offered = offered_call(call, part, tools)
            if offered is not None and offered not in calls:
                calls.append(offered)
    return calls


def route(question: Question) -> list[ToolCall]:
    """Returns the calls for one part of a question with its tool; a search of the documents if none was chosen."""
    return _CALLS.get(question.tool, _documents_only)(question)


def offered_call(call: ToolCall, question: Question, tools: Collection[str]) -> ToolCall | None:
    """Returns the call, or the nearest one if the profile lacks its tool; None if there is no replacement."""
    if call.tool in tools:
        return call
    for tool in _SUBSTITUTES.get(call.tool, ()):
        if tool in tools:
            if tool == "get_entity_history" and not question.entity:
                continue
            return _substitute(call, tool, question)
    return None


def _substitute(call: ToolCall, tool: str, question: Question) -> ToolCall:
    if tool == "get_entity_history":
        return ToolCall(tool, {"entity": question.entity})
    arguments: dict[str, Any] = {"query": question.text}
    if tool in {"search_knowledge_graph", "graph_search"} and question.entity:
        arguments["entity_name"] = question.entity
    time = call.arguments.get("reference_time")
    if time and tool not in _NO_TIME:
        arguments["reference_time"] = time
    return ToolCall(tool, arguments)


def _nothing(_question: Question) -> list[ToolCall]:
    return []


def memory_calls(question: Question) -> list[ToolCall]:
    """Returns the calls for what is remembered of the user, and for their own messages about it."""
    remembered = ToolCall("query_graph", {"query": question.text})
    if not replies.asks_about_conversations(question.text):
        return [remembered, _said(question.text, "user", _READ_MESSAGES)]
    asked = replies.asked_of_conversations(question.text)
    author = "assistant" if asked.of_assistant else "user"
    said = _said(asked.topic or question.text, author, _MESSAGES)
    return [said] if asked.of_assistant else [remembered, said]


def _said(query: str, author: str, limit: int) -> ToolCall:
    arguments = {"query": query, "author": author, "limit": limit}
    return ToolCall("search_conversations", arguments)


def _forget(question: Question) -> list[ToolCall]:
    return [ToolCall("forget", {"what": question.text})]


def _findings(question: Question) -> list[ToolCall]:
    arguments: dict[str, Any] = {"query": question.text}
    plain = question.plain
    kind = next((name for name, pattern in _FINDING_KINDS if pattern.search(plain)), None)
    if kind is not None:
        arguments["kind"] = kind
    number = _PERCENT.search(plain)
    if number is not None and "confiden" in plain:
        value = float(number[1]) / (100 if number[2] or float(number[1]) > 1 else 1)
        arguments["min_confidence"] = min(value, 1.0)
    if question.entity:
        arguments["about_entity"] = question.entity
    found = ToolCall("search_findings", arguments)
    if question_forms.has_finding_filter(question):
        return [found]
    return [found, _documents(question, "comprehensive_search")]


def _relations(question: Question) -> list[ToolCall]:
    if question.times and not _is_now(question):
        return _snapshot(question)
    arguments: dict[str, Any] = {"query": question.text} | _entity("entity_name", question)
    return [ToolCall("search_knowledge_graph", arguments | _relation(question))]


def _history(question: Question) -> list[ToolCall]:
    if not question.entity:
        return _history_of_all(question)
    arguments: dict[str, Any] = {"entity": question.entity}
    start = next(
        (time.range.start for time in question.times if time.range.start is not None), None
    )
    if start is not None:
        arguments["since"] = iso(start)
    return [ToolCall(HISTORY, arguments | _relation(question))]


def _history_of_all(question: Question) -> list[ToolCall]:
    """Returns calls for changes without a named entity: a comparison with a time, else what is known and written."""
    return _comparison(question) if question.times else _relations(question)


def _comparison(question: Question) -> list[ToolCall]:
    if not question.times:
        return _history(question) if question.entity else _documents_only(question)
    before, after = compared_times(question)
    arguments: dict[str, Any] = {"before": iso(before)}
    if after is not None:
        arguments["after"] = iso(after)
    return [ToolCall("diff_graph", arguments | _entity("entity", question) | _relation(question))]


def _snapshot(question: Question) -> list[ToolCall]:
    if not question.times:
        return _relations(question)
    arguments = time_arguments(question.times[0], question.clock.now)
    return [ToolCall("get_snapshot", arguments | _entity("entity", question) | _relation(question))]


def _documents_only(question: Question) -> list[ToolCall]:
    return [_documents(question, _document_tool(question))]


def _documents(question: Question, tool: str) -> ToolCall:
    arguments: dict[str, Any] = {"query": question.text}
    past = [time for time in question.times if time.kind == "as_of"]
    if past and tool == "comprehensive_search":
        arguments |= time_arguments(past[0], question.clock.now)
    return ToolCall(tool, arguments)


def _document_tool(question: Question) -> str:
    if any(time.kind == "as_of" for time in question.times):
        return "comprehensive_search"
    if question_forms.asks_for_similar(question):
        return "vector_search"
    return (
        "hybrid_search" if question_forms.asks_for_exact_words(question) else "comprehensive_search"
    )


def _is_now(question: Question) -> bool:
    """Whether the time of a question includes the present."""
    time, now = question.times[0].range, question.clock.now
    return (time.start is None or time.start <= now) and (time.end is None or now < time.end)


_CALLS: Final[Mapping[str, Callable[[Question], list[ToolCall]]]] = {
    "none": _nothing,
    "query_graph": memory_calls,
    "forget": _forget,
    "search_findings": _findings,
    "search_knowledge_graph": _relations,
    "get_entity_history": _history,
    "get_snapshot": _snapshot,
    "diff_graph": _comparison,
}


def compared_times(question: Question) -> tuple[datetime, datetime | None]:
    """Returns the two instants of a comparison; None is now."""
    times, now = question.times, question.clock.now
    if len(times) > 1:
        first, second = sorted(_last_instant(time) for time in times[:2])
        return first, second if second < now - _LAST_INSTANT else None
    time = times[0]
    is_single = _TWO_SIDES.search(question.plain)
    is_span = time.range.start is not None and question_forms.names_two_times(
        question.text[time.start : time.end]
    )
    if is_single and not is_span and time.kind == "range":
        return _last_instant(time), None
    last = _last_instant(time)
    is_past = last < now - _LAST_INSTANT and time.kind != "since"
    return _first_instant(time), last if is_past else None


def time_arguments(time: TimeExpression, now: datetime) -> dict[str, Any]:
    """Returns the reference time of an expression: an instant or a range, which may be in the future."""
    start, end = time.range.start, time.range.end
    if start is None or end is None:
        return {"reference_time": iso(_last_instant(time))}
    if time.kind == "since":
        return {"reference_time": iso(start), "reference_end": iso(max(now, start + _LAST_INSTANT))}
    if end - start <= timedelta(minutes=1):
        return {"reference_time": iso(start)}
    return {"reference_time": iso(start), "reference_end": iso(end)}


def iso(instant: datetime) -> str:
    """Formats an instant for a tool's argument."""
    return instant.isoformat()


def _first_instant(time: TimeExpression) -> datetime:
    if time.range.start is not None:
        return time.range.start
    return _last_instant(time)


def _last_instant(time: TimeExpression) -> datetime:
    """Returns the last instant of a range."""
    end = time.range.end or time.range.start
    if end is None:
        raise ValueError("a time has a start or an end")
    return end - _LAST_INSTANT


def _entity(argument: str, question: Question) -> dict[str, Any]:
    return {argument: question.entity} if question.entity else {}


def _relation(question: Question) -> dict[str, Any]:
    """Returns a relation type that the question writes as the graph does: DEPENDS_ON."""
    named = _RELATION_NAME.search(question.text)
    return {} if named is None else {"relationship_type": named[0]}
