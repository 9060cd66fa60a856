"""The Python client against small tiers behind the real contracts, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest

from braid.agent.v1 import ingest_pb2, ingest_pb2_grpc, search_pb2, search_pb2_grpc
from braid.graph.v1 import facts_pb2, query_pb2, query_pb2_grpc
from braid.vector.v1 import search_pb2 as vector_pb2
from braid.vector.v1 import search_pb2_grpc as vector_grpc
from braid_client import AsyncBraid, Braid, BraidCallError
from services.runtime.errors import OverloadedError, StoreUnavailableError
from services.runtime.server import RunningServer, Service, start_server
from services.runtime.settings import RuntimeSettings


@dataclass
class Backend:
    """What the servicers saw; `failures` are raised one after the other before they answer."""

    requests: list[Any] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    deadlines: list[float] = field(default_factory=list)

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
        return search_pb2.ComprehensiveSearchResponse(total_results=3)

    async def StreamComprehensiveSearch(
        self, request: search_pb2.StreamComprehensiveSearchRequest, context: Any
    ) -> AsyncIterator[search_pb2.StreamComprehensiveSearchResponse]:
        self._backend.take(request, context)
        yield search_pb2.StreamComprehensiveSearchResponse(leg=search_pb2.LegResults())
        final = search_pb2.ComprehensiveSearchResponse(total_results=3)
        yield search_pb2.StreamComprehensiveSearchResponse(final=final)


class Ingest(ingest_pb2_grpc.IngestServiceServicer):
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def IngestDocument(
        self, request_iterator: AsyncIterator[ingest_pb2.IngestDocumentRequest], context: Any
    ) -> ingest_pb2.IngestDocumentResponse:
        async for request in request_iterator:
            self._backend.take(request, context)
        job = ingest_pb2.IngestJob(id="00000000-0000-4000-8000-000000000001")
        return ingest_pb2.IngestDocumentResponse(job=job)

    async def WatchIngestJob(
        self, request: ingest_pb2.WatchIngestJobRequest, context: Any
    ) -> AsyncIterator[ingest_pb2.WatchIngestJobResponse]:
        for state in (ingest_pb2.JOB_STATE_RUNNING, ingest_pb2.JOB_STATE_SUCCEEDED):
            job = ingest_pb2.IngestJob(id=request.job_id, state=state)
            yield ingest_pb2.WatchIngestJobResponse(job=job)


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


def served(backend: Backend) -> list[Service]:
    def add(server: grpc.aio.Server) -> None:
        search_pb2_grpc.add_SearchServiceServicer_to_server(Search(backend), server)
        ingest_pb2_grpc.add_IngestServiceServicer_to_server(Ingest(backend), server)  # type: ignore[abstract] # what the client calls
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
        settings=settings, listen="127.0.0.1:0", services=served(backend), probes={}
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


async def test_a_question_is_asked_with_the_contracts_defaults_and_a_deadline(
    client: AsyncBraid, backend: Backend
) -> None:
    answer = await client.comprehensive_search("who?")
    assert answer.total_results == 3
    [request] = backend.requests
    assert not request.HasField("limit")
    # gRPC carries a deadline in steps of a hundredth of it, and rounds up.
    assert 5 < backend.deadlines[0] <= 10 * 1.01


async def test_every_option_of_a_question_arrives(client: AsyncBraid, backend: Backend) -> None:
    instant = datetime(2024, 3, 1, tzinfo=UTC)
    await client.comprehensive_search(
        "who?", limit=3, use_graph=False, text_weight=0.5, as_of=instant
    )
    [request] = backend.requests
    assert (request.limit, request.use_graph, request.text_weight) == (3, False, 0.5)
    assert request.as_of.ToDatetime(tzinfo=UTC) == instant


async def test_a_naive_time_is_refused_before_anything_is_sent(
    client: AsyncBraid, backend: Backend
) -> None:
    with pytest.raises(ValueError, match="zone"):
        await client.search_facts("who?", as_of=datetime(2024, 3, 1))  # noqa: DTZ001
    assert backend.requests == []


async def test_a_streamed_answer_brings_legs_and_then_the_whole(client: AsyncBraid) -> None:
    kinds = [part.WhichOneof("part") async for part in client.stream_comprehensive_search("who?")]
    assert kinds == ["leg", "final"]


async def test_the_tiers_are_asked_directly(client: AsyncBraid) -> None:
    assert (await client.hybrid_search("who?")).space_revision == 7
    assert (await client.search_facts("who?", entity_name="Mira")).space_revision == 8


async def test_entities_come_page_after_page(client: AsyncBraid) -> None:
    assert [entity.name async for entity in client.entities(page_size=1)] == ["A", "B"]


async def test_an_upload_goes_in_parts_and_its_job_is_waited_for(
    client: AsyncBraid, backend: Backend
) -> None:
    job = await client.ingest_document("x" * 600_000, title="Long", metadata={"team": "core"})
    ended = await client.wait_for_job(job.id)
    assert ended.state == ingest_pb2.JOB_STATE_SUCCEEDED
    described, *parts = backend.requests
    assert described.metadata.metadata["team"] == "core"
    assert sum(len(part.data) for part in parts) == 600_000
    assert len(parts) == 2


async def test_a_read_that_finds_the_service_away_is_tried_again(
    client: AsyncBraid, backend: Backend
) -> None:
    backend.failures = [StoreUnavailableError("neo4j"), StoreUnavailableError("neo4j")]
    assert (await client.search_facts("who?")).space_revision == 8
    assert len(backend.requests) == 3


async def test_a_failure_carries_reason_fields_delay_and_request_id(
    client: AsyncBraid, backend: Backend
) -> None:
    backend.failures = [OverloadedError(retry_after=0.5)]
    with pytest.raises(BraidCallError) as overloaded:
        await client.comprehensive_search("who?")
    failure = overloaded.value.failure
    assert (failure.reason, failure.retry_after) == ("OVERLOADED", 0.5)
    assert failure.metadata["request_id"]
    with pytest.raises(BraidCallError) as wrong:
        await client.comprehensive_search("", limit=51)
    assert [field.field for field in wrong.value.failure.fields] == ["query", "limit"]


async def test_no_server_is_an_error_without_a_reason() -> None:
    async with AsyncBraid("127.0.0.1:1", timeout=2) as braid:
        with pytest.raises(BraidCallError) as failure:
            await braid.comprehensive_search("who?")
    assert failure.value.failure.code is grpc.StatusCode.UNAVAILABLE
    assert failure.value.failure.reason == ""


async def test_the_same_without_await(server: RunningServer) -> None:
    def work() -> tuple[int, list[str], list[Any]]:
        with Braid(**targets(server)) as braid:
            total = braid.comprehensive_search("who?").total_results
            names = [entity.name for entity in braid.entities(page_size=1)]
            kinds = [part.WhichOneof("part") for part in braid.stream_comprehensive_search("who?")]
            return total, names, kinds

    total, names, kinds = await asyncio.to_thread(work)
    assert (total, names, kinds) == (3, ["A", "B"], ["leg", "final"])
