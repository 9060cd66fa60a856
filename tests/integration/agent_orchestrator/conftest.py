"""The orchestrator over real sockets, with two scripted tiers and two callers in different spaces."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest
from pydantic import SecretStr

from braid.agent.v1 import ingest_pb2_grpc, jobs_pb2_grpc, search_pb2_grpc
from braid.common.v1 import legs_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.agent_orchestrator.agent.settings import AgentOptions
from services.agent_orchestrator.app import Embedders, open_app
from services.agent_orchestrator.database import open_database
from services.agent_orchestrator.settings import AgentSettings
from services.agent_orchestrator.worker import open_worker
from services.models.embedding.embedder import Embedder
from services.models.embedding.local import LocalEmbedder
from services.models.embedding.local_models import LOCAL_MODELS
from services.runtime.channels import open_channel
from services.runtime.security.api_keys import hash_key
from services.runtime.server import RunningServer, start_server
from services.runtime.settings import RuntimeSettings
from tests.integration.agent_orchestrator.job_stores import JobStores
from tests.stores import TestDatabase
from tests.stubs.embedders import StubModels
from tests.stubs.graph_tier import GraphStub, fact_hit, serve_graph
from tests.stubs.rerank import WordReranker
from tests.stubs.vector_tier import VectorStub, chunk_hit, serve_vector

Metadata = tuple[tuple[str, str], ...]
ALICE: Metadata = (("authorization", "Bearer alice-key"),)
BOB: Metadata = (("authorization", "Bearer bob-key"),)


@dataclass
class World:
    """The running services, scripted tiers and clients of a test."""

    runtime: RuntimeSettings
    database: TestDatabase
    options: AgentOptions | None = None
    vector: VectorStub = field(default_factory=VectorStub)
    graph: GraphStub = field(default_factory=GraphStub)
    embedder: StubModels = field(default_factory=StubModels)
    cross_encoder: WordReranker = field(default_factory=WordReranker)
    question_embedder: Embedder | None = None
    search: search_pb2_grpc.SearchServiceStub = field(init=False)
    ingest: ingest_pb2_grpc.IngestServiceStub = field(init=False)
    jobs: jobs_pb2_grpc.JobServiceStub = field(init=False)
    channel: grpc.aio.Channel = field(init=False)
    agent: AgentSettings = field(init=False)
    vector_server: RunningServer = field(init=False)
    graph_server: RunningServer = field(init=False)
    agent_port: int = field(init=False)

    async def stop_vector(self) -> None:
        """Stops the vector tier."""
        await self.vector_server.stop()

    async def stop_graph(self) -> None:
        """Stops the graph tier."""
        await self.graph_server.stop()

    async def start_graph(self, runtime: RuntimeSettings | None = None) -> None:
        """Restarts the graph tier at the same address, with other settings if given."""
        listen = f"127.0.0.1:{self.graph_server.port}"
        self.graph_server = await serve_graph(self.graph, runtime or self.runtime, listen)

    async def start(self, stack: AsyncExitStack, workers: int = 1, **settings: Any) -> None:
        """Starts the tiers, the orchestrator and workers, and connects the clients."""
        self.vector_server = await serve_vector(self.vector, self.runtime)
        stack.push_async_callback(self.stop_vector)
        self.graph_server = await serve_graph(self.graph, self.runtime)
        stack.push_async_callback(self.stop_graph)
        self.agent = AgentSettings(
            vector_target=f"127.0.0.1:{self.vector_server.port}",
            graph_target=f"127.0.0.1:{self.graph_server.port}",
            database_url=SecretStr(self.database.dsn("braid_agent")),
            **settings,
        )
        embedders = Embedders(self.embedder, self.embedder)
        app = await stack.enter_async_context(
            open_app(
                self.agent,
                self.runtime,
                embedders,
                self.options,
                cross_encoder=self.cross_encoder,
                question_embedder=self.question_embedder,
            )
        )
        for _ in range(workers):
            await self.start_worker(stack)
        server = await start_server(
            settings=self.runtime, listen="127.0.0.1:0", services=app.services, probes=app.probes
        )
        stack.push_async_callback(server.stop)
        self.agent_port = server.port
        self.channel = open_channel(f"127.0.0.1:{server.port}", retry=False)
        stack.push_async_callback(self.channel.close)
        self.search = search_pb2_grpc.SearchServiceStub(self.channel)
        self.ingest = ingest_pb2_grpc.IngestServiceStub(self.channel)
        self.jobs = jobs_pb2_grpc.JobServiceStub(self.channel)

    async def start_worker(self, stack: AsyncExitStack) -> None:
        """Starts another worker."""
        await stack.enter_async_context(open_worker(self.agent, self.runtime, self.embedder))


def write_keys(path: Path) -> None:
    """Writes the keys of two callers with a space each, and the key with which the orchestrator acts for them."""
    scopes = {"alice": ["read", "write"], "bob": ["read", "write"]}
    keys: list[dict[str, object]] = [
        {"id": name, "hash": hash_key(f"{name}-key"), "space": name, "scopes": granted}
        for name, granted in scopes.items()
    ]
    service = {"id": "agent", "hash": hash_key("service-key")}
    keys.append({**service, "scopes": ["read", "write", "delegate"]})
    path.write_text(json.dumps({"keys": keys}))


@pytest.fixture
def settings() -> dict[str, Any]:
    """Settings that a test module overrides; `workers` is the number of workers at the start."""
    return {}


@pytest.fixture
def agent_options() -> AgentOptions | None:
    """The agent's settings and language models, if a test module overrides the defaults."""
    return None


@pytest.fixture(scope="session")
async def question_embedder(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[LocalEmbedder]:
    """The real local model with whose vectors the planner chooses tools; loaded with the first question."""
    embedder = LocalEmbedder(
        LOCAL_MODELS["bge-small-en-v1.5"], tmp_path_factory.mktemp("embedder"), workers=1
    )
    yield embedder
    await embedder.close()


@pytest.fixture
async def world(
    tmp_path: Path,
    settings: dict[str, Any],
    agent_options: AgentOptions | None,
    agent_database: TestDatabase,
    question_embedder: Embedder,
) -> AsyncIterator[World]:
    """A running orchestrator with scripted tiers."""
    keys = tmp_path / "keys.json"
    write_keys(keys)
    runtime = RuntimeSettings(
        api_keys_file=keys, service_key=SecretStr("service-key"), drain_seconds=0
    )
    world = World(runtime, agent_database, agent_options, question_embedder=question_embedder)
    async with AsyncExitStack() as stack:
        await world.start(stack, **settings)
        yield world


@pytest.fixture
async def job_stores(agent_database: TestDatabase) -> AsyncIterator[JobStores]:
    """The job stores over a database, without any worker."""
    settings = AgentSettings(database_url=SecretStr(agent_database.dsn("braid_agent")))
    async with open_database(settings, "test") as database:
        yield JobStores.over(database)


@pytest.fixture
def answers(world: World) -> World:
    """A world in which both tiers return results."""
    world.vector.answer = vector_pb2.HybridSearchResponse(
        hits=[chunk_hit("c1", 0.9, "c1 is the first text."), chunk_hit("c2", 0.4)],
        leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK),
    )
    world.graph.answer = query_pb2.SearchFactsResponse(
        hits=[fact_hit("f1", ["c2"], support=0.6)],
        leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK),
    )
    return world
