"""Converts the messages before a question into messages for a model, within a token budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)

CHARACTERS_PER_TOKEN = 4


class ShownMessage(Protocol):
    """The fields of a conversation's message that a model is shown."""

    @property
    def role(self) -> Literal["user", "assistant"]: ...
    @property
    def text(self) -> str: ...


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message of a conversation that the caller stores itself."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class History:
    """Messages, oldest first, and the number of older ones that did not fit and are in no summary."""

    messages: list[ModelMessage]
    left_out: int


def build_history(newest_first: Sequence[ShownMessage], budget: int, summary: str = "") -> History:
    """Returns as many of the latest messages as fit into `budget` tokens, after the summary of earlier ones."""
    left = budget - tokens_of(summary)
    kept: list[ShownMessage] = []
    for message in newest_first:
        left -= tokens_of(message.text)
        if left < 0 and kept:
            break
        kept.append(message)
    # A history begins with a question: without it, the answer has no context.
    while kept and kept[-1].role == "assistant":
        kept.pop()
    messages = [_as_message(message) for message in reversed(kept)]
    if summary:
        messages = [_summary(summary), *messages]
    return History(messages, len(newest_first) - len(kept))


def tokens_of(text: str) -> int:
    """Estimates the number of tokens of a text."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def _as_message(message: ShownMessage) -> ModelMessage:
    if message.role == "user":
        return ModelRequest(parts=[UserPromptPart(message.text)])
    return ModelResponse(parts=[TextPart(message.text)])


def _summary(text: str) -> ModelMessage:
    said = f"Summary of the conversation so far, for context only:\n{text}"
    return ModelRequest(parts=[UserPromptPart(said)])
