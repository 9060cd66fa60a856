"""The models that answer questions, in the order they are tried: the configured ones, then the local planner."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.language_models.throttled import (
    RetryTimeouts,
    ThrottledModel,
)
from services.models.connection import Connection
from services.models.errors import LanguageModelUnavailable
from services.models.language.limited_model import Limits
from services.models.language.settings import LanguageModelSettings
from services.models.throttle import Throttle
from services.models.usage import ModelUsage

LOCAL_PLANNER = "local-planner"
MAX_ANSWER_TOKENS = 2_048


# Takes a run's dependencies and its question.
Around: TypeAlias = Callable[[AgentDependencies, str], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class AnswerModel:
    """A model by its name; `open` loads its library and returns it. `is_local` is true for the local planner.

    `around` wraps a run; it starts work in advance that the run's first step needs.
    """

    name: str
    open: Callable[[], Awaitable[Model[Any]]]
    is_local: bool = False
    settings: ModelSettings | None = None
    around: Around | None = None


class AnswerModels:
    """The chain of models and their connections."""

    def __init__(
        self,
        configured: Sequence[LanguageModelSettings],
        planner: Model[Any],
        around_planner: Around | None = None,
    ) -> None:
        self._connections: list[Connection[_Client]] = []
        self.background_throttles: list[Throttle] = []
        self.question_throttles: list[Throttle] = []
        chain = [self._remote(settings) for settings in configured if settings.configured]

        async def local() -> Model[Any]:
            return planner

        self.chain: tuple[AnswerModel, ...] = (
            *chain,
            AnswerModel(LOCAL_PLANNER, local, is_local=True, around=around_planner),
        )

    async def close(self) -> None:
        """Closes the providers' connections."""
        for connection in self._connections:
            await connection.close()

    def _remote(self, settings: LanguageModelSettings) -> AnswerModel:
        background = Throttle(
            Limits(
                requests_per_minute=settings.requests_per_minute,
                tokens_per_minute=settings.tokens_per_minute,
                max_concurrent=settings.requests_at_once,
            )
        )
        questions = background.share(
            Limits(
                requests_per_minute=settings.questions_requests_per_minute,
                tokens_per_minute=settings.questions_tokens_per_minute,
                max_concurrent=settings.questions_at_once,
            )
        )
        self.background_throttles.append(background)
        self.question_throttles.append(questions)
        patience = RetryTimeouts(
            retry=settings.questions_retry_seconds, attempt=settings.attempt_seconds
        )
        usage = ModelUsage("language", settings.chosen_model, settings.prices)
        connection = Connection(lambda: _connect(settings), lambda client: client.close())
        self._connections.append(connection)

        async def remote() -> Model[Any]:
            client = await connection.client()
            if client is None:
                raise LanguageModelUnavailable("closed")
            return ThrottledModel(client.model, questions, patience, usage)

        return AnswerModel(
            settings.chosen_model,
            remote,
            settings=ModelSettings(max_tokens=MAX_ANSWER_TOKENS, timeout=settings.attempt_seconds),
        )


@dataclass(frozen=True, slots=True)
class _Client:
    """A provider's model and how its connections are closed."""

    model: Model[Any]
    close: Callable[[], Awaitable[None]]


def _connect(settings: LanguageModelSettings) -> _Client:
    """Creates the client. Runs in a thread because it loads the provider's library and reads certificates."""
    # Local servers need no key, but the client libraries require one.
    key = settings.api_key.get_secret_value() if settings.api_key else "none"
    if settings.provider == "anthropic":
        return _anthropic(settings, key)
    return _openai(settings, key)


def _openai(settings: LanguageModelSettings, key: str) -> _Client:
    import openai  # noqa: PLC0415 - slow import, needed for this provider only
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    client = openai.AsyncOpenAI(api_key=key, base_url=settings.chosen_url, max_retries=0)
    model = OpenAIChatModel(settings.chosen_model, provider=OpenAIProvider(openai_client=client))
    return _Client(model, client.close)


def _anthropic(settings: LanguageModelSettings, key: str) -> _Client:
    import anthropic  # noqa: PLC0415 - slow import, needed for this provider only
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    client = anthropic.AsyncAnthropic(api_key=key, base_url=settings.chosen_url, max_retries=0)
    model = AnthropicModel(
        settings.chosen_model, provider=AnthropicProvider(anthropic_client=client)
    )
    return _Client(model, client.close)
