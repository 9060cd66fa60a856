"""Each outgoing call within a recorded trace has a client span, however it ends; other calls have none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from opentelemetry import propagate
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from braid.agent.v1 import ingest_pb2, search_pb2
from services.runtime.channels import open_channel
from services.runtime.errors import NotFoundError
from services.runtime.tracing import root_span
from tests.unit.runtime.conftest import QUESTION, Harness, Start

CANARY = "what the user asked"
ASKED = search_pb2.ComprehensiveSearchRequest(query=CANARY)
STREAMED = search_pb2.StreamComprehensiveSearchRequest(search=ASKED)


@pytest.fixture
async def harness(exported: InMemorySpanExporter, start: Start) -> Harness:
    """A server and a channel whose spans are exported."""
    return await start()


async def ended_spans(
    exported: InMemorySpanExporter, kind: SpanKind, number: int = 1
) -> list[ReadableSpan]:
    """Returns the spans of a kind once `number` of them have ended; the server ends its own independently."""
    async with asyncio.timeout(5):
        while True:
            found = [one for one in exported.get_finished_spans() if one.kind is kind]
            if len(found) >= number:
                return found
            await asyncio.sleep(0.01)


async def hang() -> None:
    await asyncio.Event().wait()


async def test_a_health_check_has_no_span(exported: InMemorySpanExporter, harness: Harness) -> None:
    with root_span("searching"):
        health: Any = health_pb2_grpc.HealthStub(harness.channel)
        await health.Check(health_pb2.HealthCheckRequest())
    assert [span.name for span in exported.get_finished_spans()] == ["searching"]


async def test_a_call_has_a_client_span_between_those_of_caller_and_server(
    exported: InMemorySpanExporter, harness: Harness
) -> None:
    with root_span("asking") as asking:
        carrier: dict[str, str] = {"x-request-id": "r1"}
        propagate.inject(carrier)
        await harness.search.ComprehensiveSearch(ASKED, metadata=tuple(carrier.items()))
    [client] = await ended_spans(exported, SpanKind.CLIENT)
    [server] = await ended_spans(exported, SpanKind.SERVER)
    assert client.parent is not None
    assert client.parent.span_id == asking.get_span_context().span_id
    assert server.parent is not None
    assert server.parent.span_id == client.context.span_id
    assert client.name == server.name == "braid.agent.v1.SearchService/ComprehensiveSearch"
    assert client.attributes == {
        "rpc.system": "grpc",
        "rpc.service": "braid.agent.v1.SearchService",
        "rpc.method": "ComprehensiveSearch",
        "rpc.grpc.status_code": 0,
        "server.address": "127.0.0.1",
        "server.port": harness.server.port,
    }
    assert client.status.is_unset
    assert harness.seen.calls[0].request_id == "r1"


async def test_the_span_of_a_streamed_answer_lasts_until_the_stream_ends(
    exported: InMemorySpanExporter, harness: Harness
) -> None:
    with root_span("asking"):
        call = harness.search.StreamComprehensiveSearch(STREAMED)
        async for _ in call:
            assert not [one for one in exported.get_finished_spans() if one.kind is SpanKind.CLIENT]
    [client] = await ended_spans(exported, SpanKind.CLIENT)
    assert (client.attributes or {})["rpc.grpc.status_code"] == 0


async def test_a_streamed_request_is_one_span(
    exported: InMemorySpanExporter, harness: Harness
) -> None:
    async def parts() -> AsyncIterator[ingest_pb2.IngestDocumentRequest]:
        for _ in range(3):
            yield ingest_pb2.IngestDocumentRequest(data=CANARY.encode())

    with root_span("asking"):
        await harness.ingest.IngestDocument(parts())
    [client] = await ended_spans(exported, SpanKind.CLIENT)
    assert client.name == "braid.agent.v1.IngestService/IngestDocument"


async def test_the_span_of_a_failed_call_has_its_code_but_no_error_text(
    exported: InMemorySpanExporter, harness: Harness
) -> None:
    async def fail() -> None:
        raise NotFoundError(CANARY)

    harness.seen.act = fail
    with root_span("asking"), pytest.raises(grpc.aio.AioRpcError):
        await harness.search.ComprehensiveSearch(ASKED)
    [client] = await ended_spans(exported, SpanKind.CLIENT)
    attributes = client.attributes or {}
    assert (attributes["rpc.grpc.status_code"], attributes["error.type"]) == (5, "NOT_FOUND")
    assert (client.status.is_ok, client.status.description) == (False, None)
    assert CANARY not in client.to_json()


async def test_spans_have_the_codes_of_deadline_exceeded_and_unavailable_calls(
    exported: InMemorySpanExporter, harness: Harness
) -> None:
    harness.seen.act = hang
    with root_span("asking"), pytest.raises(grpc.aio.AioRpcError):
        await harness.search.ComprehensiveSearch(ASKED, timeout=0.2)
    await harness.server.stop()
    with root_span("asking"), pytest.raises(grpc.aio.AioRpcError):
        await harness.search.ComprehensiveSearch(ASKED, timeout=5)
    spans = await ended_spans(exported, SpanKind.CLIENT, 2)
    assert [(one.attributes or {})["error.type"] for one in spans] == [
        "DEADLINE_EXCEEDED",
        "UNAVAILABLE",
    ]


async def test_the_spans_of_canceled_calls_have_their_code(
    exported: InMemorySpanExporter, harness: Harness
) -> None:
    began: asyncio.Queue[None] = asyncio.Queue()

    async def begin() -> None:
        began.put_nowait(None)
        await hang()

    harness.seen.act = begin
    with root_span("asking"):
        streamed = harness.search.StreamComprehensiveSearch(STREAMED)
        await streamed.read()
        await began.get()
        streamed.cancel()
        waiting = asyncio.ensure_future(harness.search.ComprehensiveSearch(ASKED))
        await began.get()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    spans = await ended_spans(exported, SpanKind.CLIENT, 2)
    assert {(one.attributes or {})["rpc.grpc.status_code"] for one in spans} == {1}
    assert not any(one.status.is_ok for one in spans)


async def test_outside_a_recorded_trace_a_call_has_no_span(
    exported: InMemorySpanExporter, harness: Harness
) -> None:
    await harness.search.ComprehensiveSearch(QUESTION)
    assert [one for one in exported.get_finished_spans() if one.kind is SpanKind.CLIENT] == []


@pytest.mark.parametrize(
    ("target", "server"),
    [
        ("dns:///vector:1", {"server.address": "vector", "server.port": 1}),
        ("vector:1", {"server.address": "vector", "server.port": 1}),
        ("ipv4:127.0.0.1:1", {"server.address": "127.0.0.1", "server.port": 1}),
        ("[::1]:1", {"server.address": "::1", "server.port": 1}),
        ("unix:/run/vector", {"server.address": "/run/vector"}),
        ("dns:///vector", {"server.address": "vector"}),
    ],
)
async def test_a_span_names_the_server_that_the_channel_was_opened_for(
    exported: InMemorySpanExporter, target: str, server: dict[str, str | int]
) -> None:
    async with open_channel(target, retry=False) as channel:
        call: Any = channel.unary_unary("/braid.v1.Service/Method")
        with root_span("asking"):
            call(b"", timeout=5).cancel()
        [client] = await ended_spans(exported, SpanKind.CLIENT)
    server_attributes = {
        name: value for name, value in (client.attributes or {}).items() if "server" in name
    }
    assert server_attributes == server
