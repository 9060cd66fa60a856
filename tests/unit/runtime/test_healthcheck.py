"""The command that container images use as their health probe."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import grpc_testing
import pytest
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from services.runtime.healthcheck import is_serving, reports_serving

HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"]
STATUSES = health_pb2.HealthCheckResponse


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (STATUSES.SERVING, grpc.StatusCode.OK, True),
        (STATUSES.NOT_SERVING, grpc.StatusCode.OK, False),
        (STATUSES.SERVICE_UNKNOWN, grpc.StatusCode.OK, False),
        (STATUSES.SERVING, grpc.StatusCode.UNAVAILABLE, False),
        (STATUSES.SERVING, grpc.StatusCode.DEADLINE_EXCEEDED, False),
    ],
)
def test_only_a_server_that_says_so_is_serving(
    status: Any, code: grpc.StatusCode, expected: bool
) -> None:
    clock = grpc_testing.strict_real_time()  # type: ignore[no-untyped-call]
    channel: Any = grpc_testing.channel([HEALTH], clock)  # type: ignore[no-untyped-call]
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(reports_serving, channel, 5.0, "braid.alive")
        _, request, call = channel.take_unary_unary(HEALTH.methods_by_name["Check"])
        call.terminate(health_pb2.HealthCheckResponse(status=status), (), code, "")
        assert answer.result(5) is expected
    assert request.service == "braid.alive"


async def test_a_server_is_asked_at_its_address() -> None:
    server = grpc.aio.server()
    servicer = health.aio.HealthServicer()
    await servicer.set("", STATUSES.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        assert await asyncio.to_thread(is_serving, f"127.0.0.1:{port}", {})
    finally:
        await server.stop(None)


async def test_a_server_that_does_not_respond_is_not_serving() -> None:
    assert not await asyncio.to_thread(is_serving, "127.0.0.1:1", {}, 0.5)
