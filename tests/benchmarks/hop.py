"""The time of a gRPC call that does nothing."""

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
    """Returns a call of the health service of the channel's process, which bypasses its request pipeline."""
    check = health_pb2_grpc.HealthStub(channel).Check  # type: ignore[attr-defined] # no stub

    def call() -> Awaitable[health_pb2.HealthCheckResponse]:
        answer: Awaitable[health_pb2.HealthCheckResponse] = check(
            health_pb2.HealthCheckRequest(), timeout=_DEADLINE
        )
        return answer

    return call


async def cold_hops(hop: Hop, work: Callable[[T], Awaitable[object]], items: Iterable[T]) -> Sample:
    """Returns the times of the call right after `work` on each item.

    Consecutive calls would find their code in the processor's caches, unlike a call that follows a search.
    """
    sample = Sample()
    for item in items:
        await work(item)
        _, took = await timed(hop())
        sample.times_ms.append(took)
    return sample
