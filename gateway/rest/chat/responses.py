"""Response schemas of answers, events of runs, and conversations."""

from __future__ import annotations

from typing import Any, Literal

from gateway.rest.mapping.openapi import ResponseSchema

ToolStatus = Literal[
    "ok",
    "no_match",
    "unavailable",
    "degraded",
    "unknown_entity",
    "empty_graph",
    "ambiguous",
    "rejected",
]
RunEnd = Literal["complete", "cancelled", "length"]


class Span(ResponseSchema):
    """A part of a text, in Unicode code points."""

    start: int
    end: int


class AnswerCitation(ResponseSchema):
    """A source of an answer, which names it as `[number]`."""

    number: int
    document_id: str
    title: str
    source: str
    chunk_id: str
    start_char: int
    end_char: int
    quote: str
    spans: list[Span]


class ToolCall(ResponseSchema):
    """A tool that was called, and how that ended."""

    call_id: str
    tool: str
    arguments: dict[str, Any]
    status: ToolStatus | None
    item_count: int
    message: str
    took_ms: float


class LegOfCall(ResponseSchema):
    """How one leg of a tool's search ended."""

    call_id: str
    name: str
    status: str
    reason: str | None
    took_ms: float
    cached: bool


class RunUsage(ResponseSchema):
    """What a run has used; tokens are 0 for the local planner."""

    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    tool_calls: int
    tool_ms: float


class ChatAnswer(ResponseSchema):
    """An answer with its sources, and how it came about."""

    run_id: str
    conversation_id: str | None
    answer: str
    end: RunEnd | None
    model: str
    unavailable: list[str]
    citations: list[AnswerCitation]
    tool_calls: list[ToolCall]
    legs: list[LegOfCall]
    notices: list[str]
    usage: RunUsage | None


class _EventShape(ResponseSchema):
    created_at: str | None


class StartedData(_EventShape):
    """A run has begun."""

    run_id: str
    conversation_id: str | None
    model: str
    tools: list[str]


class ToolCallData(_EventShape):
    """A tool is being called."""

    call_id: str
    tool: str
    arguments: dict[str, Any]


class ToolResultData(_EventShape):
    """A tool has answered."""

    call_id: str
    tool: str
    status: ToolStatus | None
    item_count: int
    message: str
    took_ms: float


class LegStatusData(_EventShape):
    """A leg of a tool's search has ended."""

    call_id: str
    name: str
    status: str
    reason: str | None
    took_ms: float
    cached: bool


class TextData(_EventShape):
    """More text; with `restart` what came before is not part of the answer."""

    text: str
    restart: bool


class CitationData(_EventShape):
    """A source of the answer."""

    number: int
    document_id: str
    title: str
    source: str
    chunk_id: str
    start_char: int
    end_char: int
    quote: str
    spans: list[Span]


class UsageData(_EventShape):
    """What the run has used."""

    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    tool_calls: int
    tool_ms: float


class NoticeData(_EventShape):
    """Something that the reader should know."""

    message: str
    unavailable: str | None


class DoneData(_EventShape):
    """The run has ended with an answer."""

    answer: str
    end: RunEnd | None
    model: str
    unavailable: list[str]


class FailedData(_EventShape):
    """The run has failed."""

    reason: str
    detail: str
    retry_after_ms: float | None


class StartedEvent(ResponseSchema):
    """The first event."""

    event: Literal["started"]
    data: StartedData


class ToolCallEvent(ResponseSchema):
    """A tool call."""

    event: Literal["tool_call"]
    data: ToolCallData


class ToolResultEvent(ResponseSchema):
    """A tool's answer."""

    event: Literal["tool_result"]
    data: ToolResultData


class LegStatusEvent(ResponseSchema):
    """A leg's end."""

    event: Literal["leg_status"]
    data: LegStatusData


class TextEvent(ResponseSchema):
    """Text of the answer."""

    event: Literal["text"]
    data: TextData


class CitationEvent(ResponseSchema):
    """A source."""

    event: Literal["citation"]
    data: CitationData


class UsageEvent(ResponseSchema):
    """Usage."""

    event: Literal["usage"]
    data: UsageData


class NoticeEvent(ResponseSchema):
    """A notice."""

    event: Literal["notice"]
    data: NoticeData


class DoneEvent(ResponseSchema):
    """The last event of a run that has an answer."""

    event: Literal["done"]
    data: DoneData


class ChatErrorEvent(ResponseSchema):
    """The last event of a run that failed."""

    event: Literal["error"]
    data: FailedData


ChatEvent = (
    StartedEvent
    | ToolCallEvent
    | ToolResultEvent
    | LegStatusEvent
    | TextEvent
    | CitationEvent
    | UsageEvent
    | NoticeEvent
    | DoneEvent
    | ChatErrorEvent
)


class Conversation(ResponseSchema):
    """A conversation of the caller."""

    id: str
    title: str
    created_at: str | None
    updated_at: str | None
    message_count: int


class Message(ResponseSchema):
    """A message of a conversation."""

    number: int
    role: Literal["user", "assistant"] | None
    text: str
    citations: list[AnswerCitation]
    run_id: str | None
    model: str | None
    end: RunEnd | None
    created_at: str | None


class WholeConversation(ResponseSchema):
    """A conversation with its latest messages, oldest first."""

    conversation: Conversation
    messages: list[Message]


class Conversations(ResponseSchema):
    """A page of conversations; `next_cursor` is null at the end."""

    conversations: list[Conversation]
    next_cursor: str | None


class Messages(ResponseSchema):
    """A page of messages, latest first; `next_cursor` is null at the end."""

    messages: list[Message]
    next_cursor: str | None
