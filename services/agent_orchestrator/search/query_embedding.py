"""A search's query vector: computed at most once for both legs, within limited time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from braid.common.v1 import retrieval_pb2
from services.models.embedding.query_embedder import QueryEmbedder
from services.runtime.context import is_short_timeout
from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from services.models.embedding.embedder import Embedder
    from services.models.embedding.query_embedder import EmbeddedQuery

Source: TypeAlias = retrieval_pb2.EmbeddingSource.ValueType
NO_SOURCE = retrieval_pb2.EMBEDDING_SOURCE_UNSPECIFIED


class Embedded(NamedTuple):
    """A query's vector and its source; the vector is None if the embedder failed or was too slow.

    `late` is true if the caller's deadline left too little time.
    """

    vector: retrieval_pb2.QueryEmbedding | None = None
    source: Source = NO_SOURCE
    late: bool = False


class QueryEmbeddings:
    """Embeds queries, at most `max_concurrent` concurrently: queries that wait too long are searched by text only."""

    def __init__(self, embedder: Embedder, *, max_concurrent: int, seconds: float) -> None:
        self._queries = QueryEmbedder(embedder)
        self._turns = asyncio.Semaphore(max_concurrent)
        self._seconds = seconds

    @property
    def model(self) -> str:
        """The configured model."""
        return self._queries.model

    async def embed(self, query: str, budget: float, *, use_cache: bool = True) -> Embedded:
        """Returns the query's vector; no vector if the embedder fails or needs over half of `budget` seconds."""
        remembered = self._queries.remembered(query) if use_cache else None
        if remembered is not None:
            # Without waiting for a slot: slots may be taken by queries that wait for a slow provider.
            return self._embedded(remembered)
        try:
            async with asyncio.timeout(min(self._seconds, budget / 2)), self._turns:
                found = await self._queries.embed(query, use_cache=use_cache)
        except (BraidError, TimeoutError) as error:
            cause = getattr(error, "cause", type(error).__name__)
            get_logger("search").warning("query not embedded", cause=cause)
            hurry = budget / 2 < self._seconds and is_short_timeout(budget / 2)
            return Embedded(late=hurry and isinstance(error, TimeoutError))
        return self._embedded(found)

    def _embedded(self, found: EmbeddedQuery) -> Embedded:
        vector = retrieval_pb2.QueryEmbedding(
            embedding_model=self._queries.model, values=found.row.tolist()
        )
        return Embedded(vector, retrieval_pb2.EmbeddingSource.ValueType(found.source))


class QueryVector:
    """A query's vector, computed when a leg first needs it, once for both."""

    def __init__(
        self, group: asyncio.TaskGroup, make: Callable[[], Coroutine[Any, Any, Embedded]]
    ) -> None:
        self._group = group
        self._make = make
        self._task: asyncio.Task[Embedded] | None = None

    async def get(self) -> retrieval_pb2.QueryEmbedding | None:
        """Returns the vector; None if the embedder fails or is too slow."""
        if self._task is None:
            self._task = self._group.create_task(self._make())
        return (await self._task).vector

    @property
    def made(self) -> retrieval_pb2.QueryEmbedding | None:
        """Returns the vector, once the group has ended; None if none was needed or could be computed."""
        return None if self._task is None else self._task.result().vector

    @property
    def late(self) -> bool:
        """Whether it is missing because the caller's deadline left too little time."""
        return self._task is not None and self._task.done() and self._task.result().late

    @property
    def source(self) -> Source:
        """The vector's source, once the group has ended; unspecified if none was needed or computed."""
        return NO_SOURCE if self._task is None else self._task.result().source


def is_of_the_vector(error: BraidError) -> bool:
    """Whether a tier rejected only the query's vector, which the caller did not provide."""
    return bool(error.fields) and all(
        name.startswith("query_embedding") for name, _ in error.fields
    )
