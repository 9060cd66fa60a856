"""The body of a chat completion; unknown fields are ignored, as clients expect."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from braid.agent.v1 import agent_pb2
from gateway.rest.mapping.field_types import Text
from services.runtime.errors import FieldError, InvalidFieldError

# Each model is a set of tools.
MODELS: dict[str, agent_pb2.ToolProfile.ValueType] = {
    "braid": agent_pb2.TOOL_PROFILE_ALL,
    "braid-search": agent_pb2.TOOL_PROFILE_SEARCH,
    "braid-graph": agent_pb2.TOOL_PROFILE_GRAPH,
}
_ROLES = {
    "user": agent_pb2.MESSAGE_ROLE_USER,
    "assistant": agent_pb2.MESSAGE_ROLE_ASSISTANT,
}


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")


class TextContent(_Lenient):
    """A part of a message; parts that are not text are ignored."""

    type: Text
    text: Text = ""


class ChatMessage(_Lenient):
    """A message. Those of `system`, `developer` and `tool` are ignored: Braid uses its own instructions."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Text | list[TextContent] | None = None

    @property
    def text(self) -> str:
        """The text of all parts."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(_Lenient):
    """How a stream ends."""

    include_usage: bool = False


class ChatCompletion(_Lenient):
    """A chat completion to make. The last message is the question, those before it are its conversation."""

    model: Text
    messages: list[ChatMessage] = Field(min_length=1, max_length=1_000)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = None
    user: Text | None = Field(default=None, max_length=200)

    def message(self) -> agent_pb2.AskRequest:
        """Converts the body to the contract's message. Raises InvalidFieldError for unsupported requests."""
        if self.n not in (None, 1):
            raise InvalidFieldError(FieldError("n", "must be 1"))
        last = self.messages[-1]
        if last.role != "user":
            raise InvalidFieldError(FieldError("messages", "must end with a message of the user"))
        return agent_pb2.AskRequest(
            question=last.text,
            profile=MODELS[self.model],
            cancel_on_disconnect=True,
            session_id=self.user or "",
            prior_messages=[
                agent_pb2.PriorMessage(role=_ROLES[said.role], text=said.text)
                for said in self.messages[:-1]
                if said.role in _ROLES and said.text
            ],
        )

    @property
    def prompt(self) -> str:
        """Returns all texts of the request, to estimate tokens if no provider counts them."""
        return "\n".join(message.text for message in self.messages)


def renamed_field(path: str) -> str:
    """Returns the caller's name of a contract's field."""
    return "messages" if path in {"question", "prior_messages"} else path
