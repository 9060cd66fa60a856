"""A late search returns the results it has; a canceled search also ends in PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from braid.common.v1 import errors_pb2, legs_pb2, retrieval_pb2
from braid.vector.v1 import search_pb2
from tests.integration.vector_search.conftest import Tier
from tests.integration.vector_search.locks import superuser, until_waiting
from tests.integration.vector_search.messages import NORTH, embedding
from tests.integration.vector_search.test_service import failure
from tests.stores import TestDatabase

OURS = Tier.credential("ours")


@asynccontextmanager
async def locked(database: TestDatabase, table: str) -> AsyncIterator[asyncpg.Connection]:
    """Makes every statement that touches a table wait."""
    async with superuser(database) as admin, admin.transaction():
        await admin.execute(f"lock table {table} in access exclusive mode")
        yield admin


def hybrid(**more: object) -> search_pb2.HybridSearchRequest:
    return search_pb2.HybridSearchRequest(
        query="red",
        query_embedding=embedding(NORTH),
        cache=retrieval_pb2.CACHE_MODE_BYPASS,
        **more,  # type: ignore[arg-type]
    )


async def test_a_late_vector_search_returns_the_text_hits_and_reports_a_timeout(
    filled: Tier, vector_database: TestDatabase
) -> None:
    loop = asyncio.get_running_loop()
    async with locked(vector_database, "embedding_1") as admin:
        started = loop.time()
        answer = await filled.search.HybridSearch(hybrid(), metadata=OURS, timeout=0.5)
        assert loop.time() - started < 0.5
        await until_waiting(admin, 0)
    assert (answer.leg.status, answer.leg.reason) == (
        legs_pb2.LEG_STATUS_TIMED_OUT,
        legs_pb2.LEG_REASON_BUDGET_EXCEEDED,
    )
    assert [hit.chunk.document_id for hit in answer.hits] == ["n"]
    assert answer.vector_path == retrieval_pb2.VECTOR_PATH_UNSPECIFIED
    assert not answer.hits[0].scores.HasField("vector")


async def test_the_same_search_is_complete_when_nothing_blocks_it(filled: Tier) -> None:
    answer = await filled.search.HybridSearch(hybrid(), metadata=OURS, timeout=5)
    assert (answer.leg.status, answer.leg.reason) == (
        legs_pb2.LEG_STATUS_OK,
        legs_pb2.LEG_REASON_UNSPECIFIED,
    )
    assert answer.hits[0].scores.vector == pytest.approx(1, abs=1e-3)


async def test_a_search_without_any_result_in_time_fails_at_its_deadline(
    filled: Tier, vector_database: TestDatabase
) -> None:
    async with locked(vector_database, "space_stats"):
        error = await failure(filled.search.HybridSearch(hybrid(), metadata=OURS, timeout=0.5))
    assert error.reason == errors_pb2.ERROR_REASON_DEADLINE


async def test_canceling_a_search_cancels_its_running_statement(
    filled: Tier, vector_database: TestDatabase
) -> None:
    async with locked(vector_database, "space_stats") as admin:
        call = filled.search.HybridSearch(hybrid(), metadata=OURS, timeout=60)
        await until_waiting(admin, 1)
        call.cancel()
        await until_waiting(admin, 0)
    assert call.cancelled()


async def test_a_hung_embedder_leaves_time_to_answer_by_text(filled: Tier) -> None:
    filled.embedder.stuck = True
    request = search_pb2.HybridSearchRequest(query="red", cache=retrieval_pb2.CACHE_MODE_BYPASS)
    answer = await filled.search.HybridSearch(request, metadata=OURS, timeout=2)
    assert (answer.leg.status, answer.leg.reason) == (
        legs_pb2.LEG_STATUS_DEGRADED,
        legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE,
    )
    assert [hit.chunk.document_id for hit in answer.hits] == ["n"]
