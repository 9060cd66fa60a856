"""One `/v1/embeddings` request with the `openai` library, with its retries kept within a time limit."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import aiohttp
import httpx2
import openai
from pydantic_core import from_json

from services.models.breaker import Breaker, CircuitOpen
from services.models.errors import EmbedderUnavailable, TextsRefused
from services.models.retry_after import retry_after
from services.runtime.telemetry import get_logger

# The library waits 0.5, 1, 2, 4, 8, 8… s minus a random quarter, or as long as Retry-After says; in practice the time
# limit ends the retries.
_MAX_RETRIES = 8

_SERVER_ERROR = 500
# The status codes with which providers refuse texts; other refusals concern the key, the model or the moment.
_REFUSES_TEXTS = frozenset({400, 413, 422})

_ends_at: ContextVar[float] = ContextVar("braid_embedding_ends_at")


class EmbeddingsClient:
    """A connection pool to one endpoint. No I/O until `create`."""

    def __init__(
        self,
        *,
        model: str,
        base_url: str,
        api_key: str,
        attempt_timeout: float,
        breaker: Breaker,
        count_tokens: Callable[[int], None],
    ) -> None:
        """`attempt_timeout` in seconds limits one attempt; `breaker` is the endpoint's."""
        # At DEBUG the library logs whole requests, including the texts.
        logging.getLogger("openai").setLevel(logging.WARNING)
        self._model = model
        self._failing = ""
        self._count_tokens = count_tokens
        self._client = openai.AsyncOpenAI(
            api_key=api_key,
            base_url=base_url,
            max_retries=_MAX_RETRIES,
            timeout=attempt_timeout,
            http_client=_GuardedHttp(
                breaker, event_hooks={"response": [_stop_waits_beyond_the_limit]}
            ),
        )

    async def create(
        self, texts: list[str], dimension: int | None, limit: float
    ) -> list[list[float]]:
        """Returns a vector for each text, in order, with unchecked values. Raises EmbedderUnavailable or TextsRefused.

        It raises immediately while the circuit is open, whichever calls made the failed attempts. `limit` in seconds
        includes retries: a longer Retry-After is reported, not waited for.
        """
        try:
            vectors = await self._create(texts, dimension, limit)
        except TextsRefused:
            raise
        except EmbedderUnavailable as error:
            self._note(error.cause)
            raise
        self._note("")
        return vectors

    async def _create(
        self, texts: list[str], dimension: int | None, limit: float
    ) -> list[list[float]]:
        _ends_at.set(time.monotonic() + limit)
        try:
            async with asyncio.timeout(limit):
                answer = await self._send(texts, dimension)
                self._count_tokens(_tokens(answer))
                return _in_order(answer, len(texts))
        except TimeoutError:
            raise EmbedderUnavailable("no answer in time") from None
        except _CircuitOpenError as error:
            raise EmbedderUnavailable("circuit open", retry_after=error.retry_after) from None
        except openai.APIStatusError as error:
            if error.status_code in _REFUSES_TEXTS:
                raise TextsRefused(f"HTTP {error.status_code}") from None
            wait = retry_after(error.response.headers)
            raise EmbedderUnavailable(f"HTTP {error.status_code}", retry_after=wait) from None
        except openai.OpenAIError as error:
            raise EmbedderUnavailable(type(error).__name__) from None
        except (ValueError, TypeError, LookupError):
            raise EmbedderUnavailable("malformed answer") from None

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    def _note(self, cause: str) -> None:
        """Logs why there are no vectors, only when the cause changes; "" means that there are vectors."""
        if cause and cause != self._failing:
            get_logger("models").warning("no embeddings", model=self._model, cause=cause)
        self._failing = cause

    async def _send(self, texts: list[str], dimension: int | None) -> Any:
        # Plain numbers, as not every compatible server supports base64.
        body: dict[str, object] = {
            "input": texts,
            "model": self._model,
            "encoding_format": "float",
        }
        if dimension is not None:
            body["dimensions"] = dimension
        # The library's method for any endpoint; its method for embeddings inspects each text and each number of a
        # vector.
        answer = await self._client.post("/embeddings", body=body, cast_to=httpx2.Response)
        return from_json(answer.content)


class _CircuitOpenError(openai.OpenAIError):
    """Not sent: the circuit is open. Derived from the library's base error, which it does not retry."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("circuit open")
        self.retry_after = retry_after


class _ServerFailed(Exception):  # noqa: N818 - counts an answer as a failure, and goes no further
    """The provider answered with a server error."""


class _GuardedHttp(openai.DefaultAioHttpClient):
    """Passes each attempt, including the library's retries, through the provider's circuit breaker.

    Uses aiohttp, whose parser is native: an attempt takes two thirds of the CPU time of the default client.
    """

    def __init__(self, breaker: Breaker, **options: Any) -> None:
        super().__init__(**options)
        self._breaker = breaker

    async def send(self, request: Any, **options: Any) -> Any:
        """See the library. A rate limit is the answer of a working provider; 5xx is not."""
        try:
            async with self._breaker.guard():
                with _connection_errors():
                    response = await super().send(request, **options)
                _fail_on_server_error(response)
        except _ServerFailed:
            return response
        except CircuitOpen as error:
            raise _CircuitOpenError(error.retry_after) from None
        return response


@contextmanager
def _connection_errors() -> Iterator[None]:
    """Translates errors unknown to the library, such as an answer that is not HTTP, to an error that it retries."""
    try:
        yield
    except aiohttp.ClientError as error:
        raise httpx2.RemoteProtocolError(type(error).__name__) from None


def _tokens(answer: Any) -> int:
    """Returns the tokens counted by the provider; 0 without a valid count."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return max(tokens, 0) if isinstance(tokens, int) else 0


def _in_order(answer: Any, count: int) -> list[list[float]]:
    by_index = {item["index"]: item["embedding"] for item in answer["data"]}
    if sorted(by_index) != list(range(count)) or len(answer["data"]) != count:
        raise ValueError("not one vector for each text")
    return [by_index[index] for index in range(count)]


def _fail_on_server_error(response: Any) -> None:
    if response.status_code >= _SERVER_ERROR:
        raise _ServerFailed


async def _stop_waits_beyond_the_limit(response: Any) -> None:
    wait = retry_after(response.headers)
    if wait is not None and wait > _ends_at.get() - time.monotonic():
        response.headers["x-should-retry"] = "false"  # tells the library to stop retrying
