"""The command that container images use as their health probe."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from services.runtime.healthcheck import is_serving


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (health_pb2.HealthCheckResponse.SERVING, True),
        (health_pb2.HealthCheckResponse.NOT_SERVING, False),
    ],
)
async def test_it_reports_the_health_of_the_server(status: Any, expected: bool) -> None:
    server = grpc.aio.server()
    servicer = health.aio.HealthServicer()
    await servicer.set("", status)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        assert await asyncio.to_thread(is_serving, f"127.0.0.1:{port}", {}) is expected
    finally:
        await server.stop(None)


async def test_a_server_that_does_not_respond_is_not_serving() -> None:
    assert not await asyncio.to_thread(is_serving, "127.0.0.1:1", {}, 0.5)
