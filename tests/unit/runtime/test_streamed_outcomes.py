"""A call's outcome is the one its server gave it, also when the server ended it while a message was on its way."""

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


async def ending(call: Any) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await outcome_of(call)
    return failure.value


async def test_an_answer_is_passed_on(harness: Harness) -> None:
    answer = await outcome_of(harness.ingest.IngestDocument(upload(2), timeout=5))
    assert isinstance(answer, ingest_pb2.IngestDocumentResponse)


async def test_a_large_upload_that_is_refused_is_told_why(harness: Harness) -> None:
    harness.seen.act = refuse
    for _ in range(40):
        failure = await ending(harness.ingest.IngestDocument(upload(25), timeout=20))
        error = error_from_rpc(failure)
        assert reason_name(error) == "INVALID_FIELD"
        assert error.fields == (FieldError("content_type", "must be known"),)


async def test_a_large_upload_whose_time_is_over_is_told_so(harness: Harness) -> None:
    harness.seen.act = never
    failure = await ending(harness.ingest.IngestDocument(upload(100), timeout=0.2))
    assert failure.code() is grpc.StatusCode.DEADLINE_EXCEEDED


class Scripted:
    """A call that is given one status after another, as gRPC's is by a server and by a message that was not sent."""

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
async def test_the_servers_status_stands_whenever_it_came(
    statuses: list[tuple[grpc.StatusCode, str]],
) -> None:
    failure = await ending(Scripted(*statuses))
    assert (failure.code(), failure.details()) == REFUSED


async def test_a_message_that_failed_alone_is_told_as_it_is() -> None:
    failure = await ending(Scripted(NOT_SENT))
    assert (failure.code(), failure.details()) == NOT_SENT
