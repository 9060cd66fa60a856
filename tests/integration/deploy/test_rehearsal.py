"""The graph tier does all that Neo4j's archive is trained with."""

from collections.abc import AsyncIterator

import grpc
import pytest

from braid.graph.v1 import query_pb2, query_pb2_grpc
from deploy.local.companies import Companies
from deploy.local.errors import LocalStackError
from deploy.local.rehearsal import rehearse
from deploy.local.stores import LocalStores
from services.graph_query.app import build_services
from services.runtime.server import start_server
from services.runtime.settings import RuntimeSettings
from tests.store_suite.graph.neo4j_graph import opened
from tests.unit.graph_query.embedder import CountingEmbedder


@pytest.fixture
async def tier(stores: LocalStores) -> AsyncIterator[tuple[str, CountingEmbedder]]:
    """Where a tier listens that takes callers without a key, and what embeds for it."""
    embedder = CountingEmbedder()
    async with opened(stores) as store:
        server = await start_server(
            settings=RuntimeSettings(drain_seconds=0),
            listen="127.0.0.1:0",
            services=build_services(store, embedder),
            probes={"neo4j": store.ping},
        )
        yield f"127.0.0.1:{server.port}", embedder
        await server.stop()


async def test_companies_are_taken_in_and_asked_about_without_an_embedder_and_the_last_is_deleted(
    tier: tuple[str, CountingEmbedder],
) -> None:
    address, embedder = tier
    await rehearse(address, companies=2)
    async with grpc.aio.insecure_channel(address) as channel:
        query = query_pb2_grpc.GraphQueryServiceStub(channel)
        left = await query.GetGraphStats(query_pb2.GetGraphStatsRequest())
    sample = Companies.load()
    assert left.episodes == len(list(sample.episodes(0)))
    assert left.facts == len(list(sample.facts(0)))
    assert embedder.calls == 0


async def test_a_tier_that_is_not_there_is_told_as_such() -> None:
    with pytest.raises(LocalStackError, match="the graph tier did not rehearse"):
        await rehearse("127.0.0.1:1", companies=1)
