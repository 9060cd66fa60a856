"""Both tiers over real stores and sockets, the orchestrator and workers, with one space for each test."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import grpc
import pytest
from pydantic import SecretStr

from braid.agent.v1 import (
    consistency_pb2_grpc,
    ingest_pb2,
    ingest_pb2_grpc,
    jobs_pb2,
    jobs_pb2_grpc,
    memories_pb2_grpc,
    models_pb2_grpc,
    spaces_pb2_grpc,
    transfer_pb2_grpc,
)
from braid.graph.v1 import ingest_pb2_grpc as graph_ingest_grpc
from braid.graph.v1 import query_pb2_grpc
from braid.vector.v1 import search_pb2_grpc
from deploy.local.stores import LocalStores
from services.agent_orchestrator.app import Embedders, open_app
from services.agent_orchestrator.settings import AgentSettings
from services.agent_orchestrator.worker import open_worker
from services.graph_query import app as graph_app
from services.graph_query.neo4j_store import Neo4jStore
from services.models.embedding.embedder import Embedder
from services.runtime.channels import Metadata, open_channel
from services.runtime.security.api_keys import hash_key
from services.runtime.server import start_server
from services.runtime.settings import RuntimeSettings
from services.vector_search import app as vector_app
from services.vector_search.postgres_store import PostgresStore
from tests.store_suite.graph.neo4j_graph import opened
from tests.stores import TestDatabase, open_vector_store
from tests.stubs.embedders import StubEmbedder

OURS: Metadata = (("authorization", "Bearer our-key"),)
DIMENSION = 384


@dataclass
class WideEmbedder(StubEmbedder):
    """A stub embedder with vectors of `DIMENSION` values."""

    dimension: int = DIMENSION

    def vector(self, text: str) -> list[float]:
        """The unscaled vector of a text."""
        return [1.0 + byte for byte in sha256(text.encode()).digest()] * (DIMENSION // 32)


@dataclass
class Models:
    """Two models: `default` is the configured one."""

    default: Embedder
    other: Embedder

    def named(self, model: str, _dimension: int | None = None) -> Embedder | None:
        """The model's embedder."""
        if model == self.other.model:
            return self.other
        return self.default if model in ("", self.default.model) else None


@dataclass
class World:
    """The running services, stores and clients of a test."""

    space: str
    vector: PostgresStore
    graph: Neo4jStore
    agent: AgentSettings
    runtime: RuntimeSettings
    embedder: StubEmbedder
    channel: grpc.aio.Channel = field(init=False)
    ingest: ingest_pb2_grpc.IngestServiceStub = field(init=False)
    jobs: jobs_pb2_grpc.JobServiceStub = field(init=False)
    consistency: consistency_pb2_grpc.ConsistencyServiceStub = field(init=False)
    models: models_pb2_grpc.ModelServiceStub = field(init=False)
    memories: memories_pb2_grpc.MemoryServiceStub = field(init=False)
    spaces: spaces_pb2_grpc.SpaceServiceStub = field(init=False)
    transfer: transfer_pb2_grpc.SpaceTransferServiceStub = field(init=False)
    chunks: search_pb2_grpc.VectorSearchServiceStub = field(init=False)
    facts: query_pb2_grpc.GraphQueryServiceStub = field(init=False)
    findings: graph_ingest_grpc.GraphIngestServiceStub = field(init=False)

    async def start_orchestrator(self, stack: AsyncExitStack, embedder: Embedder) -> None:
        """Starts the orchestrator with `embedder` as its configured model."""
        embedders = Embedders(embedder, embedder)
        app = await stack.enter_async_context(open_app(self.agent, self.runtime, embedders))
        server = await start_server(
            settings=self.runtime, listen="127.0.0.1:0", services=app.services, probes=app.probes
        )
        stack.push_async_callback(server.stop)
        channel = open_channel(f"127.0.0.1:{server.port}", retry=False)
        stack.push_async_callback(channel.close)
        self.channel = channel
        self.ingest = ingest_pb2_grpc.IngestServiceStub(channel)
        self.jobs = jobs_pb2_grpc.JobServiceStub(channel)
        self.consistency = consistency_pb2_grpc.ConsistencyServiceStub(channel)
        self.models = models_pb2_grpc.ModelServiceStub(channel)
        self.memories = memories_pb2_grpc.MemoryServiceStub(channel)
        self.spaces = spaces_pb2_grpc.SpaceServiceStub(channel)
        self.transfer = transfer_pb2_grpc.SpaceTransferServiceStub(channel)

    async def start_worker(self, stack: AsyncExitStack, models: Models | None = None) -> None:
        """Starts a worker."""
        chosen = models.default if models else self.embedder
        await stack.enter_async_context(open_worker(self.agent, self.runtime, chosen, models))

    async def put(
        self, document_id: str, text: str, title: str = "", caller: Metadata = OURS
    ) -> jobs_pb2.Job:
        """Uploads a document and waits for its job."""
        return await self.ended((await self.send(document_id, text, title, caller)).id, caller)

    async def send(
        self, document_id: str, text: str, title: str = "", caller: Metadata = OURS
    ) -> jobs_pb2.Job:
        """Uploads a document."""
        about = ingest_pb2.DocumentMetadata(
            document_id=document_id, content_type="text/plain", title=title
        )
        parts = [
            ingest_pb2.IngestDocumentRequest(metadata=about),
            ingest_pb2.IngestDocumentRequest(data=text.encode()),
        ]
        answer = await self.ingest.IngestDocument(iter(parts), metadata=caller, timeout=20)
        return answer.job

    async def ended(self, job_id: str, caller: Metadata = OURS) -> jobs_pb2.Job:
        """Waits for a job to end and returns it."""
        request = jobs_pb2.WatchJobRequest(job_id=job_id)
        job = jobs_pb2.Job()
        async for answer in self.jobs.WatchJob(request, metadata=caller, timeout=60):
            job = answer.job
        return job


