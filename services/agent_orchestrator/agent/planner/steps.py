"""The steps in which the local planner answers: first the calls that a question's form needs, then the answer.

A later step composes the answer from the calls' results, or searches the documents as well if the graph had no answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from services.agent_orchestrator.agent.chat_tasks import read_chat_task
from services.agent_orchestrator.agent.planner.answers import (
    INTRODUCTION,
    AnsweredPart,
    better_readings,
    compose,
    is_answered,
    is_clearly_answered,
    nothing_to_look_up,
)
from services.agent_orchestrator.agent.planner.chat_task_answers import answer_chat_task
from services.agent_orchestrator.agent.planner.draft import Draft
from services.agent_orchestrator.agent.planner.entity_recognition import LinkEntities
from services.agent_orchestrator.agent.planner.first_person import is_statement
from services.agent_orchestrator.agent.planner.follow_up import Turn, parts_left_out, understand
from services.agent_orchestrator.agent.planner.goal_calls import goal_calls
from services.agent_orchestrator.agent.planner.history_paging import PAGE
from services.agent_orchestrator.agent.planner.question import Clock, Question
from services.agent_orchestrator.agent.planner.question_goals import goal_of
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.planner.replies import (
    ACKNOWLEDGED,
    KEPT,
    NOTED,
    confirms_too_briefly,
    instructs,
    is_foreign_statement,
    keeps_in_mind,
    may_state,
)
from services.agent_orchestrator.agent.planner.routing import (
    DOCUMENT_TOOLS,
    HISTORY,
    ToolCall,
    memory_calls,
    offered_call,
    route,
)
from services.agent_orchestrator.agent.planner.tool_choice import ChooseTool
from services.agent_orchestrator.agent.planner.two_hop_questions import bridge
from services.agent_orchestrator.agent.results import MAX_ITEMS, ResultItem, ToolResult
from services.agent_orchestrator.entity_memory.forgetting import TO_CONFIRM
from services.agent_orchestrator.entity_memory.notes import NoteTurn, not_noted
from services.runtime.patterns import compile_linear

_RECORDS: Final = frozenset({"query_graph", "search_conversations", "search_findings", "forget"})
# The first calls, the second hop of a question, and a document search if the graph has no answer.
_MAX_STEPS: Final = 3
# A history is read page by page up to the requested page, or until an answer can be computed.
_MAX_PAGE_STEPS: Final = 10
# The reason for a call, as part of its id: a part of the question, or a second hop from its first answer.
_ASK: Final = "ask"
_ASK_ON: Final = "on"
_CALL_ID: Final = re.compile(r"part-\d{1,9}-(\w{1,100})-(\d{1,9})-\d{1,9}")
_MAX_QUERY: Final = 4_000
_OURS: Final = compile_linear(r"\b(?:we|us|our|ours)\b", ignore_case=True)
_OWN: Final = compile_linear(r"\b(?:i|me|my|mine|we|us|our|ours)\b", ignore_case=True)


@dataclass(frozen=True, slots=True)
class PlannerContext:
    """The planner's access to a run. `reading` scores how well statements answer.

    `understood` caches the parts of the run's question, so that later steps do not parse it again. `is_remembered`
    says whether what the user says is queued to be saved, `is_in_conversation` whether it stands in a conversation that
    is kept, so that it can be found, and `note` what the last of several turns adds.
    """

    clock: Clock
    link: LinkEntities
    choose: ChooseTool
    reading: Reading
    understood: dict[str, list[Question]] = field(default_factory=dict)
    is_remembered: bool = False
    is_in_conversation: bool = False
    note: NoteTurn = not_noted


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call of a tool."""

    tool: str
    arguments: Mapping[str, Any]
    call_id: str


