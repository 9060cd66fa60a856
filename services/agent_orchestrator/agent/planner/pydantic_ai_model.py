"""The local planner as a Pydantic AI model: the same loop and tools as other models, without a provider.

The first step calls the tools that the question's form needs. A later step composes the answer from their results, or
searches the documents as well if the graph had no answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from pydantic_ai import RunContext
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from services.agent_orchestrator.agent.chat_tasks import read_chat_task
from services.agent_orchestrator.agent.planner.answers import (
    INTRODUCTION,
    AnsweredPart,
    Draft,
    better_readings,
    compose,
    is_clearly_answered,
    nothing_to_look_up,
)
from services.agent_orchestrator.agent.planner.chat_task_answers import answer_chat_task
from services.agent_orchestrator.agent.planner.entity_recognition import LinkEntities
from services.agent_orchestrator.agent.planner.follow_up import Turn, understand
from services.agent_orchestrator.agent.planner.goal_calls import goal_calls
from services.agent_orchestrator.agent.planner.history_paging import PAGE
from services.agent_orchestrator.agent.planner.question import Clock, Question
from services.agent_orchestrator.agent.planner.question_goals import goal_of
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.planner.routing import (
    HISTORY,
    ToolCall,
    offered_call,
    route,
)
from services.agent_orchestrator.agent.planner.tool_choice import ChooseTool
from services.agent_orchestrator.agent.planner.two_hop_questions import bridge
from services.agent_orchestrator.agent.results import MAX_ITEMS, ResultItem, ToolResult

MODEL_NAME: Final = "local-planner"
_DOCUMENT_TOOLS: Final = frozenset({"comprehensive_search", "hybrid_search", "vector_search"})
_RECORDS: Final = frozenset({"query_graph", "search_findings"})
# The first calls, the second hop of a question, and a document search if the graph has no answer.
_MAX_STEPS: Final = 3
# A history is read page by page up to the requested page, or until an answer can be computed.
_MAX_PAGE_STEPS: Final = 10
# The reason for a call, as part of its id: a part of the question, or a second hop from its first answer.
_ASK: Final = "ask"
_ASK_ON: Final = "on"
_CALL_ID: Final = re.compile(r"part-\d{1,9}-(\w{1,100})-(\d{1,9})-\d{1,9}")
_MAX_QUERY: Final = 4_000


@dataclass(frozen=True, slots=True)
class PlannerContext:
    """The planner's access to a run. `cite` receives the items behind the marks [1], [2], … of the answer.
    `reading` scores how well statements answer.

    `understood` caches the parts of the run's question, so that later steps do not parse it again. `is_remembered`
    says whether what the user says is queued to be saved.
    """

    clock: Clock
    link: LinkEntities
    choose: ChooseTool
    cite: Callable[[Sequence[ResultItem]], None]
    reading: Reading
    understood: dict[str, list[Question]] = field(default_factory=dict)
    is_remembered: bool = False


ContextOf = Callable[[Any], PlannerContext]


class PlannerModel(Model[Any]):
    """Answers from the run's dependencies only; `context_of` extracts them."""

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__()
        self._context_of = context_of

    @property
    def model_name(self) -> str:
        """See `Model`."""
        return MODEL_NAME

    @property
    def system(self) -> str:
        """See `Model`."""
        return "braid"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """See `Model`. Not supported: only streams receive the run's dependencies, which the planner needs."""
        raise NotImplementedError("the local planner answers in a stream: use run_stream_events")

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """See `Model`."""
        if run_context is None:
            raise ValueError("the local planner needs the run's dependencies")
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        tools = [tool.name for tool in parameters.function_tools]
        parts = await next_step(messages, tools, self._context_of(run_context.deps))
        yield _PlannedResponse(parameters, parts)


@dataclass
class _PlannedResponse(StreamedResponse):
    """A response that is complete from the start: calls as parts, text in paragraphs."""

    parts: Sequence[ToolCallPart | TextPart]
    created: datetime = field(default_factory=lambda: datetime.now(UTC))

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        self._usage = RequestUsage()
        for number, part in enumerate(self.parts):
            if isinstance(part, ToolCallPart):
                yield self._parts_manager.handle_tool_call_part(
                    vendor_part_id=number,
                    tool_name=part.tool_name,
                    args=part.args,
                    tool_call_id=part.tool_call_id,
                )
                continue
            for piece in _pieces(part.content):
                for event in self._parts_manager.handle_text_delta(
                    vendor_part_id="text", content=piece
                ):
                    yield event
        self.finish_reason = "stop"

    @property
    def model_name(self) -> str:
        """See `StreamedResponse`."""
        return MODEL_NAME

    @property
    def provider_name(self) -> str:
        """See `StreamedResponse`."""
        return "braid"

    @property
    def provider_url(self) -> str | None:
        """See `StreamedResponse`."""
        return None

    @property
    def timestamp(self) -> datetime:
        """See `StreamedResponse`."""
        return self.created


