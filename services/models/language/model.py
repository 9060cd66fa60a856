"""The interface of language models, independent of the provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, Protocol


class Role(Enum):
    """The author of a message."""

    SYSTEM = "system"
    USER = "user"


class Message(NamedTuple):
    """One message of a prompt."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request to a model.

    With a JSON schema the answer is a JSON object of its shape, as far as the provider enforces it.

    `schema_name` consists of letters, digits and underscores. `max_tokens` limits the answer.
    """

    messages: Sequence[Message]
    max_tokens: int = 4096
    schema: Mapping[str, Any] | None = None
    schema_name: str = "answer"


class Completion(NamedTuple):
    """The answer's text, and the tokens counted by the provider (0 without a count)."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0


class LanguageModel(Protocol):
    """Answers prompts with one model. Safe to share between tasks of one event loop."""

    @property
    def model(self) -> str:
        """Returns the provider's name of the model."""
        ...

    async def complete(self, prompt: Prompt) -> Completion:
        """Returns the answer. Raises LanguageModelUnavailable without one, DeadlineError past the caller's deadline."""
        ...

    async def close(self) -> None:
        """Frees connections; a later call of `complete` raises LanguageModelUnavailable."""
        ...
