"""Calls that end without an answer: deadlines, cancellation, stalled streams and late errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from braid.agent.v1 import ingest_pb2
from services.runtime.context import remaining
from services.runtime.errors import (
    NotFoundError,
)
from services.runtime.identity import Authenticator
from services.runtime.interceptors import build_pipeline
from services.runtime.interceptors.concurrency import ConcurrencyStage
from services.runtime.interceptors.pipeline import Pipeline
from services.runtime.status import error_from_rpc, reason_name
from tests.unit.runtime.conftest import QUESTION, Harness, refused


async def test_the_callers_deadline_limits_the_handler(harness: Harness) -> None:
    left: list[float] = []

    async def act() -> None:
        left.append(remaining(30))

    harness.seen.act = act
    await harness.channel.channel_ready()  # the time to connect is not the handler's
    # gRPC sends a deadline in steps of a hundredth of it and rounds up.
    await harness.search.ComprehensiveSearch(QUESTION, timeout=4.9)
    assert 4 < left[0] <= 5


async def test_without_a_deadline_the_services_own_limit_applies(harness: Harness) -> None:
    left: list[float] = []

    async def act() -> None:
        left.append(remaining(30))

    harness.seen.act = act
    await harness.search.ComprehensiveSearch(QUESTION)
    assert left == [30]


async def test_a_timeout_of_the_service_is_a_deadline_error(harness: Harness) -> None:
    async def act() -> None:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    harness.seen.act = act
    raw, _ = await refused(harness.search.ComprehensiveSearch(QUESTION, timeout=5))
    assert raw.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_caller_that_cancels_stops_the_handler(harness: Harness) -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    async def act() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    harness.seen.act = act
    call = harness.search.ComprehensiveSearch(QUESTION, timeout=5)
    task = asyncio.ensure_future(call)
    await asyncio.wait_for(started.wait(), 5)
    call.cancel()
    await asyncio.wait_for(stopped.wait(), 5)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_stalled_request_stream_ends_with_a_deadline_error() -> None:
    stages = build_pipeline(Authenticator(None, allow_local=True), limit=ConcurrencyStage(8)).stages
    server = grpc.aio.server(interceptors=[Pipeline(stages, idle_seconds=0.05)])

    async def count(requests: AsyncIterator[Any], context: Any) -> Any:
        return [message async for message in requests]

    handler: Any = grpc.stream_unary_rpc_method_handler(
        count, request_deserializer=ingest_pb2.IngestDocumentRequest.FromString
    )
    methods = {"IngestDocument": handler}
    generic = grpc.method_handlers_generic_handler("braid.agent.v1.IngestService", methods)
    server.add_generic_rpc_handlers((generic,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    ended = asyncio.Event()

    async def stalling() -> AsyncIterator[bytes]:
        yield ingest_pb2.IngestDocumentRequest(data=b"x").SerializeToString()
        await ended.wait()

    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        call: Any = channel.stream_unary("/braid.agent.v1.IngestService/IngestDocument")
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await call(stalling(), timeout=10)
    ended.set()
    await server.stop(None)
    assert failure.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert reason_name(error_from_rpc(failure.value)) == "DEADLINE"


class EndedContext:
    """The context of a call that has already ended, so that no status can be sent."""

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return ()

    def time_remaining(self) -> float | None:
        return None

    async def abort_with_status(self, _status: grpc.Status) -> None:
        raise grpc.aio.InternalError("Failed grpc_call_start_batch")


async def test_an_error_of_a_call_that_has_already_ended_is_dropped() -> None:
    """Otherwise gRPC would log it with a stack trace whenever a caller's deadline passes at that moment."""

    async def fail(_request: object, _context: object) -> None:
        raise NotFoundError("document")

    async def continuation(_details: object) -> object:
        return grpc.unary_unary_rpc_method_handler(fail)

    details: Any = SimpleNamespace(method="/braid.Any/Method")
    handler = await Pipeline([]).intercept_service(continuation, details)
    assert await handler.unary_unary(QUESTION, EndedContext()) is None
