"""Fake tiers behind the real contracts, over real sockets, and clients of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

import grpc
import pytest

from braid.agent.v1 import (
    ingest_pb2,
    ingest_pb2_grpc,
    jobs_pb2,
    jobs_pb2_grpc,
    search_pb2,
    search_pb2_grpc,
)
from braid.graph.v1 import facts_pb2, query_pb2, query_pb2_grpc
from braid.vector.v1 import search_pb2 as vector_pb2
from braid.vector.v1 import search_pb2_grpc as vector_grpc
from braid_client import AsyncBraid, Braid
from services.runtime.server import RunningServer, Service, start_server
from services.runtime.settings import RuntimeSettings

T = TypeVar("T")
JOB_ID = "00000000-0000-4000-8000-000000000001"
NAIVE = datetime(2024, 1, 1)  # noqa: DTZ001 - to be rejected
Watched: TypeAlias = jobs_pb2.JobState.ValueType | Exception | grpc.StatusCode


@dataclass
class Backend:
    """Records the requests of the servicers and configures their responses.

    The servicers raise `failures` one after the other before they respond. The watch of a job yields the states in
    `watched`, then raises its failure (Braid's or gRPC's); after that it ends, or with `stays` sets `reached` and stays
    open. A streamed search with `stays` stays open after its first leg, and sets `left` when it ends.
    """

    requests: list[Any] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    deadlines: list[float] = field(default_factory=list)
    uploads: int = 0
    watched: tuple[Watched, ...] = (jobs_pb2.JOB_STATE_RUNNING, jobs_pb2.JOB_STATE_SUCCEEDED)
    stays: bool = False
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        self.requests.append(request)
        self.deadlines.append(context.time_remaining() or 0)
        if self.failures:
            raise self.failures.pop(0)


class Search(search_pb2_grpc.SearchServiceServicer):
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def ComprehensiveSearch(
        self, request: search_pb2.ComprehensiveSearchRequest, context: Any
    ) -> search_pb2.ComprehensiveSearchResponse:
        self._backend.take(request, context)
        return search_pb2.ComprehensiveSearchResponse(result_count=3)

    async def StreamComprehensiveSearch(
        self, request: search_pb2.StreamComprehensiveSearchRequest, context: Any
    ) -> AsyncIterator[search_pb2.StreamComprehensiveSearchResponse]:
        self._backend.take(request, context)
        try:
            yield search_pb2.StreamComprehensiveSearchResponse(leg=search_pb2.LegResults())
            if self._backend.stays:
                await asyncio.Event().wait()
        finally:
            self._backend.left.set()
        final = search_pb2.ComprehensiveSearchResponse(result_count=3)
        yield search_pb2.StreamComprehensiveSearchResponse(final=final)


class Ingest(ingest_pb2_grpc.IngestServiceServicer):
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def IngestDocument(
        self, request_iterator: AsyncIterator[ingest_pb2.IngestDocumentRequest], context: Any
    ) -> ingest_pb2.IngestDocumentResponse:
        self._backend.uploads += 1
        async for request in request_iterator:
            self._backend.take(request, context)
        job = jobs_pb2.Job(id=JOB_ID)
        return ingest_pb2.IngestDocumentResponse(job=job)


class Jobs(jobs_pb2_grpc.JobServiceServicer):
    """Streams the states that the test set in the backend."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def WatchJob(
        self, request: jobs_pb2.WatchJobRequest, context: Any
    ) -> AsyncIterator[jobs_pb2.WatchJobResponse]:
        for state in self._backend.watched:
            if isinstance(state, Exception):
                raise state
            if isinstance(state, grpc.StatusCode):
                await context.abort(state, "no more")
                return
            job = jobs_pb2.Job(id=request.job_id, state=state)
            yield jobs_pb2.WatchJobResponse(job=job)
        if self._backend.stays:
            self._backend.reached.set()
            await asyncio.Event().wait()


class Vector(vector_grpc.VectorSearchServiceServicer):
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def HybridSearch(
        self, request: vector_pb2.HybridSearchRequest, context: Any
    ) -> vector_pb2.HybridSearchResponse:
        self._backend.take(request, context)
        return vector_pb2.HybridSearchResponse(space_revision=7)


class Graph(query_pb2_grpc.GraphQueryServiceServicer):
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def SearchFacts(
        self, request: query_pb2.SearchFactsRequest, context: Any
    ) -> query_pb2.SearchFactsResponse:
        self._backend.take(request, context)
        return query_pb2.SearchFactsResponse(space_revision=8)

    async def ListEntities(
        self, request: query_pb2.ListEntitiesRequest, context: Any
    ) -> query_pb2.ListEntitiesResponse:
        self._backend.take(request, context)
        if request.page_token:
            return query_pb2.ListEntitiesResponse(entities=[facts_pb2.Entity(name="B")])
        return query_pb2.ListEntitiesResponse(
            entities=[facts_pb2.Entity(name="A")], next_page_token="on"
        )


def fake_services(backend: Backend) -> list[Service]:
    def add(server: grpc.aio.Server) -> None:
        search_pb2_grpc.add_SearchServiceServicer_to_server(Search(backend), server)  # type: ignore[abstract]
        jobs_pb2_grpc.add_JobServiceServicer_to_server(Jobs(backend), server)  # type: ignore[abstract]
        ingest_pb2_grpc.add_IngestServiceServicer_to_server(Ingest(backend), server)  # type: ignore[abstract]
        vector_grpc.add_VectorSearchServiceServicer_to_server(Vector(backend), server)  # type: ignore[abstract]
        query_pb2_grpc.add_GraphQueryServiceServicer_to_server(Graph(backend), server)  # type: ignore[abstract]

    return [Service("braid.agent.v1.SearchService", add)]


@pytest.fixture
def backend() -> Backend:
    return Backend()


@pytest.fixture
async def server(backend: Backend) -> AsyncIterator[RunningServer]:
    settings = RuntimeSettings(_env_file=None, drain_seconds=0.2)
    running = await start_server(
        settings=settings, listen="127.0.0.1:0", services=fake_services(backend), probes={}
    )
    yield running
    await running.stop()


def targets(server: RunningServer) -> dict[str, Any]:
    address = f"127.0.0.1:{server.port}"
    return {"target": address, "vector_target": address, "graph_target": address}


@pytest.fixture
async def client(server: RunningServer) -> AsyncIterator[AsyncBraid]:
    async with AsyncBraid(**targets(server)) as braid:
        yield braid


async def without_await(server: RunningServer, work: Callable[[Braid], T]) -> T:
    def run() -> T:
        with Braid(**targets(server)) as braid:
            return work(braid)

    return await asyncio.to_thread(run)
