"""The body of a chat completion.

What changes the form of an answer is honored or refused; other unknown fields are ignored, as clients expect.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from braid.agent.v1 import agent_pb2
from gateway.rest.mapping.field_types import Text
from gateway.rest.openai.text_limit import TextLimit
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
# Of a longer message the last part is the question, and the rest is its context.
MAX_QUESTION: Final = 8192
_MAX_CONTEXT: Final = 100_000
_BREAKS: Final = ("\n\n", "\n", " ")


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")


class TextContent(_Lenient):
    """A part of a message."""

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

    @property
    def has_other_parts(self) -> bool:
        """Whether a part is an image, audio or a file."""
        return isinstance(self.content, list) and any(
            part.type not in {"text", "refusal"} for part in self.content
        )


class StreamOptions(_Lenient):
    """How a stream ends."""

    include_usage: bool = False


class ChatCompletion(_Lenient):
    """A chat completion to make. The last message is the question, those before it are its conversation.

    `tools`, `functions`, another `response_format` than text and parts that are not text are refused.
    """

    model: Text
    messages: list[ChatMessage] = Field(min_length=1, max_length=1_000)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = None
    user: Text | None = Field(default=None, max_length=200)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    stop: Text | Annotated[list[Text], Field(max_length=4)] | None = None
    response_format: dict[str, Any] | None = None
    tools: list[Any] | None = None
    functions: list[Any] | None = None

    def message(self) -> agent_pb2.AskRequest:
        """Converts the body to the contract's message. Raises InvalidFieldError for unsupported requests."""
        if problems := list(self._problems()):
            raise InvalidFieldError(*problems)
        context, question = _context_and_question(self.messages[-1].text)
        return agent_pb2.AskRequest(
            question=question,
            profile=MODELS[self.model],
            cancel_on_disconnect=True,
            session_id=self.user or "",
            prior_messages=[
                agent_pb2.PriorMessage(role=_ROLES[said.role], text=said.text)
                for said in self.messages[:-1]
                if said.role in _ROLES and said.text
            ]
            + [
                agent_pb2.PriorMessage(role=agent_pb2.MESSAGE_ROLE_USER, text=part)
                for part in context
            ],
        )

    def text_limit(self) -> TextLimit:
        """Returns where the answer ends: at `stop`, or after the requested number of tokens."""
        stops = [self.stop] if isinstance(self.stop, str) else self.stop or []
        return TextLimit(
            self.max_completion_tokens or self.max_tokens, [one for one in stops if one]
        )

    def _problems(self) -> Iterator[FieldError]:
        if self.n not in (None, 1):
            yield FieldError("n", "must be 1")
        if self.messages[-1].role != "user":
            yield FieldError("messages", "must end with a message of the user")
        if any(message.has_other_parts for message in self.messages):
            yield FieldError("messages", "must be text: images, audio and files are not read")
        if self.response_format not in (None, {}, {"type": "text"}):
            yield FieldError("response_format", "must be text: answers are sentences with sources")
        for name in ("tools", "functions"):
            if getattr(self, name):
                yield FieldError(name, "must be empty: Braid calls only its own tools")

    @property
    def prompt(self) -> str:
        """Returns all texts of the request, to estimate tokens if no provider counts them."""
        return "\n".join(message.text for message in self.messages)


def renamed_field(path: str) -> str:
    """Returns the caller's name of a contract's field."""
    return "messages" if path in {"question", "prior_messages"} else path


def _context_and_question(text: str) -> tuple[list[str], str]:
    """Divides a long message at a paragraph, a line or a word into its context, in parts, and the question."""
    text = text.strip()
    if len(text) <= MAX_QUESTION:
        return [], text
    least = len(text) - MAX_QUESTION
    ends = (text.rfind(one) for one in _BREAKS)
    start = next((end for end in ends if end >= least), least)
    context = text[:start]
    parts = [context[n : n + _MAX_CONTEXT] for n in range(0, len(context), _MAX_CONTEXT)]
    return parts, text[start:].strip()
