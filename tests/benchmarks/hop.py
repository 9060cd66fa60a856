"""A call that does nothing: what gRPC itself takes here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

_DEADLINE = 30.0

Hop = Callable[[], Awaitable[health_pb2.HealthCheckResponse]]


def bare_hop(channel: grpc.aio.Channel) -> Hop:
    """Asks the channel's process for its health, which is past its pipeline."""
    check = health_pb2_grpc.HealthStub(channel).Check  # type: ignore[attr-defined] # no stub

    def call() -> Awaitable[health_pb2.HealthCheckResponse]:
        answer: Awaitable[health_pb2.HealthCheckResponse] = check(
            health_pb2.HealthCheckRequest(), timeout=_DEADLINE
        )
        return answer

    return call
