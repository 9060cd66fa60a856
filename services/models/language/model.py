"""What answers prompts, whichever provider does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, Protocol


class Role(Enum):
    """Who says a message."""

    SYSTEM = "system"
    USER = "user"


class Message(NamedTuple):
    """One message of a prompt."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked. With a JSON schema the answer is a JSON object of its shape, as far as the provider sees to it.

    `schema_name` is of letters, digits and underscores. `max_tokens` bounds the answer.
    """

    messages: Sequence[Message]
    max_tokens: int = 4096
    schema: Mapping[str, Any] | None = None
    schema_name: str = "answer"


class Completion(NamedTuple):
    """The answer's text, and the tokens that the provider counted (0 where it tells none)."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0


class LanguageModel(Protocol):
    """Prompts to answers of one model. Safe to share between tasks of one event loop."""

    @property
    def model(self) -> str:
        """The provider's name of it."""
        ...

    async def complete(self, prompt: Prompt) -> Completion:
        """The answer. LanguageModelUnavailable when there is none; DeadlineError when the call is over."""
        ...

    async def close(self) -> None:
        """Frees connections; calling `complete` after it is LanguageModelUnavailable."""
        ...
