"""Embeddings by any endpoint with OpenAI's `/v1/embeddings` API."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from services.models.batching import by_size
from services.models.breaker import Breakers
from services.models.connection import Connection
from services.models.embedding.openai_models import DIMENSIONS, accepts_dimension
from services.models.embedding.vectors import Matrix, empty, unit_rows
from services.models.errors import EmbedderUnavailable
from services.models.task_groups import first_failure
from services.models.usage import ModelUsage
from services.runtime.context import remaining

if TYPE_CHECKING:
    from services.models.embedding.openai_client import EmbeddingsClient

MAX_CHARACTERS = 8_000
"""What is read of one text: the API takes 8,192 tokens, and few scripts have more than one a character."""
# The API accepts 2,048 texts and 300,000 tokens per request; smaller requests share a rate limit better.
_BATCH_TEXTS = 256
_BATCH_CHARACTERS = 200_000
_CONCURRENT_REQUESTS = 4
# More than for bulk work, as queries are short and their callers wait.
_CONCURRENT_QUERIES = 8


class OpenAIEmbedder:
    """Vectors by an OpenAI-compatible service; its library loads on first use.

    Calls with one text (a query) have their own share of the concurrent requests, so they never wait for bulk work;
    bulk calls share the rest.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str,
        api_key: str,
        dimension: int | None = None,
        limit: float = 30.0,
        attempt_timeout: float = 10.0,
        breakers: Breakers | None = None,
        usage: ModelUsage | None = None,
    ) -> None:
        """`dimension` is requested from text-embedding-3 models and checked for others; None means the model's own.

        Durations are in seconds: `limit` for one request with its retries (the caller's deadline may end it sooner),
        `attempt_timeout` for each attempt. `breakers` have the endpoint's shared circuit breaker; by default a separate
        one is used. `usage` counts tokens.
        """
        self._model = model
        self._base_url = base_url
        self._api_key = api_key
        self._asked = dimension if accepts_dimension(model) else None
        self._dimension = dimension or DIMENSIONS.get(model)
        self._limit = limit
        self._attempt_timeout = attempt_timeout
        self._breakers = breakers or Breakers()
        self._usage = usage or ModelUsage("embedding", model)
        self._bulk = asyncio.Semaphore(_CONCURRENT_REQUESTS)
        self._single = asyncio.Semaphore(_CONCURRENT_QUERIES)
        self._connection = Connection(self._connect, lambda client: client.close())

    @property
    def model(self) -> str:
        """See `Embedder`."""
        return self._model

    @property
    def dimension(self) -> int:
        """See `Embedder`. An unlisted model's dimension is known from its first answer on."""
        if self._dimension is None:
            raise EmbedderUnavailable("the model's dimension is not known yet")
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`. Rate limits, 5xx, timeouts and broken connections are retried.

        After 5 failed attempts in a row, by any calls to the endpoint, all calls fail immediately while its circuit
        breaker is open; then one call tries again.
        """
        if not texts:
            return empty(self.dimension)
        with self._usage.call():
            return await self._embed(texts)

    async def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """See `Embedder`; the API makes no difference between queries and texts."""
        return await self.embed(queries)

    async def close(self) -> None:
        """See `Embedder`."""
        await self._connection.close()

    async def _embed(self, texts: Sequence[str]) -> Matrix:
        clipped = [text[:MAX_CHARACTERS] or " " for text in texts]  # The API refuses an empty one.
        parts = list(by_size([len(text) for text in clipped], _BATCH_TEXTS, _BATCH_CHARACTERS))
        if len(parts) == 1:
            slots = self._single if len(clipped) == 1 else self._bulk
            return await self._embed_part(clipped, slots)
        with first_failure():
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._embed_part(clipped[part.start : part.stop], self._bulk))
                    for part in parts
                ]
        return np.concatenate([task.result() for task in tasks])

    async def _embed_part(self, texts: list[str], slots: asyncio.Semaphore) -> Matrix:
        async with slots:
            client = await self._connection.client()
            if client is None:
                raise EmbedderUnavailable("closed")
            answer = await client.create(texts, self._asked, remaining(self._limit))
        try:
            rows = unit_rows(answer)
        except (ValueError, TypeError, OverflowError):
            raise EmbedderUnavailable("malformed answer") from None
        return self._checked(rows, len(texts))

    def _checked(self, rows: Matrix, count: int) -> Matrix:
        if self._dimension is None:
            self._dimension = rows.shape[1]
        if rows.shape != (count, self._dimension):
            raise EmbedderUnavailable("answer of the wrong shape")
        return rows

    def _connect(self) -> EmbeddingsClient:
        # Imported here, so that a process that embeds nothing does not load the library.
        from services.models.embedding.openai_client import EmbeddingsClient  # noqa: PLC0415

        return EmbeddingsClient(
            model=self._model,
            base_url=self._base_url,
            api_key=self._api_key,
            attempt_timeout=self._attempt_timeout,
            breaker=self._breakers.for_endpoint(self._base_url),
            count_tokens=self._usage.count,
        )
