"""A call that takes long is watched: when its tier is known to be away, nobody waits for the call's own limit."""

from __future__ import annotations

import asyncio
from typing import Any, TypeAlias, TypeVar

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from braid.common.v1 import legs_pb2

Reason: TypeAlias = legs_pb2.LegReason.ValueType
T = TypeVar("T")

# Most calls have answered by then, and none of them has cost a check.
PATIENCE_SECONDS = 0.5
CHECK_EVERY_SECONDS = 0.5
# A process that does not tell its health for so long serves nothing else either.
CHECK_LIMIT_SECONDS = 2.0
# A store may be away for a moment; its tier is asked again before a call is given up.
CHECKS = 2


class TierAwayError(Exception):
    """The tier cannot answer: its process or its store is away."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(legs_pb2.LegReason.Name(reason))
        self.reason = reason


class Vigil:
    """Watches calls to one tier by asking for its health."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._health: Any = health_pb2_grpc.HealthStub(channel)

    async def over(self, call: grpc.aio.UnaryUnaryCall[Any, T]) -> T:
        """The call's answer. Raises AioRpcError as the call does, and TierAwayError when it was given up."""
        watch = _Watch(self, call)
        timer = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, watch.start)
        try:
            return await call
        except asyncio.CancelledError:
            if watch.found is None:
                raise
            raise TierAwayError(watch.found) from None
        finally:
            timer.cancel()
            watch.end()

    async def away(self) -> Reason | None:
        """Why the tier cannot answer; None as far as is known."""
        try:
            answer = await self._health.Check(
                health_pb2.HealthCheckRequest(), timeout=CHECK_LIMIT_SECONDS
            )
        except grpc.aio.AioRpcError as error:
            # Any other code tells nothing of the call that is watched: a process that ends lets it finish and takes no
            # new one, one at its limit is only busy, and one that has ended has ended the call as well.
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                return legs_pb2.LEG_REASON_SERVICE_UNAVAILABLE
            return None
        if answer.status == health_pb2.HealthCheckResponse.NOT_SERVING:
            return legs_pb2.LEG_REASON_STORE_UNAVAILABLE
        return None


class _Watch:
    """Over one call."""

    def __init__(self, vigil: Vigil, call: grpc.aio.UnaryUnaryCall[Any, Any]) -> None:
        self.found: Reason | None = None
        self._vigil = vigil
        self._call = call
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    def end(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        times = 0
        while True:
            reason = await self._vigil.away()
            times = times + 1 if reason is not None else 0
            if times == CHECKS:
                break
            await asyncio.sleep(CHECK_EVERY_SECONDS)
        self.found = reason
        self._call.cancel()
