"""Reads a run to its end, and returns it as one answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import grpc

from braid.agent.v1 import agent_pb2
from braid.common.v1 import errors_pb2
from gateway.rest.mapping.message_json import to_json
from services.runtime.errors import INTERNAL_MESSAGE, BraidError

if TYPE_CHECKING:
    from gateway.clients import Clients
    from gateway.rest.http.calls import Caller

SERVICE = "/braid.agent.v1.AgentService/"


@dataclass(slots=True)
class WholeRun:
    """A run's events by kind."""

    run_id: str = ""
    conversation_id: str = ""
    tool_calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    legs: list[dict[str, Any]] = field(default_factory=list)
    citations: list[dict[str, Any]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    usage: dict[str, Any] | None = None
    done: agent_pb2.RunDone | None = None

    def take(self, event: agent_pb2.RunEvent) -> None:  # noqa: C901 - one case a kind of event
        """Adds an event. Raises BraidError if it reports that the run failed."""
        kind = event.WhichOneof("event") or ""
        data = to_json(getattr(event, kind)) if kind else {}
        match kind:
            case "started":
                self.run_id, self.conversation_id = data["run_id"], data["conversation_id"]
            case "tool_call":
                self.tool_calls[data["call_id"]] = data
            case "tool_result":
                self.tool_calls.setdefault(data["call_id"], {}).update(data)
            case "leg_status":
                self.legs.append(data)
            case "citation":
                self.citations.append(data)
            case "notice":
                self.notices.append(data["message"])
            case "usage":
                self.usage = data
            case "done":
                self.done = event.done
            case "error":
                raise failure(event.error)

    def answer(self) -> dict[str, Any]:
        """Returns the run as one JSON object."""
        if self.done is None:
            raise BraidError(INTERNAL_MESSAGE)
        return {
            "run_id": self.run_id,
            "conversation_id": self.conversation_id,
            **to_json(self.done),
            "citations": self.citations,
            "tool_calls": list(self.tool_calls.values()),
            "legs": self.legs,
            "notices": self.notices,
            "usage": self.usage,
        }


async def ask_and_collect(
    caller: Caller, clients: Clients, request: agent_pb2.AskRequest
) -> WholeRun:
    """Returns the whole run. Raises the services' typed error, or ClientGoneError if the client disconnected."""
    whole = WholeRun()
    call = caller.open(SERVICE + "Ask", clients.agent.Ask, request)
    async with (
        caller.cancel_on_disconnect(call.cancel),
        aclosing(run_events(caller, call)) as events,
    ):
        async for event in events:
            whole.take(event)
    return whole


async def run_events(caller: Caller, call: Any) -> AsyncGenerator[agent_pb2.RunEvent]:
    """Yields the events of a streaming call."""
    try:
        while (answer := await call.read()) is not grpc.aio.EOF:
            yield answer.event
    except grpc.aio.AioRpcError as error:
        raise caller.error_of(error) from None
    finally:
        call.cancel()


def failure(message: agent_pb2.RunFailed) -> BraidError:
    """Returns the typed error of a failed run."""
    names = errors_pb2.ErrorReason.keys()
    name = f"ERROR_REASON_{message.reason}"
    reason = errors_pb2.ErrorReason.Value(name if name in names else "ERROR_REASON_INTERNAL")
    waits = message.HasField("retry_delay")
    wait = message.retry_delay.ToTimedelta().total_seconds() if waits else None
    return BraidError(message.message, reason=reason, retry_after=wait)
