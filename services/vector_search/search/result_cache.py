"""A cache of search results, valid as long as the space has not changed."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from hashlib import sha256

from cachetools import LRUCache
from opentelemetry.metrics import Meter

from services.runtime.instruments import RESULT_CACHE_HITS, RESULT_CACHE_MISSES, counter
from services.vector_search.domain import Search, SearchResult
from services.vector_search.store import VectorStore

# Approximate size of a hit without its text and metadata.
_HIT_BYTES = 1_500
_RESULT_BYTES = 500


@dataclass(frozen=True, slots=True)
class _Entry:
    result: SearchResult
    size: int


class ResultCache:
    """Runs searches of a store; caches the most recently used results within `max_bytes`, none if 0.

    A cached result is used only while the space has the revision at which it was read, so a write through any replica
    of the service invalidates it. Keys are digests: neither query nor vector is stored.
    """

    def __init__(self, store: VectorStore, max_bytes: int, meter: Meter | None = None) -> None:
        """Counts `braid.vector.result_cache.hits` and `.misses`; a stale result is a miss."""
        self._store = store
        self._max_bytes = max_bytes
        self._entries: LRUCache[bytes, _Entry] = LRUCache(max_bytes, getsizeof=_entry_size)
        self._hits = counter(RESULT_CACHE_HITS, meter)
        self._misses = counter(RESULT_CACHE_MISSES, meter)

    async def search(self, space: str, search: Search) -> SearchResult:
        """See `VectorStore.search`."""
        if not search.use_cache or self._max_bytes == 0:
            return await self._store.search(space, search)
        key = _key(space, search)
        cached = await self._cached(key, space, search)
        if cached is not None:
            self._hits.add(1)
            return cached
        self._misses.add(1)
        result = await self._store.search(space, search)
        self._store_result(key, result)
        return result

    async def _cached(self, key: bytes, space: str, search: Search) -> SearchResult | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        state = await self._store.space_state(space)
        # Once a version with a future valid time has come into force, what is in force changes with time alone; what
        # was in force at a given instant does not.
        if state.revision != entry.result.revision or not (state.flags_current or search.as_of):
            return None
        return replace(entry.result, cached=True)

    def _store_result(self, key: bytes, result: SearchResult) -> None:
        size = _size(result)
        if size <= self._max_bytes:
            self._entries[key] = _Entry(result, size)


def _entry_size(entry: _Entry) -> int:
    return entry.size


def _key(space: str, search: Search) -> bytes:
    """Returns a digest of everything that a result depends on except the data."""
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
    """Returns the approximate size of a result in bytes."""
    chunks = [hit.chunk for hit in result.hits]
    texts = (text for c in chunks for text in (c.content, c.title, c.source, c.document_id))
    more = sum(4 * len(repr(chunk.metadata)) for chunk in chunks)
    return _RESULT_BYTES + _HIT_BYTES * len(chunks) + sum(map(sys.getsizeof, texts)) + more
