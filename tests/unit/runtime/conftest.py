"""A small orchestrator on a real socket, to test what the runtime does around a call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from braid.agent.v1 import ingest_pb2, ingest_pb2_grpc, search_pb2, search_pb2_grpc
from services.runtime.admission import AdmissionQueue
from services.runtime.channels import open_channel
from services.runtime.context import CallContext, current_call
from services.runtime.server import RunningServer, Service, start_server
from services.runtime.settings import RuntimeSettings
from services.runtime.status import error_from_rpc

QUESTION = search_pb2.ComprehensiveSearchRequest(query="who owns it?")


async def refused(call: Any) -> tuple[grpc.aio.AioRpcError, Any]:
    """Returns the error of a call, raw and as Braid's error."""
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await call
    return failure.value, error_from_rpc(failure.value)


@dataclass
class Seen:
    """The calls that reached the servicers, and what each call does."""

    calls: list[CallContext] = field(default_factory=list)
    act: Callable[[], Awaitable[None]] | None = None

    async def note(self) -> None:
        self.calls.append(current_call())
        if self.act is not None:
            await self.act()


class Search(search_pb2_grpc.SearchServiceServicer):
    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    async def ComprehensiveSearch(
        self, request: search_pb2.ComprehensiveSearchRequest, context: Any
    ) -> search_pb2.ComprehensiveSearchResponse:
        await self._seen.note()
        return search_pb2.ComprehensiveSearchResponse(result_count=1)

    async def StreamComprehensiveSearch(
        self, request: search_pb2.StreamComprehensiveSearchRequest, context: Any
    ) -> AsyncIterator[search_pb2.StreamComprehensiveSearchResponse]:
        yield search_pb2.StreamComprehensiveSearchResponse()
        await self._seen.note()
        yield search_pb2.StreamComprehensiveSearchResponse()


class Ingest(ingest_pb2_grpc.IngestServiceServicer):
    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    async def IngestDocument(
        self, request_iterator: AsyncIterator[ingest_pb2.IngestDocumentRequest], context: Any
    ) -> ingest_pb2.IngestDocumentResponse:
        async for _ in request_iterator:
            await self._seen.note()
        return ingest_pb2.IngestDocumentResponse()


def services(seen: Seen, slots: AdmissionQueue | None = None) -> list[Service]:
    """Returns the services. Both search methods share `slots`, if given."""
    methods = ("ComprehensiveSearch", "StreamComprehensiveSearch")
    return [
        Service(
            "braid.agent.v1.SearchService",
            lambda server: search_pb2_grpc.add_SearchServiceServicer_to_server(
                Search(seen),  # type: ignore[abstract] # only what the tests call
                server,
            ),
            dict.fromkeys(methods, slots) if slots else {},
        ),
        Service(
            "braid.agent.v1.IngestService",
            lambda server: ingest_pb2_grpc.add_IngestServiceServicer_to_server(
                Ingest(seen),  # type: ignore[abstract] # one method is enough here
                server,
            ),
        ),
    ]


@dataclass
class Harness:
    """A running server, a channel to it and what its servicers saw."""

    server: RunningServer
    channel: grpc.aio.Channel
    seen: Seen

    @property
    def search(self) -> search_pb2_grpc.SearchServiceStub:
        return search_pb2_grpc.SearchServiceStub(self.channel)

    @property
    def ingest(self) -> ingest_pb2_grpc.IngestServiceStub:
        return ingest_pb2_grpc.IngestServiceStub(self.channel)


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Exports the spans that have ended."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


Start = Callable[..., Awaitable[Harness]]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Starts servers with the given settings and probes, and stops them after the test."""
    running: list[Harness] = []

    async def begin(
        probes: Any = None, slots: AdmissionQueue | None = None, **settings: Any
    ) -> Harness:
        seen = Seen()
        server = await start_server(
            settings=RuntimeSettings(
                _env_file=None, **{"drain_seconds": 0.2, "drain_delay_seconds": 0, **settings}
            ),
            listen="127.0.0.1:0",
            services=services(seen, slots),
            probes=probes or {},
        )
        harness = Harness(server, open_channel(f"127.0.0.1:{server.port}"), seen)
        running.append(harness)
        return harness

    yield begin
    for harness in running:
        await harness.channel.close()
        await asyncio.wait_for(harness.server.stop(), 5)


@pytest.fixture
async def harness(start: Start) -> Harness:
    """A server on loopback without keys, so that every caller is user `local` of space `local`."""
    return await start()
