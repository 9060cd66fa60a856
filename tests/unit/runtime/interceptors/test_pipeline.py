"""The stages around every call, unary or streaming."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from typing import Any, ClassVar

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from braid.agent.v1 import ingest_pb2, search_pb2
from services.runtime.errors import (
    INTERNAL_MESSAGE,
    AllLegsFailedError,
    FieldError,
    InvalidFieldError,
    NotFoundError,
    OverloadedError,
)
from services.runtime.identity import Authenticator
from services.runtime.interceptors import build_pipeline
from services.runtime.interceptors.concurrency import ConcurrencyStage
from services.runtime.interceptors.pipeline import Pipeline
from services.runtime.interceptors.request_id import RequestIdStage
from services.runtime.interceptors.stage import Call, Stage
from services.runtime.status import reason_name
from tests.unit.runtime.conftest import QUESTION, Harness, Start, refused


async def parts(*messages: ingest_pb2.IngestDocumentRequest) -> AsyncIterator[Any]:
    for message in messages:
        yield message


def test_the_stages_run_in_the_documented_order() -> None:
    pipeline = build_pipeline(Authenticator(None, allow_local=True), limit=ConcurrencyStage(8))
    assert [stage.name for stage in pipeline.stages] == [
        "request_id",
        "trace",
        "log",
        "metrics",
        "limit",
        "auth",
        "validation",
        "errors",
    ]


async def test_a_call_runs_in_the_local_space_with_a_new_request_id(harness: Harness) -> None:
    await harness.search.ComprehensiveSearch(QUESTION, timeout=5)
    [call] = harness.seen.calls
    assert (call.space, call.user) == ("local", "local")
    assert len(call.request_id) == 32


async def test_a_caller_may_choose_the_request_id(harness: Harness) -> None:
    metadata = (("x-request-id", "order-17.a_b"),)
    await harness.search.ComprehensiveSearch(QUESTION, timeout=5, metadata=metadata)
    assert harness.seen.calls[0].request_id == "order-17.a_b"


@pytest.mark.parametrize("forged", ["two words", "a" * 129, "line{}"])
async def test_a_request_id_that_could_forge_a_log_line_is_replaced(
    harness: Harness, forged: str
) -> None:
    metadata = (("x-request-id", forged),)
    await harness.search.ComprehensiveSearch(QUESTION, timeout=5, metadata=metadata)
    assert harness.seen.calls[0].request_id != forged


async def test_invalid_fields_are_named_and_the_handler_is_not_called(harness: Harness) -> None:
    wrong = search_pb2.ComprehensiveSearchRequest(query=" ", limit=51, text_weight=1.1)
    raw, error = await refused(harness.search.ComprehensiveSearch(wrong, timeout=5))
    assert raw.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert {field.field for field in error.fields} == {"query", "limit", "text_weight"}
    assert harness.seen.calls == []


@pytest.mark.parametrize("limit", [0, 51, -1])
async def test_a_limit_outside_1_to_50_is_refused(harness: Harness, limit: int) -> None:
    wrong = search_pb2.ComprehensiveSearchRequest(query="q", limit=limit)
    _, error = await refused(harness.search.ComprehensiveSearch(wrong, timeout=5))
    assert [field.field for field in error.fields] == ["limit"]


async def test_nul_bytes_are_refused_and_not_repeated_in_the_message(harness: Harness) -> None:
    wrong = search_pb2.ComprehensiveSearchRequest(query="a\0b")
    _, error = await refused(harness.search.ComprehensiveSearch(wrong, timeout=5))
    assert "\0" not in error.message


async def test_a_violated_rule_of_the_whole_message_names_the_request(harness: Harness) -> None:
    wrong = search_pb2.ComprehensiveSearchRequest(query="q", use_vector=False, use_graph=False)
    _, error = await refused(harness.search.ComprehensiveSearch(wrong, timeout=5))
    assert error.fields == (FieldError("request", "use_vector and use_graph cannot both be false"),)


async def test_each_message_of_a_client_stream_is_checked(harness: Harness) -> None:
    good = ingest_pb2.IngestDocumentRequest(data=b"x")
    empty = ingest_pb2.IngestDocumentRequest()
    raw, _ = await refused(harness.ingest.IngestDocument(parts(good, empty), timeout=5))
    assert raw.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert len(harness.seen.calls) == 1


async def test_an_expected_error_keeps_its_code_reason_and_details(harness: Harness) -> None:
    async def act() -> None:
        raise OverloadedError(retry_after=0.5)

    harness.seen.act = act
    raw, error = await refused(harness.search.ComprehensiveSearch(QUESTION, timeout=5))
    assert raw.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert reason_name(error) == "OVERLOADED"
    assert error.retry_after == 0.5


async def test_an_unexpected_error_becomes_a_fixed_message_with_the_request_id(
    harness: Harness,
) -> None:
    async def act() -> None:
        raise ValueError("password=hunter2")

    harness.seen.act = act
    metadata = (("x-request-id", "find-me"),)
    call = harness.search.ComprehensiveSearch(QUESTION, timeout=5, metadata=metadata)
    raw, error = await refused(call)
    assert raw.code() is grpc.StatusCode.INTERNAL
    assert raw.details() == INTERNAL_MESSAGE
    assert error.metadata["request_id"] == "find-me"


async def test_a_stream_that_fails_midway_ends_with_the_typed_error(harness: Harness) -> None:
    async def act() -> None:
        raise NotFoundError("document")

    harness.seen.act = act
    request = search_pb2.StreamComprehensiveSearchRequest(search=QUESTION)
    received = []
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        async for message in harness.search.StreamComprehensiveSearch(request, timeout=5):
            received.append(message)
    assert len(received) == 1
    assert failure.value.code() is grpc.StatusCode.NOT_FOUND


async def test_a_bidirectional_stream_passes_the_same_stages() -> None:
    pipeline = build_pipeline(Authenticator(None, allow_local=True), limit=ConcurrencyStage(8))
    server = grpc.aio.server(interceptors=[pipeline])
    method = "IngestFacts"

    async def echo(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        async for message in requests:
            yield message

    handler = grpc.stream_stream_rpc_method_handler(
        echo,
        request_deserializer=ingest_pb2.IngestDocumentRequest.FromString,
        response_serializer=ingest_pb2.IngestDocumentRequest.SerializeToString,
    )
    generic = grpc.method_handlers_generic_handler(
        "braid.agent.v1.IngestService", {method: handler}
    )
    server.add_generic_rpc_handlers((generic,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        duplex: Any = channel.stream_stream(
            f"/braid.agent.v1.IngestService/{method}",
            request_serializer=ingest_pb2.IngestDocumentRequest.SerializeToString,
            response_deserializer=ingest_pb2.IngestDocumentRequest.FromString,
        )(
            parts(
                ingest_pb2.IngestDocumentRequest(data=b"good"), ingest_pb2.IngestDocumentRequest()
            ),
            timeout=5,
        )
        received = []
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            async for message in duplex:
                received.append(message.data)
    await server.stop(None)
    assert received == [b"good"]
    assert failure.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_an_unknown_method_is_unimplemented(harness: Harness) -> None:
    call: Any = harness.channel.unary_unary("/braid.agent.v1.SearchService/Nothing")
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await call(b"", timeout=5)
    assert failure.value.code() is grpc.StatusCode.UNIMPLEMENTED


class Broken(Stage):
    """A stage with a defect."""

    name: ClassVar[str] = "broken"

    def around(self, call: Call) -> AbstractContextManager[None]:
        raise ValueError("password=hunter2")


async def test_an_unexpected_error_in_a_stage_is_reported_like_one_in_a_handler() -> None:
    server = grpc.aio.server(interceptors=[Pipeline([RequestIdStage(), Broken()])])

    async def never(request: Any, context: Any) -> Any:
        raise AssertionError("the stage comes first")

    handler: Any = grpc.unary_unary_rpc_method_handler(never)
    generic = grpc.method_handlers_generic_handler("a.Service", {"Ask": handler})
    server.add_generic_rpc_handlers((generic,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        call: Any = channel.unary_unary("/a.Service/Ask")
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await call(b"", timeout=5)
    await server.stop(None)
    assert failure.value.code() is grpc.StatusCode.INTERNAL
    assert failure.value.details() == INTERNAL_MESSAGE


async def test_an_error_that_cannot_be_encoded_becomes_an_internal_error(harness: Harness) -> None:
    async def fail() -> None:
        raise OverloadedError(retry_after=float("inf"))

    harness.seen.act = fail
    failure, error = await refused(harness.search.ComprehensiveSearch(QUESTION, timeout=5))
    assert (failure.code(), failure.details()) == (grpc.StatusCode.INTERNAL, INTERNAL_MESSAGE)
    assert error.metadata["request_id"]


async def test_a_call_beyond_the_limit_gets_a_retry_delay_and_health_still_responds(
    start: Start,
) -> None:
    harness = await start(max_concurrent_calls=1)
    arrived, done = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        arrived.set()
        await done.wait()

    harness.seen.act = wait
    running = asyncio.ensure_future(harness.search.ComprehensiveSearch(QUESTION, timeout=5))
    await arrived.wait()
    [upload] = [ingest_pb2.IngestDocumentRequest(data=b"x")]
    failure, error = await refused(harness.ingest.IngestDocument(parts(upload), timeout=5))
    health: Any = health_pb2_grpc.HealthStub(harness.channel)
    health_answer = await health.Check(health_pb2.HealthCheckRequest(), timeout=5)
    done.set()
    await running
    assert (failure.code(), reason_name(error)) == (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "OVERLOADED",
    )
    assert (error.retry_after, error.metadata["request_id"] != "") == (1.0, True)
    assert health_answer.status == health_pb2.HealthCheckResponse.SERVING
    await harness.search.ComprehensiveSearch(QUESTION, timeout=5)


async def test_bytes_that_cannot_be_parsed_are_an_invalid_request(harness: Harness) -> None:
    call: Any = harness.channel.unary_unary("/braid.agent.v1.SearchService/ComprehensiveSearch")
    failure, error = await refused(call(b"\xff\xff\xff", timeout=5))
    assert failure.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert [name for name, _ in error.fields] == ["request"]
    assert not harness.seen.calls


async def test_a_thousand_invalid_fields_are_reported_as_invalid_fields(harness: Harness) -> None:
    async def refuse() -> None:
        raise InvalidFieldError(*(FieldError(f"values[{n}]", "is no number") for n in range(1000)))

    harness.seen.act = refuse
    failure, error = await refused(harness.search.ComprehensiveSearch(QUESTION, timeout=5))
    assert failure.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert error.fields[0] == ("values[0]", "is no number")


async def test_a_search_whose_legs_all_failed_is_not_retried(harness: Harness) -> None:
    async def fail() -> None:
        raise AllLegsFailedError({"vector": "TIMED_OUT", "graph": "TIMED_OUT"})

    harness.seen.act = fail
    _, error = await refused(harness.search.ComprehensiveSearch(QUESTION, timeout=5))
    assert reason_name(error) == "ALL_LEGS_FAILED"
    assert len(harness.seen.calls) == 1
