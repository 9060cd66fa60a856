"""A call that does nothing: what gRPC itself takes here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.benchmarks.callers import Sample, timed

T = TypeVar("T")

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


async def cold_hops(hop: Hop, work: Callable[[T], Awaitable[object]], items: Iterable[T]) -> Sample:
    """What the call takes right after `work` on each item: back to back it finds its code in the processor's caches,
    which no call does that has a search before it.
    """
    sample = Sample()
    for item in items:
        await work(item)
        _, took = await timed(hop())
        sample.times_ms.append(took)
    return sample
