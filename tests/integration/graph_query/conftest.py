"""Fixtures: the tier as a real server over real Neo4j, called over a real socket."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from braid.graph.internal.v1 import deletion_pb2_grpc
from braid.graph.v1 import ingest_pb2_grpc, query_pb2_grpc
from deploy.local.stores import LocalStores
from services.graph_query.app import build_services
from services.graph_query.episodes.extraction_result import EpisodeExtractor
from services.graph_query.neo4j_store import Neo4jStore
from services.runtime.security.api_keys import hash_key
from services.runtime.server import start_server
from services.runtime.settings import RuntimeSettings
from tests.store_suite.graph.builders import new_space
from tests.store_suite.graph.neo4j_graph import opened
from tests.unit.graph_query.embedder import CountingEmbedder

Credential = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Tier:
    """A running tier: its gRPC stubs, and the credentials of two spaces that no other test uses."""

    query: query_pb2_grpc.GraphQueryServiceStub
    ingest: ingest_pb2_grpc.GraphIngestServiceStub
    deletion: deletion_pb2_grpc.GraphDeletionServiceStub
    ours: Credential
    theirs: Credential


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    """A store for one test."""
    async with opened(graph_stores) as found:
        yield found


@pytest.fixture
async def tier(store: Neo4jStore, tmp_path: Path) -> AsyncIterator[Tier]:
    """The tier without a language model."""
    async with serve_tier(store, tmp_path) as running:
        yield running


@asynccontextmanager
async def serve_tier(
    store: Neo4jStore, folder: Path, reader: EpisodeExtractor | None = None
) -> AsyncIterator[Tier]:
    """Serves the tier with the keys of two spaces in a file in `folder`."""
    file = folder / "keys.json"
    file.write_text(json.dumps({"keys": [_key("ours"), _key("theirs")]}))
    server = await start_server(
        settings=RuntimeSettings(api_keys_file=file, drain_seconds=0),
        listen="127.0.0.1:0",
        services=build_services(store, CountingEmbedder(), reader),
        probes={"neo4j": store.ping},
    )
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield Tier(
            query_pb2_grpc.GraphQueryServiceStub(channel),
            ingest_pb2_grpc.GraphIngestServiceStub(channel),
            deletion_pb2_grpc.GraphDeletionServiceStub(channel),
            _credential("ours"),
            _credential("theirs"),
        )
    await server.stop()


def _credential(name: str) -> Credential:
    return (("authorization", f"Bearer key-of-{name}"),)


def _key(name: str) -> dict[str, object]:
    scopes = ["read", "write"]
    return {"id": name, "hash": hash_key(f"key-of-{name}"), "space": new_space(), "scopes": scopes}