@pytest.fixture
async def world(
    graph_stores: LocalStores,
    vector_database: TestDatabase,
    agent_database: TestDatabase,
    tmp_path: Path,
) -> AsyncIterator[World]:
    """Both tiers and the orchestrator with the model `stub`; tests start the workers."""
    space = f"upkeep-{uuid.uuid4().hex[:10]}"
    runtime = _runtime(tmp_path, space)
    embedder = StubEmbedder(dimension=32)
    async with AsyncExitStack() as stack:
        vector = await stack.enter_async_context(open_vector_store(vector_database))
        graph = await stack.enter_async_context(opened(graph_stores))
        ports = []
        for services in (
            vector_app.build_services(vector, embedder),
            graph_app.build_services(graph, WideEmbedder()),
        ):
            server = await start_server(
                settings=runtime, listen="127.0.0.1:0", services=services, probes={}
            )
            stack.push_async_callback(server.stop)
            ports.append(server.port)
        agent = AgentSettings(
            vector_target=f"127.0.0.1:{ports[0]}",
            graph_target=f"127.0.0.1:{ports[1]}",
            database_url=SecretStr(agent_database.dsn("braid_agent")),
            lease_seconds=2.0,
        )
        world = World(space, vector, graph, agent, runtime, embedder)
        channel = open_channel(agent.vector_target, retry=False)
        stack.push_async_callback(channel.close)
        world.chunks = search_pb2_grpc.VectorSearchServiceStub(channel)
        graph_channel = open_channel(agent.graph_target, retry=False)
        stack.push_async_callback(graph_channel.close)
        world.facts = query_pb2_grpc.GraphQueryServiceStub(graph_channel)
        world.findings = graph_ingest_grpc.GraphIngestServiceStub(graph_channel)
        await world.start_orchestrator(stack, embedder)
        yield world


def _runtime(folder: Path, space: str) -> RuntimeSettings:
    every = ["read", "write", "admin"]
    keys = [
        {"id": "ours", "hash": hash_key("our-key"), "space": space, "scopes": every},
        {"id": "agent", "hash": hash_key("agent-key"), "scopes": [*every, "delegate", "operator"]},
    ]
    path = folder / "keys.json"
    path.write_text(json.dumps({"keys": keys}))
    return RuntimeSettings(api_keys_file=path, service_key=SecretStr("agent-key"), drain_seconds=0)
