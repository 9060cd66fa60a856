"""A call's outcome is the server's status, even if the server ends the call while a message is being sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

import grpc
import pytest

from braid.agent.v1 import ingest_pb2
from braid_protocol.call_outcome import outcome_of
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.status import error_from_rpc, reason_name
from tests.unit.runtime.conftest import Harness

PART = ingest_pb2.IngestDocumentRequest(data=b"x" * 200_000)
REFUSED = (grpc.StatusCode.INVALID_ARGUMENT, "The type is unknown.")
NOT_SENT = (grpc.StatusCode.INTERNAL, "Internal error from Core")


async def upload(parts: int) -> AsyncIterator[ingest_pb2.IngestDocumentRequest]:
    for _ in range(parts):
        yield PART


async def refuse() -> None:
    raise InvalidFieldError(FieldError("content_type", "must be known"))


async def never() -> None:
    await asyncio.Event().wait()


async def failure_of(call: Any) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await outcome_of(call)
    return failure.value


async def test_an_answer_is_returned(harness: Harness) -> None:
    answer = await outcome_of(harness.ingest.IngestDocument(upload(2), timeout=5))
    assert isinstance(answer, ingest_pb2.IngestDocumentResponse)


async def test_a_large_upload_that_is_refused_fails_with_the_servers_reason(
    harness: Harness,
) -> None:
    harness.seen.act = refuse
    for _ in range(40):
        failure = await failure_of(harness.ingest.IngestDocument(upload(25), timeout=20))
        error = error_from_rpc(failure)
        assert reason_name(error) == "INVALID_FIELD"
        assert error.fields == (FieldError("content_type", "must be known"),)


async def test_a_large_upload_past_its_deadline_fails_with_deadline_exceeded(
    harness: Harness,
) -> None:
    harness.seen.act = never
    failure = await failure_of(harness.ingest.IngestDocument(upload(100), timeout=0.2))
    assert failure.code() is grpc.StatusCode.DEADLINE_EXCEEDED


class ScriptedCall:
    """A call that gets several statuses in turn, as from a server and from a message that could not be sent."""

    def __init__(self, *statuses: tuple[grpc.StatusCode, str]) -> None:
        self._statuses = statuses
        self._now = NOT_SENT
        self._callbacks: list[Callable[[Any], None]] = []

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self._callbacks.append(callback)

    async def code(self) -> grpc.StatusCode:
        return self._now[0]

    async def details(self) -> str:
        return self._now[1]

    async def trailing_metadata(self) -> grpc.aio.Metadata:
        return grpc.aio.Metadata()

    def __await__(self) -> Generator[Any, None, None]:
        yield from asyncio.sleep(0).__await__()
        for status in self._statuses:
            self._now = status
            for callback in self._callbacks:
                callback(self)
        metadata = grpc.aio.Metadata()
        raise grpc.aio.AioRpcError(self._now[0], metadata, metadata, details=self._now[1])


@pytest.mark.parametrize(
    "statuses",
    [[REFUSED], [REFUSED, NOT_SENT], [NOT_SENT, REFUSED]],
    ids=["alone", "before the message failed", "after the message failed"],
)
async def test_the_servers_status_is_used_whenever_it_arrives(
    statuses: list[tuple[grpc.StatusCode, str]],
) -> None:
    failure = await failure_of(ScriptedCall(*statuses))
    assert (failure.code(), failure.details()) == REFUSED


async def test_a_failed_message_without_a_server_status_is_reported_unchanged() -> None:
    failure = await failure_of(ScriptedCall(NOT_SENT))
    assert (failure.code(), failure.details()) == NOT_SENT
