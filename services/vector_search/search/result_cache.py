"""Remembers the results of searches, and gives them again while the space is as it was."""

from __future__ import annotations

import json
import sys
from collections import OrderedDict
from dataclasses import dataclass, replace
from hashlib import sha256

from opentelemetry import metrics

from services.vector_search.domain import Search, SearchResult
from services.vector_search.store import VectorStore

# What a hit takes beside its text and metadata, roughly.
_HIT_BYTES = 1_500
_RESULT_BYTES = 500


@dataclass(frozen=True, slots=True)
class _Entry:
    result: SearchResult
    size: int


class ResultCache:
    """Searches of a store, the results used last kept within `max_bytes`; 0 keeps none.

    A result is given again only when the store says that the space still has the revision it was read at, so a
    write through any replica makes it stale. Keys are digests: neither query nor vector is held.
    """

    def __init__(
        self, store: VectorStore, max_bytes: int, meter: metrics.Meter | None = None
    ) -> None:
        """Counts `braid.vector.result_cache.hits` and `.misses`; a stale result is a miss."""
        meter = meter or metrics.get_meter("braid")
        self._store = store
        self._max_bytes = max_bytes
        self._bytes = 0
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()
        self._hits = meter.create_counter("braid.vector.result_cache.hits")
        self._misses = meter.create_counter("braid.vector.result_cache.misses")

    async def search(self, space: str, search: Search) -> SearchResult:
        """See `VectorStore.search`."""
        if not search.use_cache or self._max_bytes == 0:
            return await self._store.search(space, search)
        key = _key(space, search)
        known = await self._known(key, space, search)
        if known is not None:
            self._hits.add(1)
            return known
        self._misses.add(1)
        result = await self._store.search(space, search)
        self._remember(key, result)
        return result

    async def _known(self, key: bytes, space: str, search: Search) -> SearchResult | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        state = await self._store.space_state(space)
        # What is in force changes with time alone once a version of a later time has come into force; what was
        # in force at a given instant does not.
        if state.revision != entry.result.revision or not (state.settled or search.as_of):
            return None
        if key in self._entries:
            self._entries.move_to_end(key)
        return replace(entry.result, cached=True)

    def _remember(self, key: bytes, result: SearchResult) -> None:
        size = _size(result)
        if size > self._max_bytes:
            return
        former = self._entries.pop(key, None)
        self._bytes += size - (former.size if former else 0)
        self._entries[key] = _Entry(result, size)
        while self._bytes > self._max_bytes:
            self._bytes -= self._entries.popitem(last=False)[1].size


def _key(space: str, search: Search) -> bytes:
    """Everything that a result depends on but the data."""
    vector = search.vector
    parts = (
        space,
        search.text,
        None if vector is None else (vector.model, sha256(vector.values.tobytes()).digest()),
        search.limit,
        search.text_weight,
        search.fusion,
        search.min_score,
        search.document_ids,
        json.dumps(search.metadata, sort_keys=True),
        search.as_of,
        search.match,
    )
    return sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()


def _size(result: SearchResult) -> int:
    """Bytes that a result takes, roughly."""
    chunks = [hit.chunk for hit in result.hits]
    texts = (text for c in chunks for text in (c.content, c.title, c.source, c.document_id))
    more = sum(4 * len(repr(chunk.metadata)) for chunk in chunks)
    return _RESULT_BYTES + _HIT_BYTES * len(chunks) + sum(map(sys.getsizeof, texts)) + more
