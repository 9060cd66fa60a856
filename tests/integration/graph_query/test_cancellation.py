"""A canceled or expired search also ends in Neo4j, not only in the tier."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from braid.graph.v1 import query_pb2, query_pb2_grpc
from deploy.local.stores import LocalStores
from services.graph_query.app import build_services
from services.graph_query.neo4j.database import Database, open_driver
from services.graph_query.neo4j.queries import load_queries, load_schema
from services.graph_query.neo4j_store import Neo4jStore
from services.runtime.queries import Queries
from services.runtime.security.api_keys import hash_key
from services.runtime.server import start_server
from services.runtime.settings import RuntimeSettings
from tests.store_suite.graph.builders import new_space
from tests.store_suite.graph.neo4j_graph import settings
from tests.unit.graph_query.embedder import CountingEmbedder

_ENDLESS = """// takes hours
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b
WITH sum(a % 7 * b) AS s RETURN s"""
_RUNNING = """SHOW TRANSACTIONS YIELD currentQuery, status
WHERE currentQuery STARTS WITH '// takes hours' AND NOT status STARTS WITH 'Terminated'
RETURN count(*) AS running"""
CREDENTIAL = (("authorization", "Bearer key"),)


@pytest.fixture
async def database(graph_stores: LocalStores) -> AsyncIterator[Database]:
    """A database in which every named query takes hours."""
    found = settings(graph_stores)
    names = load_queries().names()
    driver = open_driver(found.neo4j_uri, found.neo4j_user, found.neo4j_password)
    database = Database(driver, Queries(dict.fromkeys(names, _ENDLESS)))
    yield database
    await database.close()


@pytest.fixture
async def search(
    database: Database, tmp_path: Path
) -> AsyncIterator[query_pb2_grpc.GraphQueryServiceStub]:
    """A stub of the tier over that database."""
    keys = tmp_path / "keys.json"
    key = {"id": "k", "hash": hash_key("key"), "space": new_space(), "scopes": ["read"]}
    keys.write_text(json.dumps({"keys": [key]}))
    schema = load_schema()
    server = await start_server(
        settings=RuntimeSettings(api_keys_file=keys, drain_seconds=0),
        listen="127.0.0.1:0",
        services=build_services(Neo4jStore(database, schema), CountingEmbedder()),
        probes={},
    )
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield query_pb2_grpc.GraphQueryServiceStub(channel)
    await server.stop()


async def until_running(database: Database, *, some: bool) -> None:
    async with asyncio.timeout(10):
        while True:
            [row] = await database.run_text(_RUNNING)
            if bool(row["running"]) is some:
                return
            await asyncio.sleep(0.02)


async def test_canceling_a_search_terminates_its_running_queries(
    search: query_pb2_grpc.GraphQueryServiceStub, database: Database
) -> None:
    request = query_pb2.SearchFactsRequest(query="who owns it")
    call = search.SearchFacts(request, metadata=CREDENTIAL, timeout=60)
    await until_running(database, some=True)
    call.cancel()
    await until_running(database, some=False)
    assert call.cancelled()


async def test_an_expired_deadline_terminates_the_running_queries(
    search: query_pb2_grpc.GraphQueryServiceStub, database: Database
) -> None:
    request = query_pb2.SearchFactsRequest(query="who owns it")
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await search.SearchFacts(request, metadata=CREDENTIAL, timeout=0.5)
    assert failed.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    await until_running(database, some=False)
