"""Answers one question: the agent's loop over one model after another, with an event for each step."""

from __future__ import annotations

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
from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.instructions import INSTRUCTIONS, time_instructions
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
# Bounds a model that loops. A batch of tools counts each of them.
LIMITS: Final = UsageLimits(request_limit=12, tool_calls_limit=32, output_tokens_limit=16_000)
NO_ANSWER = "The documents do not say."
_PART_NAMES = {
    "documents": "the documents",
    "graph": "the knowledge graph",
    "memory": "the memory",
}
# What a terminal or a page could take for more than text: controls but tab and line feed, bidirectional overrides.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class ModelStoppedError(Exception):
    """A provider's stream ended before its answer did."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the turns before it."""

    text: str
    history: Sequence[ModelMessage]
    profile: Profile


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its sources. `unavailable` are the parts that could not be asked."""

    text: str
    citations: tuple[Cited, ...]
    model: str
    end: RunEnd
    unavailable: tuple[str, ...]


class Answering:
    """Runs the agent. The model that answers is the first of the chain that can."""

    def __init__(
        self,
        toolsets: Mapping[Profile, Toolset],
        models: AnswerModels,
        guidance: Mapping[Profile, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        """`guidance` says how a profile's further tools are used."""
        self._models = models
        self._agents: dict[Profile, BraidAgent] = {
            profile: Agent(
                deps_type=AgentDependencies,
                instructions=[INSTRUCTIONS, *guidance.get(profile, ()), time_instructions],
                toolsets=[toolset],
                retries=MAX_RETRIES,
                name="braid",
                defer_model_check=True,
            )
            for profile, toolset in toolsets.items()
        }

    @property
    def first_model(self) -> str:
        """Name of the model that is asked first."""
        return self._models.chain[0].name

    async def answer(
        self, question: Question, deps: AgentDependencies, emit: Emit, notes: Sequence[str]
    ) -> Answer:
        """The answer; its text, tools and notices are emitted as they come. `notes` are said at its end."""
        notices = list(notes)
        away: list[str] = []
        restart = False
        for position, model in enumerate(self._models.chain):
            turn = _Turn(model, replace(deps, evidence=Evidence()), emit, restart=restart)
            if model.is_local:
                return await self._answer_with(turn, question, notices, away)
            try:
                return await self._answer_with(turn, question, notices, away)
            except Exception as error:  # noqa: BLE001 - whatever a provider or its library does, the next model answers
                following = self._models.chain[position + 1].name
                notice = f"{_cause(model.name, error)} This answer is by {_called(following)}."
                get_logger("agent").warning(
                    "model gave no answer", model=model.name, error=type(error).__name__
                )
                notices.append(notice)
                away.append(LANGUAGE_MODEL)
                emit(Noticed(message=notice, unavailable=LANGUAGE_MODEL))
                restart = restart or turn.has_text
        raise AssertionError("the local planner is the last of the chain")

    async def _answer_with(
        self, turn: _Turn, question: Question, notes: Sequence[str], away: Sequence[str]
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
        return turn.finish(notes, away)


@dataclass(slots=True)
class _Turn:
    """One model's try at a question: what it has streamed and called so far."""

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
        """One event of the agent's loop."""
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

    def finish(self, notes: Sequence[str], away: Sequence[str]) -> Answer:
        """The answer, once the loop has ended. ModelStoppedError when a provider's stream broke off."""
        assert self._result is not None  # noqa: S101 - the loop's last event
        response = self._result.response
        if not self.model.is_local and response.finish_reason is None:
            raise ModelStoppedError
        evidence = self.deps.evidence
        if not "".join(self._parts).strip():
            self._add(NO_ANSWER)
        closing = list(notes)
        if not self.model.is_local and evidence.unavailable:
            closing.append(_unavailable_note(evidence.unavailable))
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
            unavailable=tuple(dict.fromkeys((*away, *evidence.unavailable))),
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
            # What a model says before it calls tools is no part of its answer.
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
    """The arguments as an object; what is none is shown as the text it is."""
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
