"""Questions to the agent, and conversations, for the asyncio client."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import grpc

from braid.agent.v1 import agent_pb2, agent_pb2_grpc
from braid_client.connection import Connection
from braid_client.errors import BraidCallError
from braid_client.requests import timestamp
from braid_protocol.errors import Failure

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from datetime import datetime

    from braid.agent.v1.agent_pb2 import SearchPreferences, ToolProfile

# An answer of a language model takes longer than other calls.
ASK_SECONDS = 120.0
_CODES = {
    "DEADLINE": grpc.StatusCode.DEADLINE_EXCEEDED,
    "OVERLOADED": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "STORE_UNAVAILABLE": grpc.StatusCode.UNAVAILABLE,
    "ALL_LEGS_FAILED": grpc.StatusCode.UNAVAILABLE,
}
_START = {
    True: agent_pb2.CONVERSATION_START_NEW,
    False: agent_pb2.CONVERSATION_START_UNSPECIFIED,
}


@dataclass(slots=True)
class Answer:
    """An answer to a question. `text` refers to its `citations` by number, as in `[1]`."""

    text: str = ""
    citations: list[agent_pb2.AnswerCitation] = field(default_factory=list)
    model: str = ""
    run_id: str = ""
    conversation_id: str = ""
    end: agent_pb2.RunEnd.ValueType = agent_pb2.RUN_END_UNSPECIFIED
    unavailable: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    tool_calls: list[agent_pb2.ToolCalled] = field(default_factory=list)
    usage: agent_pb2.RunUsage = field(default_factory=agent_pb2.RunUsage)

    def add(self, event: agent_pb2.RunEvent) -> None:
        """Adds the content of an event of the run."""
        match event.WhichOneof("event"):
            case "started":
                self.run_id = event.started.run_id
                self.conversation_id = event.started.conversation_id
            case "tool_call":
                self.tool_calls.append(event.tool_call)
            case "citation":
                self.citations.append(event.citation)
            case "notice":
                self.notices.append(event.notice.message)
            case "usage":
                self.usage = event.usage
            case "done":
                self.text, self.model = event.done.answer, event.done.model
                self.end = event.done.end
                self.unavailable = list(event.done.unavailable)


class Chat(Connection):
    """Part of `AsyncBraid`."""

    async def ask(
        self,
        question: str,
        *,
        conversation_id: str = "",
        new_conversation: bool = False,
        profile: ToolProfile.ValueType = agent_pb2.TOOL_PROFILE_UNSPECIFIED,
        search_preferences: SearchPreferences | None = None,
        time_zone: str = "",
        reference_time: datetime | None = None,
        timeout: float | None = None,
    ) -> Answer:
        """Returns the whole answer. `time_zone` is an IANA name, `reference_time` what counts as now; `timeout` is 120
        s.

        With `conversation_id` the question is interpreted with the preceding messages, and stored with its answer;
        `new_conversation` starts a conversation with it, whose id the answer has.
        """
        answer = Answer()
        events = self._ask(
            agent_pb2.AskRequest(
                question=question,
                conversation_id=conversation_id,
                conversation=_START[new_conversation],
                profile=profile,
                search_preferences=search_preferences,
                time_zone=time_zone,
                reference_time=timestamp(reference_time),
                cancel_on_disconnect=True,
            ),
            timeout,
        )
        async with aclosing(events):
            async for event in events:
                answer.add(event)
        return answer

    async def stream_ask(
        self,
        question: str,
        *,
        conversation_id: str = "",
        new_conversation: bool = False,
        profile: ToolProfile.ValueType = agent_pb2.TOOL_PROFILE_UNSPECIFIED,
        search_preferences: SearchPreferences | None = None,
        time_zone: str = "",
        reference_time: datetime | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[agent_pb2.RunEvent]:
        """Streams the events of the answer; the arguments are those of `ask`. Raises BraidCallError if the run fails.

        If the reader stops, the run continues for some seconds: `run_events` resumes it, `cancel_run` stops it.
        """
        events = self._ask(
            agent_pb2.AskRequest(
                question=question,
                conversation_id=conversation_id,
                conversation=_START[new_conversation],
                profile=profile,
                search_preferences=search_preferences,
                time_zone=time_zone,
                reference_time=timestamp(reference_time),
            ),
            timeout,
        )
        async with aclosing(events):
            async for event in events:
                yield event

    async def run_events(
        self, run_id: str, *, after_event_id: int = 0, timeout: float | None = None
    ) -> AsyncIterator[agent_pb2.RunEvent]:
        """Streams the events of a run after a given one, including events that are still to come."""
        stub = agent_pb2_grpc.AgentServiceStub(self._channel("agent"))
        request = agent_pb2.StreamRunEventsRequest(run_id=run_id, after_event_id=after_event_id)
        seconds = ASK_SECONDS if timeout is None else timeout
        call = stub.StreamRunEvents(request, **self._options(seconds))
        try:
            with self._typed_errors(seconds):
                async for part in call:
                    yield _checked(part.event)
        finally:
            call.cancel()

    async def _ask(
        self, request: agent_pb2.AskRequest, timeout: float | None
    ) -> AsyncGenerator[agent_pb2.RunEvent]:
        stub = agent_pb2_grpc.AgentServiceStub(self._channel("agent"))
        seconds = ASK_SECONDS if timeout is None else timeout
        call = stub.Ask(request, **self._options(seconds))
        try:
            with self._typed_errors(seconds):
                async for part in call:
                    yield _checked(part.event)
        finally:
            call.cancel()


def _checked(event: agent_pb2.RunEvent) -> agent_pb2.RunEvent:
    """Returns the event. Raises BraidCallError if it reports that the run failed."""
    if event.WhichOneof("event") == "error":
        raise BraidCallError(_failure(event.error))
    return event


def _failure(failed: agent_pb2.RunFailed) -> Failure:
    waits = failed.HasField("retry_delay")
    return Failure(
        _CODES.get(failed.reason, grpc.StatusCode.INTERNAL),
        failed.reason,
        failed.message,
        retry_after=failed.retry_delay.ToTimedelta().total_seconds() if waits else None,
    )
