"""Events of a run, conversations and messages as JSON."""

from __future__ import annotations

from typing import Any

from braid.agent.v1 import agent_pb2
from gateway.rest.mapping.json_encoding import Json, enum_names, struct, time
from gateway.rest.search.responses import leg

_STATUS = enum_names(agent_pb2.ToolStatus, "TOOL_STATUS_")
_END = enum_names(agent_pb2.RunEnd, "RUN_END_")
_ROLE = enum_names(agent_pb2.MessageRole, "MESSAGE_ROLE_")


def run_event(event: agent_pb2.RunEvent) -> tuple[str, Json, str]:
    """Returns an event's name, data and id for a stream of events."""
    kind = event.WhichOneof("event") or ""
    data = event_data(kind, event)
    return kind, data | {"created_at": time(event, "create_time")}, str(event.id)


def event_data(kind: str, event: agent_pb2.RunEvent) -> Json:
    """Returns an event's data."""
    serialize: dict[str, Any] = {
        "started": started,
        "tool_call": tool_call,
        "tool_result": tool_result,
        "leg_status": leg_status,
        "text": lambda text: {"text": text.text, "restart": text.restart},
        "citation": citation,
        "usage": usage,
        "notice": notice,
        "done": done,
        "error": failed,
    }
    return serialize[kind](getattr(event, kind)) if kind in serialize else {}


def started(message: agent_pb2.RunStarted) -> Json:
    """A run's beginning."""
    return {
        "run_id": message.run_id,
        "conversation_id": message.conversation_id or None,
        "model": message.model,
        "tools": list(message.tools),
    }


def tool_call(message: agent_pb2.ToolCalled) -> Json:
    """A tool that is being called."""
    return {
        "call_id": message.call_id,
        "tool": message.tool,
        "arguments": struct(message.arguments),
    }


def tool_result(message: agent_pb2.ToolReturned) -> Json:
    """A tool's answer."""
    return {
        "call_id": message.call_id,
        "tool": message.tool,
        "status": _STATUS.get(message.status),
        "item_count": message.item_count,
        "message": message.message,
        "took_ms": _milliseconds(message.elapsed),
    }


def leg_status(message: agent_pb2.LegEnded) -> Json:
    """How a leg of a tool's search ended."""
    return {"call_id": message.call_id, **leg(message.report)}


def citation(message: agent_pb2.AnswerCitation) -> Json:
    """A source of an answer."""
    return {
        "number": message.number,
        "document_id": message.document_id,
        "title": message.document_title,
        "source": message.source,
        "chunk_id": message.chunk_id,
        "start_char": message.start_char,
        "end_char": message.end_char,
        "quote": message.quote,
        "spans": [{"start": span.start, "end": span.end} for span in message.spans],
    }


def usage(message: agent_pb2.RunUsage) -> Json:
    """What a run has used."""
    return {
        "model": message.model,
        "requests": message.request_count,
        "input_tokens": message.input_token_count,
        "output_tokens": message.output_token_count,
        "tool_calls": message.tool_call_count,
        "tool_ms": _milliseconds(message.tool_elapsed),
    }


def notice(message: agent_pb2.RunNotice) -> Json:
    """A notice for the reader."""
    return {"message": message.message, "unavailable": message.unavailable or None}


def done(message: agent_pb2.RunDone) -> Json:
    """A run's end with an answer."""
    return {
        "answer": message.answer,
        "end": _END.get(message.end),
        "model": message.model,
        "unavailable": list(message.unavailable),
    }


def failed(message: agent_pb2.RunFailed) -> Json:
    """A run's end without an answer."""
    waits = message.HasField("retry_delay")
    return {
        "reason": message.reason,
        "detail": message.message,
        "retry_after_ms": _milliseconds(message.retry_delay) if waits else None,
    }


def conversation(message: agent_pb2.Conversation) -> Json:
    """A conversation."""
    return {
        "id": message.id,
        "title": message.title,
        "created_at": time(message, "create_time"),
        "updated_at": time(message, "update_time"),
        "message_count": message.message_count,
    }


def message_json(message: agent_pb2.Message) -> Json:
    """A message of a conversation."""
    return {
        "number": message.number,
        "role": _ROLE.get(message.role),
        "text": message.text,
        "citations": [citation(cited) for cited in message.citations],
        "run_id": message.run_id or None,
        "model": message.model or None,
        "end": _END.get(message.end),
        "created_at": time(message, "create_time"),
    }


def _milliseconds(duration: Any) -> float:
    return round(float(duration.seconds * 1000 + duration.nanos / 1e6), 2)
