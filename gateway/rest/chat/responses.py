"""Response schema of a whole answer, which the gateway puts together from the events of a run."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from braid.agent.v1 import agent_pb2
from gateway.rest.mapping.json_encoding import Json
from gateway.rest.mapping.message_schema import Shape
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


class ToolCall(ResponseSchema):
    """A tool that was called, and how that ended."""

    call_id: str
    tool: str
    arguments: dict[str, Any]
    status: ToolStatus | None
    item_count: int
    message: str
    took_ms: float


class ChatAnswer(ResponseSchema):
    """An answer with its sources, and how it came about."""

    run_id: str
    conversation_id: str | None
    answer: str
    end: Literal["complete", "cancelled", "length"] | None
    model: str
    unavailable: list[str]
    citations: list[Annotated[Json, Shape(agent_pb2.AnswerCitation)]]
    tool_calls: list[ToolCall]
    legs: list[Annotated[Json, Shape(agent_pb2.LegEnded)]]
    notices: list[str]
    usage: Annotated[Json, Shape(agent_pb2.RunUsage)] | None
