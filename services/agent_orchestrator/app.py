"""Builds the orchestrator's objects, once, in one place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc

from braid.agent.v1 import ingest_pb2_grpc, search_pb2_grpc
from services.agent_orchestrator.ingest.backlog import Backlog
from services.agent_orchestrator.ingest.deletion import Deletion
from services.agent_orchestrator.ingest.facts import FactIngestion
from services.agent_orchestrator.ingest.jobs import JobBoard
from services.agent_orchestrator.ingest.pipeline import Pipeline
from services.agent_orchestrator.ingest.retries import Retries
from services.agent_orchestrator.ingest.runner import JobRunner
from services.agent_orchestrator.ingest.servicer import IngestServicer
from services.agent_orchestrator.ingest.stages import Stages
from services.agent_orchestrator.search.comprehensive import ComprehensiveSearch
from services.agent_orchestrator.search.query_embedding import QueryEmbeddings
from services.agent_orchestrator.search.servicer import SearchServicer
from services.agent_orchestrator.settings import AgentSettings
from services.agent_orchestrator.tiers import GraphTier, VectorTier, check_serving
from services.models.embedder import Embedder
from services.runtime.channels import Outgoing, open_channel
from services.runtime.errors import StoreUnavailableError
from services.runtime.server import Service
from services.runtime.settings import RuntimeSettings

if TYPE_CHECKING:
    from services.runtime.health import Probe

SEARCH_SERVICE = "braid.agent.v1.SearchService"
INGEST_SERVICE = "braid.agent.v1.IngestService"
DELETION_RETRY_SECONDS = 5.0
PROBE_SECONDS = 1.5


@dataclass(frozen=True, slots=True)
class Embedders:
    """Two ways to the same model: documents pass once and would only push queries out of a cache."""

    queries: Embedder
    documents: Embedder


@dataclass(frozen=True, slots=True)
class Tiers:
    """The tiers' clients."""

    vector: VectorTier
    graph: GraphTier


@dataclass(frozen=True, slots=True)
class App:
    """What the process serves, and when it is healthy."""

    services: Sequence[Service]
    probes: Mapping[str, Probe]


@asynccontextmanager
async def open_app(
    settings: AgentSettings, runtime: RuntimeSettings, embedders: Embedders
) -> AsyncIterator[App]:
    """The app, its jobs running and its channels open, until the block is left."""
    size = runtime.max_message_bytes
    async with (
        open_channel(settings.vector_target, max_message_bytes=size) as vector_channel,
        open_channel(settings.graph_target, max_message_bytes=size) as graph_channel,
    ):
        tiers = _tiers(settings, runtime, vector_channel, graph_channel)
        board = JobBoard(settings.max_ended_jobs)
        runner = _runner(settings, size, tiers, board, embedders.documents)
        ingest = _ingest(settings, tiers, board, runner, embedders.documents)
        services = [
            _search_service(SearchServicer(_search(settings, tiers, embedders.queries))),
            _ingest_service(ingest),
        ]
        working = asyncio.create_task(runner.run(), name="jobs")
        try:
            yield App(
                services, {"tiers": _some_tier({"vector": vector_channel, "graph": graph_channel})}
            )
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)


def _tiers(
    settings: AgentSettings,
    runtime: RuntimeSettings,
    vector: grpc.aio.Channel,
    graph: grpc.aio.Channel,
) -> Tiers:
    outgoing = Outgoing.of(runtime)
    return Tiers(
        VectorTier(
            vector,
            outgoing,
            read_seconds=settings.read_seconds,
            write_seconds=settings.write_seconds,
        ),
        GraphTier(graph, outgoing, write_seconds=settings.write_seconds),
    )


def _search(settings: AgentSettings, tiers: Tiers, embedder: Embedder) -> ComprehensiveSearch:
    queries = QueryEmbeddings(
        embedder,
        at_once=settings.query_embeddings_at_once,
        seconds=settings.query_embedding_seconds,
    )
    return ComprehensiveSearch(
        vector=tiers.vector, graph=tiers.graph, queries=queries, seconds=settings.search_seconds
    )


def _runner(
    settings: AgentSettings,
    max_message_bytes: int,
    tiers: Tiers,
    board: JobBoard,
    embedder: Embedder,
) -> JobRunner:
    retries = Retries(settings.retry_seconds)
    stages = Stages(vector=tiers.vector, graph=tiers.graph, embedder=embedder, retries=retries)
    pipeline = Pipeline(stages, max_message_bytes=max_message_bytes)
    return JobRunner(pipeline, board, at_once=settings.jobs_at_once)


def _ingest(
    settings: AgentSettings,
    tiers: Tiers,
    board: JobBoard,
    runner: JobRunner,
    embedder: Embedder,
) -> IngestServicer:
    vector, graph = tiers.vector, tiers.graph
    return IngestServicer(
        runner=runner,
        board=board,
        backlog=Backlog(max_jobs=settings.max_waiting_jobs, max_bytes=settings.max_waiting_bytes),
        facts=FactIngestion(graph=graph, embedder=embedder),
        deletion=Deletion(vector=vector, graph=graph, retries=Retries(DELETION_RETRY_SECONDS)),
        max_upload_bytes=settings.max_upload_bytes,
    )


def _search_service(servicer: SearchServicer) -> Service:
    return Service(
        SEARCH_SERVICE,
        lambda server: search_pb2_grpc.add_SearchServiceServicer_to_server(servicer, server),
    )


def _ingest_service(servicer: IngestServicer) -> Service:
    return Service(
        INGEST_SERVICE,
        lambda server: ingest_pb2_grpc.add_IngestServiceServicer_to_server(servicer, server),
    )


def _some_tier(channels: Mapping[str, grpc.aio.Channel]) -> Probe:
    """Healthy while at least one tier is: every search then has an answer."""

    async def probe() -> None:
        answers = await asyncio.gather(
            *(check_serving(channel, name, PROBE_SECONDS) for name, channel in channels.items()),
            return_exceptions=True,
        )
        if all(isinstance(answer, BaseException) for answer in answers):
            raise StoreUnavailableError("every tier")

    return probe
