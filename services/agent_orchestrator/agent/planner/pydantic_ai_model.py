"""The local planner as a Pydantic AI model: the same loop and tools as other models, without a provider."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
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

from services.agent_orchestrator.agent.planner.follow_up import Turn
from services.agent_orchestrator.agent.planner.steps import Conversation, Step
from services.agent_orchestrator.agent.results import ResultItem, ToolResult

MODEL_NAME: Final = "local-planner"


@dataclass(frozen=True, slots=True)
class PlannerRun:
    """A run of the planner: `next_step` returns the next step after a conversation, with the tools that are offered.

    `cite` receives the items behind the marks [1], [2], … of the answer.
    """

    next_step: Callable[[Conversation, Sequence[str]], Awaitable[Step]]
    cite: Callable[[Sequence[ResultItem]], None]


RunOf = Callable[[Any], PlannerRun]


class PlannerModel(Model[Any]):
    """Answers from the run's dependencies only; `run_of` extracts them."""

    def __init__(self, run_of: RunOf) -> None:
        super().__init__()
        self._run_of = run_of

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
        run = self._run_of(run_context.deps)
        step = await run.next_step(read_conversation(messages), tools)
        if not step.calls:
            run.cite(step.cited)
        yield _PlannedResponse(parameters, _parts(step))


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


def _parts(step: Step) -> list[ToolCallPart | TextPart]:
    calls = [
        ToolCallPart(one.tool, json.dumps(one.arguments), tool_call_id=one.call_id)
        for one in step.calls
    ]
    return [*calls] or [TextPart(step.text)]


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


def _pieces(text: str) -> list[str]:
    """Splits a text into lines, so that it can be shown incrementally."""
    return text.splitlines(keepends=True)
