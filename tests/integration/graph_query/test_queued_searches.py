"""Searches for facts wait briefly for a free slot and are refused after that; other reads do not wait."""

from __future__ import annotations

import grpc
import pytest

from braid.common.v1 import errors_pb2, legs_pb2
from braid.graph.v1 import query_pb2, query_pb2_grpc
from services.graph_query.app import build_services
from services.graph_query.neo4j_store import Neo4jStore
from services.runtime.admission import AdmissionLimits, AdmissionQueue
from services.runtime.server import start_server
from services.runtime.settings import RuntimeSettings
from services.runtime.status import error_from_rpc
from tests.unit.graph_query.embedder import CountingEmbedder


async def test_a_search_without_a_free_slot_is_refused_with_a_retry_time(store: Neo4jStore) -> None:
    slots = AdmissionQueue(AdmissionLimits(size=1, queue_seconds=0.05, retry_seconds=1.0))
    server = await start_server(
        settings=RuntimeSettings(drain_seconds=0),
        listen="127.0.0.1:0",
        services=build_services(store, CountingEmbedder(), searches=slots),
        probes={},
    )
    request = query_pb2.SearchFactsRequest(query="who owns it")
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        query = query_pb2_grpc.GraphQueryServiceStub(channel)
        async with slots.slot():
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                await query.SearchFacts(request, timeout=5)
            await query.ListEntities(query_pb2.ListEntitiesRequest(), timeout=30)
        answer = await query.SearchFacts(request, timeout=30)
    await server.stop()
    error = error_from_rpc(failed.value)
    assert error.reason == errors_pb2.ERROR_REASON_OVERLOADED
    assert error.retry_after is not None
    assert answer.leg.status == legs_pb2.LEG_STATUS_NO_MATCH
