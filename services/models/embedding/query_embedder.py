"""Embeds queries: from memory, from a store that outlives the process, or with the model; results name the source."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

from opentelemetry.metrics import Meter

from services.models.embedding.cache import CachedEmbedder
from services.models.embedding.embedder import Embedder
from services.models.embedding.vectors import Matrix
from services.runtime.errors import BraidError
from services.runtime.instruments import EMBEDDING_STORE_HITS, EMBEDDING_STORE_MISSES, counter
from services.runtime.telemetry import get_logger

# The store must never cost more than the model: after this time it counts as a miss.
STORE_SECONDS = 0.1
# The number of vectors being stored concurrently; a query beyond it is not stored.
_MAX_STORING = 64


class VectorSource(IntEnum):
    """The source of a query's vector; numbered like the contract's enum."""

    NONE = 0
    GIVEN = 1
    COMPUTED = 2
    MEMORY = 3
    STORED = 4


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """A query's vector of shape (dimension,), and its source."""

    row: Matrix
    source: VectorSource


class EmbeddingStore(Protocol):
    """Vectors that outlive the process, by digest of space, model and text. Raises a `BraidError` if unavailable."""

    async def recall(self, digest: bytes) -> Matrix | None:
        """Returns the vector, of shape (dimension,), exactly as stored; None without one."""
        ...

    async def remember(self, digest: bytes, row: Matrix) -> None:
        """Stores a vector."""
        ...


class QueryEmbedder:
    """Embeds one query at a time. Uses stored vectors unless a call requests otherwise."""

    def __init__(
        self,
        embedder: Embedder,
        store: EmbeddingStore | None = None,
        meter: Meter | None = None,
    ) -> None:
        """Counts queries in `braid.embedding_store.hits` and `.misses` if there is a store."""
        self._hits = counter(EMBEDDING_STORE_HITS, meter)
        self._misses = counter(EMBEDDING_STORE_MISSES, meter)
        # Even without entries of its own, the cache lets equal concurrent queries share one call.
        self._cache = (
            embedder if isinstance(embedder, CachedEmbedder) else CachedEmbedder(embedder, 0)
        )
        self._store = store
        self._storing: set[asyncio.Task[Matrix | None]] = set()

    @property
    def model(self) -> str:
        """See `Embedder`."""
        return self._cache.model

    @property
    def dimension(self) -> int | None:
        """Returns the length of its vectors; None while an unlisted model has not answered yet."""
        try:
            return self._cache.dimension
        except BraidError:
            return None

    def remembered(self, query: str) -> EmbeddedQuery | None:
        """Returns the query's vector if it is in memory."""
        row = self._cache.recall(query)
        return None if row is None else EmbeddedQuery(row, VectorSource.MEMORY)

    async def embed(self, query: str, *, use_cache: bool = True) -> EmbeddedQuery:
        """Returns the query's vector. Raises what `Embedder.embed` raises; an unavailable store is skipped."""
        if not use_cache:
            return await self._computed(self._cache.fresh, query)
        remembered = self.remembered(query)
        if remembered is not None:
            return remembered
        row = await self._stored(query)
        if row is not None:
            self._cache.remember(query, row)
            return EmbeddedQuery(row, VectorSource.STORED)
        embedded = await self._computed(self._cache, query)
        self._keep(query, embedded.row)
        return embedded

    async def embed_all(self, queries: Sequence[str]) -> Matrix:
        """Returns the vectors of several queries, reusing those in memory; shape (queries, dimension)."""
        return await self._cache.embed_queries(queries)

    async def close(self) -> None:
        """Waits for vectors that are being stored. The owner of the embedder closes it."""
        await asyncio.gather(*self._storing, return_exceptions=True)

    async def _computed(self, embedder: Embedder, query: str) -> EmbeddedQuery:
        rows = await embedder.embed_queries([query])
        return EmbeddedQuery(rows[0], VectorSource.COMPUTED)

    async def _stored(self, query: str) -> Matrix | None:
        dimension = self.dimension
        # A model's dimension is configurable: a vector stored under another setting must not be returned.
        if self._store is None or dimension is None:
            return None
        row = await _in_time(self._store.recall(self._cache.digest(query)))
        found = row is not None and row.shape == (dimension,)
        (self._hits if found else self._misses).add(1, {"model": self.model})
        return row if found else None

    def _keep(self, query: str, row: Matrix) -> None:
        if self._store is None or len(self._storing) >= _MAX_STORING:
            return
        storing = asyncio.create_task(
            _in_time(self._store.remember(self._cache.digest(query), row))
        )
        self._storing.add(storing)
        storing.add_done_callback(self._kept)

    def _kept(self, storing: asyncio.Task[Matrix | None]) -> None:
        self._storing.discard(storing)
        error = None if storing.cancelled() else storing.exception()
        if error is not None:
            get_logger("models").error("query not stored", exc_info=error)


async def _in_time(work: Coroutine[Any, Any, Matrix | None]) -> Matrix | None:
    """Returns the store's answer; None if it is unavailable or slow."""
    try:
        async with asyncio.timeout(STORE_SECONDS):
            return await work
    except (BraidError, TimeoutError) as error:
        get_logger("models").debug("embedding store skipped", error=type(error).__name__)
        return None
