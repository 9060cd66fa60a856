"""Cached results stay correct across replicas of the tier, over sockets and real PostgreSQL."""

from __future__ import annotations

from datetime import timedelta

from braid.common.v1 import retrieval_pb2
from braid.vector.internal.v1 import deletion_pb2
from braid.vector.v1 import search_pb2
from services.runtime.times import utc_now
from services.vector_search.domain import SpaceState
from services.vector_search.postgres_store import PostgresStore
from services.vector_search.search.result_cache import ResultCache
from tests.integration.vector_search.clock import make_due
from tests.integration.vector_search.conftest import Tier
from tests.integration.vector_search.messages import NORTH, embedding, upsert
from tests.integration.vector_search.messages import document as input_
from tests.store_suite.vector.builders import MODEL, SPACE, contents, document, words
from tests.stores import TestDatabase, open_vector_store

OURS = Tier.credential("ours")


async def test_a_write_through_one_replica_invalidates_the_cached_results_of_another(
    store: PostgresStore, vector_database: TestDatabase
) -> None:
    async with open_vector_store(vector_database) as other:
        await store.upsert(SPACE, MODEL, [document("d", "copper")])
        replicas = [ResultCache(store, 1_000_000), ResultCache(other, 1_000_000)]
        for cache in replicas:
            assert not (await cache.search(SPACE, words("copper"))).cached
            assert (await cache.search(SPACE, words("copper"))).cached
        await other.upsert(SPACE, MODEL, [document("e", "copper zinc")])
        for cache in replicas:
            found = await cache.search(SPACE, words("copper"))
            assert (found.cached, len(found.hits)) == (False, 2)
        await store.delete_document(SPACE, "d")
        for cache in replicas:
            assert contents(await cache.search(SPACE, words("copper"))) == ["copper zinc"]


async def test_a_version_with_a_future_valid_time_is_found_from_that_time_on(
    store: PostgresStore, vector_database: TestDatabase
) -> None:
    tomorrow = utc_now() + timedelta(days=1)
    await store.upsert(SPACE, MODEL, [document("d", "copper")])
    await store.upsert(SPACE, MODEL, [document("d", "copper coin", valid_time=tomorrow)])
    cache = ResultCache(store, 1_000_000)
    assert contents(await cache.search(SPACE, words("copper"))) == ["copper"]
    assert await store.space_state(SPACE) == SpaceState(2, True, MODEL)
    await make_due(vector_database)
    assert await store.space_state(SPACE) == SpaceState(2, False, MODEL)
    for _ in range(2):
        found = await cache.search(SPACE, words("copper"))
        assert (found.cached, contents(found)) == (False, ["copper coin"])
    await store.upsert(SPACE, MODEL, [document("e", "tin")])
    assert not (await cache.search(SPACE, words("copper"))).cached
    assert (await cache.search(SPACE, words("copper"))).cached


async def test_results_are_cached_again_once_a_due_version_is_activated(
    store: PostgresStore, vector_database: TestDatabase
) -> None:
    tomorrow = utc_now() + timedelta(days=1)
    await store.upsert(SPACE, MODEL, [document("d", "copper")])
    await store.upsert(SPACE, MODEL, [document("d", "copper coin", valid_time=tomorrow)])
    assert await store.due_spaces() == []
    await make_due(vector_database)
    assert await store.due_spaces() == [SPACE]
    await store.activate_versions(SPACE)
    assert await store.due_spaces() == []
    assert await store.space_state(SPACE) == SpaceState(3, True, MODEL)
    cache = ResultCache(store, 1_000_000)
    for cached in (False, True):
        found = await cache.search(SPACE, words("copper"))
        assert (found.cached, contents(found)) == (cached, ["copper coin"])


async def test_activation_does_not_change_a_space_without_due_versions(
    store: PostgresStore,
) -> None:
    await store.upsert(SPACE, MODEL, [document("d", "copper")])
    await store.activate_versions(SPACE)
    await store.activate_versions("an empty space")
    assert await store.space_state(SPACE) == SpaceState(1, True, MODEL)


async def test_responses_report_whether_they_are_cached_and_requests_may_bypass_the_cache(
    tier: Tier,
) -> None:
    await tier.documents.UpsertDocument(
        upsert(input_("d", "copper", at=[NORTH]), "compass"), metadata=OURS
    )
    for mode, expected in (
        (retrieval_pb2.CACHE_MODE_UNSPECIFIED, [False, True]),
        (retrieval_pb2.CACHE_MODE_USE, [True, True]),
        (retrieval_pb2.CACHE_MODE_BYPASS, [False, False]),
    ):
        seen: list[list[bool]] = [[], [], []]
        for _ in range(2):
            text = search_pb2.TextSearchRequest(query="copper", cache=mode)
            seen[0].append((await tier.search.TextSearch(text, metadata=OURS)).leg.cached)
            vector = search_pb2.VectorSearchRequest(
                query="x", query_embedding=embedding(NORTH), cache=mode
            )
            seen[1].append((await tier.search.VectorSearch(vector, metadata=OURS)).leg.cached)
            hybrid = search_pb2.HybridSearchRequest(query="north", cache=mode)
            seen[2].append((await tier.search.HybridSearch(hybrid, metadata=OURS)).leg.cached)
        assert seen == [expected] * 3


async def test_a_deleted_document_is_not_found_in_cached_results(tier: Tier) -> None:
    await tier.documents.UpsertDocument(upsert(input_("d", "copper")), metadata=OURS)
    request = search_pb2.TextSearchRequest(query="copper")
    for _ in range(2):
        assert len((await tier.search.TextSearch(request, metadata=OURS)).hits) == 1
    await tier.deletion.DeleteDocument(
        deletion_pb2.DeleteDocumentRequest(document_id="d"), metadata=OURS
    )
    assert not (await tier.search.TextSearch(request, metadata=OURS)).hits
