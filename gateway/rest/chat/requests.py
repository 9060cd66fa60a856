"""The body of a question."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from braid.agent.v1 import agent_pb2
from gateway.rest.mapping.field_types import JsonBool
from gateway.rest.mapping.message_requests import MessageBody, body_model


class _Streamed(MessageBody):
    stream: JsonBool = Field(
        default=False, description="Answer with events, as `Accept: text/event-stream` does."
    )

    def request(self, *, cancel_on_disconnect: bool) -> agent_pb2.AskRequest:
        """Returns the request."""
        request: agent_pb2.AskRequest = self.message()
        request.cancel_on_disconnect = cancel_on_disconnect
        return request


Chat: Any = body_model(agent_pb2.AskRequest.DESCRIPTOR, base=_Streamed)
