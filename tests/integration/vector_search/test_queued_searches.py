"""Searches wait briefly for a free slot and are refused after that; reads of chunks need no slot."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import uuid4

import grpc
import pytest

from braid.common.v1 import errors_pb2, legs_pb2
from braid.vector.v1 import search_pb2, search_pb2_grpc
from services.runtime.admission import AdmissionLimits, AdmissionQueue
from services.runtime.server import start_server
from services.runtime.settings import RuntimeSettings
from services.runtime.status import error_from_rpc
from services.vector_search.app import build_services
from services.vector_search.postgres_store import PostgresStore
from tests.unit.vector_search.embedder import CompassEmbedder


@pytest.fixture
def slots() -> AdmissionQueue:
    return AdmissionQueue(AdmissionLimits(size=1, queue_seconds=0.05, retry_seconds=1.0))


@pytest.fixture
async def search(
    store: PostgresStore, slots: AdmissionQueue
) -> AsyncIterator[search_pb2_grpc.VectorSearchServiceStub]:
    server = await start_server(
        settings=RuntimeSettings(drain_seconds=0),
        listen="127.0.0.1:0",
        services=build_services(store, CompassEmbedder(), searches=slots),
        probes={},
    )
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield search_pb2_grpc.VectorSearchServiceStub(channel)
    await server.stop()


async def test_every_kind_of_search_is_refused_with_a_retry_time_after_waiting_for_a_slot(
    search: search_pb2_grpc.VectorSearchServiceStub, slots: AdmissionQueue
) -> None:
    searches = {
        "VectorSearch": search_pb2.VectorSearchRequest(query="north"),
        "TextSearch": search_pb2.TextSearchRequest(query="north"),
        "HybridSearch": search_pb2.HybridSearchRequest(query="north"),
    }
    for method, request in searches.items():
        async with slots.slot():
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                await getattr(search, method)(request, timeout=5)
        error = error_from_rpc(failed.value)
        assert error.reason == errors_pb2.ERROR_REASON_OVERLOADED
        assert error.retry_after is not None
        answer = await getattr(search, method)(request, timeout=5)
        assert answer.leg.status == legs_pb2.LEG_STATUS_NO_MATCH


async def test_chunks_are_read_while_the_search_slot_is_taken(
    search: search_pb2_grpc.VectorSearchServiceStub, slots: AdmissionQueue
) -> None:
    async with slots.slot():
        answer = await search.GetChunks(
            search_pb2.GetChunksRequest(chunk_ids=[str(uuid4())]), timeout=5
        )
    assert not answer.chunks
