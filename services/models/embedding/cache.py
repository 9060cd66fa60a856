"""Caches vectors, and embeds a text that several callers request concurrently only once."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np
from opentelemetry.metrics import Meter

from services.models.embedding.embedder import Embedder
from services.models.embedding.vectors import Matrix, empty
from services.models.errors import EmbedderUnavailable
from services.runtime.context import current_call_or_none, enter_call, share_of_remaining
from services.runtime.instruments import EMBEDDING_CACHE_HITS, EMBEDDING_CACHE_MISSES, counter

_Embed: TypeAlias = Callable[[Sequence[str]], Coroutine[Any, Any, Matrix]]


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Texts since the start: `hits` were not embedded (including those that joined a running call)."""

    hits: int
    misses: int
    entries: int


@dataclass(eq=False, slots=True)
class _Flight:
    """A running call for some texts, and the number of its waiting callers."""

    task: asyncio.Task[Matrix]
    keys: list[bytes]
    waiters: int = 0


class CachedEmbedder:
    """An `Embedder` that caches the `max_entries` most recently used vectors (1.5 KB each at 384 values).

    Keys are digests of space, model and text: no text is stored. Failures are not cached.
    """

    def __init__(
        self, inner: Embedder, max_entries: int = 4096, meter: Meter | None = None
    ) -> None:
        """Counts texts in `braid.embedding_cache.hits` and `.misses`, by model."""
        self._hit_counter = counter(EMBEDDING_CACHE_HITS, meter)
        self._miss_counter = counter(EMBEDDING_CACHE_MISSES, meter)
        self._inner = inner
        self._max_entries = max_entries
        self._rows: OrderedDict[bytes, Matrix] = OrderedDict()
        self._flights: dict[bytes, tuple[_Flight, int]] = {}
        self._hits = 0
        self._misses = 0

    @property
    def model(self) -> str:
        """See `Embedder`."""
        return self._inner.model

    @property
    def dimension(self) -> int:
        """See `Embedder`."""
        return self._inner.dimension

    @property
    def stats(self) -> CacheStats:
        """Returns the hits and misses so far."""
        return CacheStats(self._hits, self._misses, len(self._rows))

    @property
    def fresh(self) -> Embedder:
        """Returns the embedder behind the cache."""
        return self._inner

    def recall(self, query: str) -> Matrix | None:
        """Returns a cached query's vector of shape (dimension,). A miss is counted by `embed_queries`."""
        row = self._remembered(self.digest(query))
        if row is not None:
            self._count(hits=1, misses=0)
        return row

    def remember(self, query: str, row: Matrix) -> None:
        """Caches a query's vector of shape (dimension,) that was made elsewhere."""
        self._remember(self.digest(query), row)

    def digest(self, query: str) -> bytes:
        """Returns the SHA-256 of space, model and query, the key of its vector.

        The space is included because a quick answer would reveal to one tenant what another has asked.
        """
        call = current_call_or_none()
        space = call.space if call is not None else ""
        return sha256(f"{space}\0{self.model}\0{query}".encode("utf-8", "surrogatepass")).digest()

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`.

        A failed call fails all callers that joined it; a caller's deadline ends only its own wait.
        """
        # A passage and a query of the same words have different vectors.
        keys = [sha256(b"passage" + self.digest(text)).digest() for text in texts]
        return await self._embed(self._inner.embed, keys, texts)

    async def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """See `Embedder`, and `embed`."""
        return await self._embed(
            self._inner.embed_queries, [self.digest(query) for query in queries], queries
        )

    async def close(self) -> None:
        """See `Embedder`."""
        self._rows.clear()
        await self._inner.close()

    async def _embed(self, embed: _Embed, keys: Sequence[bytes], texts: Sequence[str]) -> Matrix:
        if not texts:
            return empty(self.dimension)
        found = {key: row for key in keys if (row := self._remembered(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        self._count(hits=len(keys) - len(missing), misses=0)
        found |= await self._fetch(embed, missing)
        return np.stack([found[key] for key in keys])

    async def _fetch(self, embed: _Embed, wanted: dict[bytes, str]) -> dict[bytes, Matrix]:
        if not wanted:
            return {}
        seconds = share_of_remaining(1.0)
        new = {key: text for key, text in wanted.items() if key not in self._flights}
        self._count(hits=len(wanted) - len(new), misses=len(new))
        if new:
            self._start(embed, new)
        seats = {key: self._flights[key] for key in wanted}
        await self._wait({flight for flight, _ in seats.values()}, seconds)
        return {key: flight.task.result()[row] for key, (flight, row) in seats.items()}

    def _count(self, *, hits: int, misses: int) -> None:
        self._hits += hits
        self._misses += misses
        if hits:
            self._hit_counter.add(hits, {"model": self.model})
        if misses:
            self._miss_counter.add(misses, {"model": self.model})

    async def _wait(self, flights: set[_Flight], seconds: float | None) -> None:
        for flight in flights:
            flight.waiters += 1
        try:
            # Unlike `gather`, this leaves the tasks running when this caller is canceled or its deadline passes.
            done, late = await asyncio.wait(
                [flight.task for flight in flights],
                timeout=seconds,
                return_when=asyncio.FIRST_EXCEPTION,
            )
            for task in done:
                task.result()
            if late:
                raise EmbedderUnavailable("no answer in time")
        finally:
            for flight in flights:
                self._leave(flight)

    def _leave(self, flight: _Flight) -> None:
        flight.waiters -= 1
        if flight.waiters == 0 and not flight.task.done():
            self._forget(flight)
            flight.task.cancel()

    def _start(self, embed: _Embed, texts: dict[bytes, str]) -> None:
        work = embed(list(texts.values()))
        task = asyncio.create_task(work, context=_without_deadline())
        flight = _Flight(task, list(texts))
        for row, key in enumerate(texts):
            self._flights[key] = (flight, row)
        task.add_done_callback(lambda _: self._land(flight))

    def _land(self, flight: _Flight) -> None:
        self._forget(flight)
        if flight.task.cancelled() or flight.task.exception() is not None:
            return
        for key, row in zip(flight.keys, flight.task.result(), strict=True):
            self._remember(key, row)

    def _forget(self, flight: _Flight) -> None:
        """Removes a call, so that no further caller joins it."""
        for key in flight.keys:
            if self._flights.get(key, (None, 0))[0] is flight:
                del self._flights[key]

    def _remembered(self, key: bytes) -> Matrix | None:
        if key not in self._rows:
            return None
        self._rows.move_to_end(key)
        return self._rows[key]

    def _remember(self, key: bytes, row: Matrix) -> None:
        # A copy: a view would keep the whole batch in memory.
        self._rows[key] = row.copy()
        while len(self._rows) > self._max_entries:
            self._rows.popitem(last=False)


def _without_deadline() -> Context:
    """Returns the caller's context, for logs and traces, without its deadline: other callers may wait longer."""
    context = copy_context()
    call = current_call_or_none()
    if call is not None:
        context.run(enter_call, replace(call, deadline=None))
    return context
