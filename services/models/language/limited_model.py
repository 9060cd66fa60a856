"""Calls a language model within limits: rates, concurrency, retries, a circuit breaker, deadlines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from tenacity import AsyncRetrying, RetryCallState, wait_exponential_jitter

from services.models.breaker import CircuitOpen
from services.models.connection import Connection
from services.models.errors import AnswerUnusable, LanguageModelUnavailable, PromptRefused
from services.models.language.model import Completion, Prompt
from services.models.throttle import Throttle
from services.models.usage import ModelUsage
from services.runtime.context import remaining

_CHARACTERS_PER_TOKEN = 4
# The part of an answer's token limit that is charged in advance: most answers are far shorter than their limit.
_EXPECTED_ANSWER = 1_000
# The number of attempts at an unreadable answer: it is not an outage, so further retries would not help.
_MALFORMED_ATTEMPTS = 3
_BACKOFF = wait_exponential_jitter(multiplier=0.5, max=20.0, jitter=0.5)


class Fault(Enum):
    """The possible cause of a failed attempt, other than the provider."""

    NONE = "none"
    ANSWER = "answer"
    PROMPT = "prompt"


class ProviderFailed(Exception):  # noqa: N818 - the state's own name
    """One attempt failed. `passing` if another may succeed; `broken` if the provider itself is at fault.

    `rate_limited` if the provider received too many requests.
    """

    def __init__(
        self,
        cause: str,
        *,
        passing: bool,
        broken: bool,
        retry_after: float | None = None,
        fault: Fault = Fault.NONE,
        rate_limited: bool = False,
    ) -> None:
        super().__init__(cause)
        self.cause = cause
        self.passing = passing
        self.broken = broken
        self.retry_after = retry_after
        self.fault = fault
        self.rate_limited = rate_limited


class Provider(Protocol):
    """One provider's API: a single attempt, without retries."""

    async def ask(self, prompt: Prompt) -> Completion:
        """Returns the answer. Raises ProviderFailed."""
        ...

    async def close(self) -> None:
        """Frees connections."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the use of a model. In seconds: `limit` for a call with its retries, `attempt` for one attempt."""

    requests_per_minute: int = 500
    tokens_per_minute: int = 200_000
    max_concurrent: int = 8
    limit: float = 120.0
    attempt: float = 60.0


class LimitedModel:
    """A `LanguageModel` whose attempts, by any caller, share the same rate limits and the same circuit breaker."""

    def __init__(
        self,
        model: str,
        connect: Callable[[], Provider],
        limits: Limits,
        clock: Callable[[], float] = time.time,
        *,
        throttle: Throttle | None = None,
        usage: ModelUsage | None = None,
    ) -> None:
        """`connect` loads the provider's library; it runs in a thread on first use.

        `throttle` is the model's share of a provider that is also used otherwise.
        """
        self._model = model
        self._limits = limits
        self._throttle = Throttle(limits, clock=clock) if throttle is None else throttle
        self._usage = usage or ModelUsage("language", model)
        self._connection = Connection(connect, lambda provider: provider.close())

    @property
    def model(self) -> str:
        """See `LanguageModel`."""
        return self._model

    async def complete(self, prompt: Prompt) -> Completion:
        """See `LanguageModel`. Rate limits, 5xx, timeouts and broken connections are retried."""
        with self._usage.call():
            return await self._complete(prompt)

    async def close(self) -> None:
        """See `LanguageModel`."""
        await self._connection.close()

    async def _complete(self, prompt: Prompt) -> Completion:
        limit = remaining(self._limits.limit)
        until = asyncio.get_running_loop().time() + limit
        try:
            async with asyncio.timeout(limit):
                return await self._patiently(prompt, until)
        except TimeoutError:
            raise LanguageModelUnavailable("no answer in time") from None
        except ProviderFailed as failed:
            raise _unavailable(failed) from None
        except CircuitOpen as error:
            raise LanguageModelUnavailable("circuit open", retry_after=error.retry_after) from None

    async def _patiently(self, prompt: Prompt, until: float) -> Completion:
        retrying = AsyncRetrying(
            retry=lambda state: worth_waiting(state, until),
            wait=backoff,
            reraise=True,
        )
        async for attempt in retrying:
            with attempt:
                return await self._attempt(prompt)
        raise AssertionError("unreachable")

    async def _attempt(self, prompt: Prompt) -> Completion:
        provider = await self._connection.client()
        if provider is None:
            raise LanguageModelUnavailable("closed")
        async with self._throttle.attempt(tokens_of(prompt), is_providers):
            try:
                async with asyncio.timeout(self._limits.attempt):
                    answer = await provider.ask(prompt)
            except TimeoutError:
                raise ProviderFailed("no answer in time", passing=True, broken=True) from None
            except ProviderFailed as failed:
                if failed.rate_limited:
                    self._throttle.pause.extend(failed.retry_after)
                raise
            self._usage.count(answer.input_tokens, answer.output_tokens)
            return answer


def tokens_of(prompt: Prompt) -> int:
    """Estimates the number of tokens of a prompt and its answer."""
    read = sum(len(message.text) for message in prompt.messages) // _CHARACTERS_PER_TOKEN
    return read + min(prompt.max_tokens, _EXPECTED_ANSWER)


def is_providers(error: Exception) -> bool:
    """Returns whether a failed attempt is the provider's own failure."""
    return error.broken if isinstance(error, ProviderFailed) else True


def _unavailable(failed: ProviderFailed) -> LanguageModelUnavailable:
    """Returns the error of a call from its last failed attempt."""
    if failed.fault is Fault.ANSWER:
        return AnswerUnusable(failed.cause)
    if failed.fault is Fault.PROMPT:
        return PromptRefused(failed.cause)
    return LanguageModelUnavailable(failed.cause, retry_after=failed.retry_after)


def worth_waiting(state: RetryCallState, until: float) -> bool:
    """Returns whether another attempt may help within the time limit."""
    error = state.outcome.exception() if state.outcome else None
    if not isinstance(error, ProviderFailed) or not error.passing:
        return False
    if error.fault is Fault.ANSWER and state.attempt_number >= _MALFORMED_ATTEMPTS:
        return False
    left = until - asyncio.get_running_loop().time()
    return error.retry_after is None or error.retry_after < left


def backoff(state: RetryCallState) -> float:
    """Returns the wait requested by the provider plus a small random part, else an exponential backoff."""
    failure = state.outcome.exception() if state.outcome else None
    asked = failure.retry_after if isinstance(failure, ProviderFailed) else None
    return _BACKOFF(state) if asked is None else asked + _BACKOFF(state) * 0.1
