"""The events of a run in the agent's own form: stored as JSON in the event log, mapped to the contract for callers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from services.agent_orchestrator.agent.results import Status

ToolEnd: TypeAlias = Status | Literal["rejected"]
RunEnd: TypeAlias = Literal["complete", "cancelled", "length"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The run has begun."""

    run_id: str
    conversation_id: str
    model: str
    tools: tuple[str, ...]
    kind: Literal["started"] = "started"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled:
    """The model has called a tool."""

    call_id: str
    tool: str
    arguments: dict[str, Any]
    kind: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReturned:
    """A tool call has ended."""

    call_id: str
    tool: str
    status: ToolEnd
    item_count: int
    message: str
    seconds: float
    kind: Literal["tool_result"] = "tool_result"


@dataclass(frozen=True, slots=True, kw_only=True)
class LegEnded:
    """One leg of a tool's search has ended; `leg` is `vector` or `graph`, the other names are those of the contract."""

    call_id: str
    leg: str
    status: str
    reason: str
    seconds: float
    hit_count: int
    cached: bool
    kind: Literal["leg_status"] = "leg_status"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAdded:
    """Further text of the answer; with `restart`, the text before it is not part of the answer."""

    text: str
    restart: bool = False
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A source of the answer. `spans` are the positions of its mark in the whole answer."""

    number: int
    document_id: str
    title: str
    source: str
    chunk_id: str
    start: int
    end: int
    quote: str
    spans: tuple[tuple[int, int], ...] = ()
    kind: Literal["citation"] = "citation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """The resources that the run has used."""

    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    tool_calls: int
    tool_seconds: float
    kind: Literal["usage"] = "usage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """A notice to the reader; `unavailable` names the part of the system that could not be queried."""

    message: str
    unavailable: str = ""
    kind: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The run has ended with an answer."""

    answer: str
    end: RunEnd
    model: str
    unavailable: tuple[str, ...] = ()
    kind: Literal["done"] = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The run has failed; `reason` is one of the contract's error reasons."""

    reason: str
    message: str
    retry_after: float | None = None
    kind: Literal["error"] = "error"


Happening: TypeAlias = (
    Started
    | ToolCalled
    | ToolReturned
    | LegEnded
    | TextAdded
    | Cited
    | Used
    | Noticed
    | Done
    | Failed
)
ENDINGS = (Done, Failed)
_ADAPTER: TypeAdapter[Happening] = TypeAdapter(Annotated[Happening, Field(discriminator="kind")])


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a run, numbered from 1."""

    number: int
    time: datetime
    what: Happening

    @property
    def is_last(self) -> bool:
        """Whether no event follows."""
        return isinstance(self.what, ENDINGS)


def dump(what: Happening) -> str:
    """Serializes an event for the log."""
    return _ADAPTER.dump_json(what).decode()


def load(text: str) -> Happening:
    """Parses an event of the log."""
    return _ADAPTER.validate_json(text)


def dump_citations(cited: tuple[Cited, ...]) -> str:
    """Serializes an answer's citations for a stored message."""
    return TypeAdapter(tuple[Cited, ...]).dump_json(cited).decode()


def load_citations(text: str) -> tuple[Cited, ...]:
    """Parses the citations of a stored message."""
    return TypeAdapter(tuple[Cited, ...]).validate_json(text)