async def next_step(
    messages: Sequence[ModelMessage], tools: Sequence[str], context: PlannerContext
) -> list[ToolCallPart | TextPart]:
    """Returns the next calls, or the answer."""
    talk = read_conversation(messages)
    task = read_chat_task(talk.question)
    if task is not None:
        return [TextPart(answer_chat_task(task))]
    if talk.question not in context.understood:
        context.understood[talk.question] = await understand(
            talk.question, talk.turns, context.clock, context.link, context.choose
        )
    questions = context.understood[talk.question]
    if not talk.steps:
        calls = _first_calls(questions, tools)
        if calls:
            return calls
        draft = nothing_to_look_up(
            questions, introduce=not talk.is_introduced, is_remembered=context.is_remembered
        )
        return _answer(draft, context)
    reading = context.reading
    parts = [
        await _part(question, number, talk, reading) for number, question in enumerate(questions)
    ]
    calls = await _later_calls(parts, tools, talk.steps, reading)
    if calls:
        return calls
    answered = await better_readings(parts, reading)
    draft = await compose(answered, reading, introduce=not talk.is_introduced)
    return _answer(draft, context)


async def _later_calls(
    parts: Sequence[AnsweredPart], tools: Sequence[str], steps: int, reading: Reading
) -> list[ToolCallPart | TextPart]:
    """Returns the calls after those of some steps: pages, what an answer is computed from, a second hop, documents."""
    if steps >= _MAX_PAGE_STEPS:
        return []
    calls = _further_pages(parts, steps + 1) or await _goal_calls(parts, tools, steps + 1, reading)
    has_goal = any(goal_of(part.question) for part in parts)
    if calls or (steps >= _MAX_STEPS and not has_goal):
        return calls
    return await _further_calls(parts, tools, steps + 1, reading)


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


def read_conversation(messages: Sequence[ModelMessage]) -> Conversation:
    """Parses a message history. A call that was sent back ("retried") has no result."""
    start = max(
        (place for place, message in enumerate(messages) if _prompt_of(message) is not None),
        default=0,
    )
    turns: list[Turn] = []
    for message in messages[:start]:
        asked = _prompt_of(message)
        if asked is not None:
            turns.append(Turn(asked))
        elif isinstance(message, ModelResponse) and turns:
            said = "".join(part.content for part in message.parts if isinstance(part, TextPart))
            turns[-1] = Turn(turns[-1].question, turns[-1].answer + said)
    steps, results = 0, []
    for message in messages[start + 1 :]:
        if isinstance(message, ModelResponse):
            steps += any(isinstance(part, ToolCallPart) for part in message.parts)
        else:
            results.extend(_results_in(message))
    question = _prompt_of(messages[start]) if messages else None
    return Conversation(question or "", tuple(turns), steps, tuple(results))


def _prompt_of(message: ModelMessage) -> str | None:
    if not isinstance(message, ModelRequest):
        return None
    prompts = [part for part in message.parts if isinstance(part, UserPromptPart)]
    if not prompts:
        return None
    content = prompts[-1].content
    return (
        content
        if isinstance(content, str)
        else " ".join(one for one in content if isinstance(one, str))
    )


def _results_in(message: ModelRequest) -> list[tuple[str, ToolResult]]:
    found: list[tuple[str, ToolResult]] = []
    for part in message.parts:
        if isinstance(part, ToolReturnPart) and part.outcome == "success":
            result = ToolResult.from_metadata(part.metadata)
            if result is not None:
                found.append((part.tool_call_id, result))
        elif isinstance(part, RetryPromptPart):
            continue
    return found


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


def _first_calls(
    questions: Sequence[Question], tools: Sequence[str]
) -> list[ToolCallPart | TextPart]:
    calls: list[ToolCallPart | TextPart] = []
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
) -> list[ToolCallPart | TextPart]:
    """Returns calls for a question's second hop, and document searches for parts that the graph did not answer."""
    calls: list[ToolCallPart | TextPart] = []
    for number, part in enumerate(parts):
        question, why = part.question, _ASK if part.bridge is None else _ASK_ON
        asked = {result.tool for result in part.results}
        if not asked and part.bridge is not None:
            wanted = route(question)
        elif await _needs_documents(part, asked, reading):
            wanted = [ToolCall("comprehensive_search", {"query": question.text})]
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
) -> list[ToolCallPart | TextPart]:
    """Returns calls for the histories and changes that the answers of the parts are computed from."""
    return [
        _call(call, f"part-{number}-{_ASK if part.bridge is None else _ASK_ON}-{step}-{place}")
        for number, part in enumerate(parts)
        for place, call in enumerate(await goal_calls(part.question, part.results, tools, reading))
    ]


def _further_pages(parts: Sequence[AnsweredPart], step: int) -> list[ToolCallPart | TextPart]:
    """Returns calls for the next page of a history, until the requested page of the answer is full."""
    calls: list[ToolCallPart | TextPart] = []
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
    if asked & _DOCUMENT_TOOLS or (asked and asked <= _RECORDS):
        return False
    if await is_clearly_answered(part, reading):
        return False
    return bool(asked) or bool(route(part.question))


def _call(call: ToolCall, call_id: str) -> ToolCallPart:
    arguments = {
        name: value[:_MAX_QUERY] if isinstance(value, str) else value
        for name, value in call.arguments.items()
    }
    return ToolCallPart(call.tool, json.dumps(arguments), tool_call_id=call_id)


def _answer(draft: Draft, context: PlannerContext) -> list[ToolCallPart | TextPart]:
    context.cite(draft.cited)
    return [TextPart(draft.text)]


def _pieces(text: str) -> list[str]:
    """Splits a text into lines, so that it can be shown incrementally."""
    return text.splitlines(keepends=True)
