"""Search queries are embedded with limited concurrency, and cached ones do not wait."""

from __future__ import annotations

import asyncio

from braid.common.v1 import retrieval_pb2
from services.agent_orchestrator.search.query_embedding import QueryEmbeddings
from services.models.embedding.cache import CachedEmbedder
from tests.stubs.embedders import StubEmbedder

BUDGET = 10.0


async def test_a_cached_query_does_not_wait_for_queries_at_the_provider() -> None:
    provider = StubEmbedder()
    queries = QueryEmbeddings(CachedEmbedder(provider, 10), max_concurrent=1, seconds=5.0)
    first = await queries.embed("who owns it", BUDGET)
    provider.stuck = True
    waiting = asyncio.create_task(queries.embed("another", BUDGET))
    while not provider.running:  # noqa: ASYNC110 - the stub has no event for it
        await asyncio.sleep(0)
    again = await asyncio.wait_for(queries.embed("who owns it", BUDGET), 1)
    assert again.vector == first.vector
    assert again.source == retrieval_pb2.EMBEDDING_SOURCE_MEMORY
    waiting.cancel()


async def test_a_query_that_bypasses_the_cache_is_embedded_again() -> None:
    provider = StubEmbedder()
    queries = QueryEmbeddings(CachedEmbedder(provider, 10), max_concurrent=1, seconds=5.0)
    for _ in range(2):
        found = await queries.embed("who owns it", BUDGET, use_cache=False)
        assert found.source == retrieval_pb2.EMBEDDING_SOURCE_COMPUTED
    assert provider.texts == ["who owns it"] * 2