@dataclass(frozen=True, slots=True)
class Step:
    """The next calls, or the answer with the items behind its marks [1], [2], …"""

    calls: tuple[PlannedCall, ...] = ()
    text: str = ""
    cited: tuple[ResultItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A message history as the planner reads it: earlier turns, the question, and the results of its calls."""

    question: str
    turns: tuple[Turn, ...]
    steps: int
    results: tuple[tuple[str, ToolResult], ...]

    @property
    def is_introduced(self) -> bool:
        """Whether the planner has already introduced itself."""
        return any(INTRODUCTION in turn.answer for turn in self.turns)

    def results_of(self, part: int, why: str) -> tuple[ToolResult, ...]:
        """Returns the results of a part's calls: of the first hop (`ask`) or of the second hop (`on`)."""
        start = f"part-{part}-{why}-"
        return tuple(result for call_id, result in self.results if call_id.startswith(start))


async def _first_step(
    talk: Conversation, questions: Sequence[Question], tools: Sequence[str], context: PlannerContext
) -> Step:
    """Returns the first calls, or the reply to what asks nothing.

    What the memory takes from a message decides whether it is a statement: however it is worded, it is not looked up in
    the documents.
    """
    text = talk.question
    if talk.turns and confirms_too_briefly(text, talk.turns[-1].answer):
        return Step(text=_introduced(TO_CONFIRM, talk))
    is_found_again = context.is_remembered and context.is_in_conversation
    is_foreign = is_foreign_statement(text)
    if is_found_again and is_foreign:
        return Step(text=_introduced(KEPT, talk))
    calls = _first_calls(questions, tools)
    may_be_noted = may_state(text) and not is_foreign
    is_stated = not calls and any(is_statement(one.text) for one in questions)
    noted: str | None = ""
    if context.is_remembered and (may_be_noted or is_stated):
        noted = await context.note([*(turn.question for turn in talk.turns), text])
    if noted and may_be_noted:
        return Step(text=_introduced(noted, talk))
    if noted is None and is_stated:
        noted = NOTED
    is_kept = instructs(text) if calls else keeps_in_mind(text)
    if is_found_again and is_kept and not noted:
        return Step(text=_introduced(KEPT, talk))
    if calls:
        return Step(tuple(calls))
    noted = noted or ACKNOWLEDGED
    return _answer(nothing_to_look_up(questions, introduce=not talk.is_introduced, noted=noted))


async def next_step(talk: Conversation, tools: Sequence[str], context: PlannerContext) -> Step:
    """Returns the next calls, or the answer."""
    task = read_chat_task(talk.question)
    if task is not None:
        return Step(text=answer_chat_task(task))
    if talk.question not in context.understood:
        context.understood[talk.question] = await understand(
            talk.question, talk.turns, context.clock, context.link, context.choose
        )
    questions = context.understood[talk.question]
    if not talk.steps:
        return await _first_step(talk, questions, tools, context)
    reading = context.reading
    parts = [
        await _part(question, number, talk, reading) for number, question in enumerate(questions)
    ]
    calls = await _later_calls(parts, tools, talk.steps, reading)
    if calls:
        return Step(tuple(calls))
    answered = await better_readings(parts, reading)
    draft = await compose(
        answered,
        reading,
        introduce=not talk.is_introduced,
        left_out=parts_left_out(talk.question),
    )
    return _answer(draft)


def _introduced(reply: str, talk: Conversation) -> str:
    return reply if talk.is_introduced else f"{reply}\n\n{INTRODUCTION}"


async def _later_calls(
    parts: Sequence[AnsweredPart], tools: Sequence[str], steps: int, reading: Reading
) -> list[PlannedCall]:
    """Returns the calls after those of some steps: pages, what an answer is computed from, a second hop, documents."""
    if steps >= _MAX_PAGE_STEPS:
        return []
    calls = _further_pages(parts, steps + 1) or await _goal_calls(parts, tools, steps + 1, reading)
    has_goal = any(goal_of(part.question) for part in parts)
    if calls or (steps >= _MAX_STEPS and not has_goal):
        return calls
    return await _further_calls(parts, tools, steps + 1, reading)


async def _part(
    question: Question, number: int, talk: Conversation, reading: Reading
) -> AnsweredPart:
    """Returns a part with its results; for a two-hop question the second question, once it was asked."""
    asked = talk.results_of(number, _ASK)
    bridged = await bridge(question, asked, reading)
    if bridged is None:
        return AnsweredPart(question, asked)
    outer, fact = bridged
    return AnsweredPart(outer, talk.results_of(number, _ASK_ON), bridge=fact)


def is_first_call(call_id: str) -> bool:
    """Whether a call was made before any result was known; true for calls of other models."""
    found = _CALL_ID.fullmatch(call_id)
    return found is None or (found[1] == _ASK and found[2] == "1")


def _first_calls(questions: Sequence[Question], tools: Sequence[str]) -> list[PlannedCall]:
    calls: list[PlannedCall] = []
    for number, question in enumerate(questions):
        offered = [offered_call(call, question, tools) for call in route(question)]
        calls += [
            _call(call, f"part-{number}-{_ASK}-1-{place}")
            for place, call in enumerate(offered)
            if call is not None
        ]
    return calls


async def _further_calls(
    parts: Sequence[AnsweredPart], tools: Sequence[str], step: int, reading: Reading
) -> list[PlannedCall]:
    """Returns calls for a question's second hop, and document searches for parts that the graph did not answer."""
    calls: list[PlannedCall] = []
    for number, part in enumerate(parts):
        question, why = part.question, _ASK if part.bridge is None else _ASK_ON
        asked = {result.tool for result in part.results}
        if not asked and part.bridge is not None:
            wanted = route(question)
        elif await _needs_documents(part, asked, reading):
            wanted = [ToolCall("comprehensive_search", {"query": question.text})]
        elif await _needs_memory(part, asked, reading):
            wanted = memory_calls(question)
        else:
            continue
        offered = [offered_call(call, question, tools) for call in wanted]
        calls += [
            _call(call, f"part-{number}-{why}-{step}-{place}")
            for place, call in enumerate(offered)
            if call is not None
        ]
    return calls


async def _goal_calls(
    parts: Sequence[AnsweredPart], tools: Sequence[str], step: int, reading: Reading
) -> list[PlannedCall]:
    """Returns calls for the histories and changes that the answers of the parts are computed from."""
    return [
        _call(call, f"part-{number}-{_ASK if part.bridge is None else _ASK_ON}-{step}-{place}")
        for number, part in enumerate(parts)
        for place, call in enumerate(await goal_calls(part.question, part.results, tools, reading))
    ]


def _further_pages(parts: Sequence[AnsweredPart], step: int) -> list[PlannedCall]:
    """Returns calls for the next page of a history, until the requested page of the answer is full."""
    calls: list[PlannedCall] = []
    for number, part in enumerate(parts):
        found = [result for result in part.results if result.tool == HISTORY]
        # The first page of a history also contains the current facts, out of time order.
        wanted = (part.question.page + 1) * PAGE + MAX_ITEMS
        listed = sum(len(result.items) for result in found)
        if not part.question.page or not found or not found[-1].next_page or listed >= wanted:
            continue
        [call] = [one for one in route(part.question) if one.tool == HISTORY]
        paged = ToolCall(HISTORY, call.arguments | {"page": found[-1].next_page})
        calls.append(_call(paged, f"part-{number}-{_ASK}-{step}-0"))
    return calls


async def _needs_documents(part: AnsweredPart, asked: set[str], reading: Reading) -> bool:
    """Whether a part was asked of a tool other than documents or records, without an answer."""
    if asked & DOCUMENT_TOOLS:
        return False
    if asked and asked <= _RECORDS:
        # Whom "we" means is not known: what the user did not say may stand in a document.
        ours = _OURS.search(part.question.text) is not None and "query_graph" in asked
        return ours and not await is_answered(part, reading)
    if await is_clearly_answered(part, reading):
        return False
    return bool(asked) or bool(route(part.question))


async def _needs_memory(part: AnsweredPart, asked: set[str], reading: Reading) -> bool:
    """Whether the documents do not answer what the user asks about themselves."""
    if "query_graph" in asked or not asked & DOCUMENT_TOOLS:
        return False
    is_own = _OWN.search(part.question.text) is not None
    return is_own and not await is_answered(part, reading)


def _call(call: ToolCall, call_id: str) -> PlannedCall:
    arguments = {
        name: value[:_MAX_QUERY] if isinstance(value, str) else value
        for name, value in call.arguments.items()
    }
    return PlannedCall(call.tool, arguments, call_id)


def _answer(draft: Draft) -> Step:
    return Step(text=draft.text, cited=tuple(draft.cited))
