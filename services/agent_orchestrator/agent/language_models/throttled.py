"""Applies the limits of `services.models` to a provider's model: throttle, circuit breaker and retries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from tenacity import AsyncRetrying

from services.models.breaker import CircuitOpen
from services.models.errors import LanguageModelUnavailable
from services.models.language.failures import status_failure
from services.models.language.limited_model import (
    ProviderFailed,
    backoff,
    is_providers,
    worth_waiting,
)
from services.models.retry_after import retry_after
from services.models.throttle import Throttle
from services.models.usage import ModelUsage
from services.runtime.context import remaining

T = TypeVar("T")

_BYTES_PER_TOKEN = 4
# Output tokens that are charged in advance.
_EXPECTED_ANSWER = 1_000


@dataclass(frozen=True, slots=True)
class RetryTimeouts:
    """Timeouts in seconds: `retry` for all attempts on one model, `attempt` for one attempt's first event."""

    retry: float
    attempt: float


class ThrottledModel(WrapperModel):
    """Sends every request through the throttle. Raises LanguageModelUnavailable if the provider gives no answer."""

    def __init__(
        self, wrapped: Model[Any], throttle: Throttle, patience: RetryTimeouts, usage: ModelUsage
    ) -> None:
        super().__init__(wrapped)
        self._throttle = throttle
        self._patience = patience
        self._usage = usage

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """See `Model`."""

        async def ask(_stack: AsyncExitStack) -> ModelResponse:
            return await self.wrapped.request(messages, model_settings, model_request_parameters)

        with self._usage.call():
            response, stack = await self._patiently(ask, _tokens(messages))
            await stack.aclose()
        self._usage.count(response.usage.input_tokens, response.usage.output_tokens)
        return response

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """See `Model`. Failures before the stream is open are retried; later failures reach the stream's reader."""

        async def ask(stack: AsyncExitStack) -> StreamedResponse:
            return await stack.enter_async_context(
                self.wrapped.request_stream(
                    messages, model_settings, model_request_parameters, run_context
                )
            )

        with self._usage.stream():
            response, stack = await self._patiently(ask, _tokens(messages))
            try:
                async with stack:
                    yield response
            finally:
                self._usage.count(response.usage.input_tokens, response.usage.output_tokens)

    async def _patiently(
        self, ask: Callable[[AsyncExitStack], Awaitable[T]], tokens: int
    ) -> tuple[T, AsyncExitStack]:
        """Returns the first answer and the exit stack to close when the answer has been read."""
        loop = asyncio.get_running_loop()
        until = loop.time() + remaining(self._patience.retry)
        retrying = AsyncRetrying(
            retry=lambda state: loop.time() < until and worth_waiting(state, until),
            wait=lambda state: min(backoff(state), max(until - loop.time(), 0.0)),
            reraise=True,
        )
        try:
            async for attempt in retrying:
                with attempt:
                    return await self._attempt(ask, tokens)
        except ProviderFailed as failed:
            raise LanguageModelUnavailable(failed.cause, retry_after=failed.retry_after) from None
        except CircuitOpen as error:
            raise LanguageModelUnavailable("circuit open", retry_after=error.retry_after) from None
        raise AssertionError("unreachable")

    async def _attempt(
        self, ask: Callable[[AsyncExitStack], Awaitable[T]], tokens: int
    ) -> tuple[T, AsyncExitStack]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(
                self._throttle.attempt(tokens, is_providers, max_wait=self._patience.retry)
            )
            try:
                with provider_failures():
                    async with asyncio.timeout(self._patience.attempt):
                        answer = await ask(stack)
            except ProviderFailed as failed:
                if failed.rate_limited:
                    self._throttle.pause.extend(failed.retry_after)
                raise
            return answer, stack.pop_all()


@contextmanager
def provider_failures() -> Iterator[None]:
    """Maps the library's errors to ProviderFailed: whether a retry may help, and whether the provider is at fault."""
    try:
        yield
    except TimeoutError:
        raise ProviderFailed("no answer in time", passing=True, broken=True) from None
    except ModelHTTPError as error:
        wait = retry_after(error.headers) if error.headers else error.retry_after
        raise status_failure(error.status_code, wait) from None
    except ModelAPIError as error:
        raise ProviderFailed(type(error).__name__, passing=True, broken=True) from None
    except UnexpectedModelBehavior as error:
        raise ProviderFailed(
            f"unusable answer: {type(error).__name__}", passing=False, broken=False
        ) from None


def _tokens(messages: Sequence[ModelMessage]) -> int:
    """Estimates the number of tokens of a request and its answer."""
    size = len(ModelMessagesTypeAdapter.dump_json(list(messages)))
    return size // _BYTES_PER_TOKEN + _EXPECTED_ANSWER
