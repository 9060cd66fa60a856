"""Answers one question: runs the agent's loop with one model after another and emits an event for each step."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelMessage,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.run import AgentRunResult, AgentRunResultEvent

from services.agent_orchestrator.agent.citation_numbers import Evidence
from services.agent_orchestrator.agent.citations import cited_by
from services.agent_orchestrator.agent.dependencies import (
    AgentDependencies,
    ContextOf,
    no_context,
)
from services.agent_orchestrator.agent.instructions import (
    INSTRUCTIONS,
    time_instructions,
    user_context,
)
from services.agent_orchestrator.agent.language_models.configured import AnswerModel, AnswerModels
from services.agent_orchestrator.agent.results import ToolResult
from services.agent_orchestrator.agent.runs.events import (
    Cited,
    Happening,
    Noticed,
    RunEnd,
    TextAdded,
    ToolCalled,
    ToolReturned,
    Used,
)
from services.agent_orchestrator.agent.toolsets import MAX_RETRIES, Profile, Toolset
from services.models.errors import LanguageModelUnavailable
from services.runtime.telemetry import get_logger

Emit = Callable[[Happening], None]
BraidAgent = Agent[AgentDependencies, str]

LANGUAGE_MODEL = "language_model"
# Bounds a model that loops. Each call of a parallel batch counts.
LIMITS: Final = UsageLimits(request_limit=12, tool_calls_limit=32, output_tokens_limit=16_000)
NO_ANSWER = "The documents do not say."
_CONTEXT_SECONDS: Final = 2.0
UNREAD = "The model that reads sentences cannot be used now: they were chosen by their words alone."
_PART_NAMES = {
    "documents": "the documents",
    "graph": "the knowledge graph",
    "memory": "the memory",
    "conversations": "the conversations",
}
# Characters that a terminal or page may interpret: controls except tab and line feed, and bidirectional overrides.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class ModelStoppedError(Exception):
    """The provider's stream ended before its answer was complete."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the messages before it."""

    text: str
    history: Sequence[ModelMessage]
    profile: Profile


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its sources. `unavailable` names the parts of the system that could not be queried."""

    text: str
    citations: tuple[Cited, ...]
    model: str
    end: RunEnd
    unavailable: tuple[str, ...]


class Answering:
    """Runs the agent. The first model of the chain that succeeds gives the answer."""

    def __init__(
        self,
        toolsets: Mapping[Profile, Toolset],
        models: AnswerModels,
        guidance: Mapping[Profile, Sequence[str]] = MappingProxyType({}),
        context_of: ContextOf = no_context,
    ) -> None:
        """`guidance` holds further instructions for each profile: how to use its additional tools.

        `context_of` returns what the prompts of language models say about the user.
        """
        self._models = models
        self._context_of = context_of
        self._agents: dict[Profile, BraidAgent] = {
            profile: Agent(
                deps_type=AgentDependencies,
                instructions=[
                    INSTRUCTIONS,
                    *guidance.get(profile, ()),
                    time_instructions,
                    user_context,
                ],
                toolsets=[toolset],
                retries=MAX_RETRIES,
                name="braid",
                defer_model_check=True,
            )
            for profile, toolset in toolsets.items()
        }

    @property
    def first_model(self) -> str:
        """Name of the first model of the chain."""
        return self._models.chain[0].name

    async def answer(
        self, question: Question, deps: AgentDependencies, emit: Emit, notes: Sequence[str]
    ) -> Answer:
        """Returns the answer; emits text, tool calls and notices as they arrive. `notes` are appended to the text."""
        notices = list(notes)
        unavailable: list[str] = []
        restart = False
        for position, model in enumerate(self._models.chain):
            turn = _Turn(model, replace(deps, evidence=Evidence()), emit, restart=restart)
            if model.is_local:
                return await self._answer_with(turn, question, notices, unavailable)
            try:
                turn.deps = replace(turn.deps, user_context=await self._user_context(deps))
                return await self._answer_with(turn, question, notices, unavailable)
            except Exception as error:  # noqa: BLE001 - on any failure the next model is tried
                following = self._models.chain[position + 1].name
                notice = f"{_cause(model.name, error)} This answer is by {_called(following)}."
                get_logger("agent").warning(
                    "model gave no answer", model=model.name, error=type(error).__name__
                )
                notices.append(notice)
                unavailable.append(LANGUAGE_MODEL)
                emit(Noticed(message=notice, unavailable=LANGUAGE_MODEL))
                restart = restart or turn.has_text
        raise AssertionError("the local planner is the last of the chain")

    async def _user_context(self, deps: AgentDependencies) -> str:
        """Returns what is known about the user. A question is answered without it, if it cannot be read in time."""
        try:
            async with asyncio.timeout(_CONTEXT_SECONDS):
                return await self._context_of(deps.space, deps.user_id or "", deps.question)
        except Exception as error:  # noqa: BLE001 - whatever fails, the answer needs only the documents
            get_logger("agent").warning("no user context", exc_info=error)
            return ""

    async def _answer_with(
        self, turn: _Turn, question: Question, notes: Sequence[str], unavailable: Sequence[str]
    ) -> Answer:
        model = await turn.model.open()
        agent = self._agents[question.profile]
        around = turn.model.around
        async with (
            around(turn.deps, question.text) if around is not None else nullcontext(),
            agent.run_stream_events(
                question.text,
                deps=turn.deps,
                model=model,
                message_history=list(question.history),
                model_settings=turn.model.settings,
                usage_limits=LIMITS,
            ) as events,
        ):
            async for event in events:
                turn.take(event)
        return turn.finish(notes, unavailable)


@dataclass(slots=True)
class _Turn:
    """One model's attempt at a question: the text it has streamed and the tools it has called so far."""

    model: AnswerModel
    deps: AgentDependencies
    emit: Emit
    restart: bool = False
    _parts: list[str] = field(default_factory=list)
    _started: dict[str, float] = field(default_factory=dict)
    _tool_calls: int = 0
    _tool_seconds: float = 0.0
    _tools_since: float = 0.0
    _result: AgentRunResult[str] | None = None

    @property
    def has_text(self) -> bool:
        """Whether any text was streamed."""
        return bool(self._parts) or self.restart

    def take(self, event: Any) -> None:
        """Handles one event of the agent's loop."""
        match event:
            case PartStartEvent(part=TextPart(content=text)):
                self._add(text)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                self._add(text)
            case FunctionToolCallEvent(part=part):
                self._called(part)
            case FunctionToolResultEvent(part=part):
                self._returned(part)
            case AgentRunResultEvent(result=result):
                self._result = result
            case _:
                pass

    def finish(self, notes: Sequence[str], unavailable: Sequence[str]) -> Answer:
        """Returns the answer once the loop has ended. Raises ModelStoppedError if the provider's stream broke off."""
        assert self._result is not None  # noqa: S101 - set by the loop's last event
        response = self._result.response
        if not self.model.is_local and response.finish_reason is None:
            raise ModelStoppedError
        evidence = self.deps.evidence
        if not "".join(self._parts).strip():
            self._add(NO_ANSWER)
        closing = list(notes)
        if not self.model.is_local and evidence.unavailable:
            closing.append(_unavailable_note(evidence.unavailable))
        if evidence.is_unread:
            closing.append(UNREAD)
        if closing:
            self._add(f"\n\nNote: {' '.join(closing)}")
        text = "".join(self._parts)
        citations = cited_by(text, evidence)
        for cited in citations:
            self.emit(cited)
        self._emit_usage()
        return Answer(
            text=text,
            citations=citations,
            model=self.model.name,
            end="length" if response.finish_reason == "length" else "complete",
            unavailable=tuple(dict.fromkeys((*unavailable, *evidence.unavailable))),
        )

    def _add(self, text: str) -> None:
        safe = _UNSAFE.sub("", text)
        if not safe:
            return
        self.emit(TextAdded(text=safe, restart=self.restart))
        self.restart = False
        self._parts.append(safe)

    def _called(self, part: ToolCallPart) -> None:
        if self._parts:
            # Text that a model writes before it calls tools is not part of its answer.
            self._parts.clear()
            self.restart = True
        now = time.perf_counter()
        if not self._started:
            self._tools_since = now
        self._started[part.tool_call_id] = now
        self._tool_calls += 1
        self.emit(
            ToolCalled(call_id=part.tool_call_id, tool=part.tool_name, arguments=_arguments(part))
        )

    def _returned(self, part: Any) -> None:
        now = time.perf_counter()
        started = self._started.pop(part.tool_call_id, now)
        if not self._started:
            self._tool_seconds += now - self._tools_since
        is_answer = isinstance(part, ToolReturnPart) and part.outcome == "success"
        result = ToolResult.from_metadata(part.metadata) if is_answer else None
        self.emit(
            ToolReturned(
                call_id=part.tool_call_id,
                tool=part.tool_name or "",
                status=_status(result, is_answer=is_answer),
                item_count=result.total_count if result else 0,
                message=result.message if result else "",
                seconds=now - started,
            )
        )

    def _emit_usage(self) -> None:
        assert self._result is not None  # noqa: S101 - as above
        usage = self._result.usage
        remote = not self.model.is_local
        self.emit(
            Used(
                model=self.model.name,
                requests=usage.requests,
                input_tokens=usage.input_tokens if remote else 0,
                output_tokens=usage.output_tokens if remote else 0,
                tool_calls=self._tool_calls,
                tool_seconds=self._tool_seconds,
            )
        )


def _status(result: ToolResult | None, *, is_answer: bool) -> Any:
    if result is not None:
        return result.status
    return "ok" if is_answer else "rejected"


def _arguments(part: ToolCallPart) -> dict[str, Any]:
    """Returns the arguments as an object; arguments that are not valid JSON are kept as raw text under `invalid`."""
    try:
        return part.args_as_dict()
    except (ValueError, AssertionError):
        return {"invalid": str(part.args)[:1_000]}


def _cause(model: str, error: Exception) -> str:
    if isinstance(error, LanguageModelUnavailable):
        return f"The language model {model} cannot be reached now ({error.cause})."
    if isinstance(error, UsageLimitExceeded):
        return f"The language model {model} came to no answer within its limits."
    if isinstance(error, ModelStoppedError):
        return f"The language model {model} broke off."
    return f"The language model {model} gave no usable answer."


def _called(model: str) -> str:
    return "the local planner" if model == "local-planner" else model


def _unavailable_note(parts: Sequence[str]) -> str:
    named = " and ".join(_PART_NAMES.get(part, part) for part in parts)
    return f"For this answer {named} could not be searched."
