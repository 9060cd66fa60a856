"""Fixtures: the tier as a real server over real PostgreSQL, called over a real socket."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from braid.vector.internal.v1 import deletion_pb2_grpc, models_pb2_grpc
from braid.vector.v1 import documents_pb2_grpc, search_pb2_grpc
from services.postgres.pool import PoolLimits
from services.runtime.security.api_keys import hash_key
from services.runtime.server import start_server
from services.runtime.settings import RuntimeSettings
from services.vector_search.app import build_services
from services.vector_search.embedding_models.query_embedders import QueryEmbedders
from services.vector_search.postgres_store import PostgresStore
from tests.integration.vector_search.messages import NORTH, document, upsert
from tests.stores import TestDatabase, open_vector_store
from tests.unit.vector_search.embedder import CompassEmbedder


@dataclass(frozen=True)
class Tier:
    """A running tier: its gRPC stubs, and the credentials of two spaces."""

    search: search_pb2_grpc.VectorSearchServiceStub
    documents: documents_pb2_grpc.DocumentServiceStub
    deletion: deletion_pb2_grpc.DocumentDeletionServiceStub
    models: models_pb2_grpc.EmbeddingModelServiceStub
    embedder: CompassEmbedder

    @staticmethod
    def credential(space: str) -> tuple[tuple[str, str], ...]:
        """Returns the call metadata of a key: `ours`, `theirs`, or `our-admin` and `their-admin` of the same spaces."""
        return (("authorization", f"Bearer key-of-{space}"),)


@pytest.fixture
async def store(vector_database: TestDatabase) -> AsyncIterator[PostgresStore]:
    async with open_vector_store(vector_database, PoolLimits(queue_seconds=0.5)) as opened:
        yield opened


@pytest.fixture
async def embedder() -> CompassEmbedder:
    return CompassEmbedder()


@pytest.fixture
async def queries() -> QueryEmbedders | None:
    """The embedders of the tier's queries: None for the default. A test module may override this."""
    return None


@pytest.fixture
async def tier(
    store: PostgresStore, embedder: CompassEmbedder, queries: QueryEmbedders | None, tmp_path: Path
) -> AsyncIterator[Tier]:
    settings = RuntimeSettings(api_keys_file=_key_file(tmp_path), drain_seconds=0)
    server = await start_server(
        settings=settings,
        listen="127.0.0.1:0",
        services=build_services(store, embedder, queries=queries, result_cache_bytes=1_000_000),
        probes={"postgresql": store.ping},
    )
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield Tier(
            search_pb2_grpc.VectorSearchServiceStub(channel),
            documents_pb2_grpc.DocumentServiceStub(channel),
            deletion_pb2_grpc.DocumentDeletionServiceStub(channel),
            models_pb2_grpc.EmbeddingModelServiceStub(channel),
            embedder,
        )
    await server.stop()


@pytest.fixture
async def filled(tier: Tier) -> Tier:
    """A tier with one document."""
    await tier.documents.UpsertDocument(
        upsert(document("n", "red north", at=[NORTH]), "compass"), metadata=Tier.credential("ours")
    )
    return tier


def _key_file(folder: Path) -> Path:
    keys = [
        {"id": name, "hash": hash_key(f"key-of-{name}"), "space": space, "scopes": scopes}
        for name, space, scopes in (
            ("ours", "ours", ["read", "write"]),
            ("theirs", "theirs", ["read", "write"]),
            ("our-admin", "ours", ["read", "write", "admin"]),
            ("their-admin", "theirs", ["read", "write", "admin"]),
        )
    ]
    path = folder / "keys.json"
    path.write_text(json.dumps({"keys": keys}))
    return path
