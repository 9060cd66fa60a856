"""Monitors slow calls to a tier: checks its health, and cancels calls if the tier does not respond.

An unavailable tier is polled until it responds; calls in the meantime fail immediately.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from braid.common.v1 import legs_pb2
from services.runtime.telemetry import get_logger

Reason: TypeAlias = legs_pb2.LegReason.ValueType
T = TypeVar("T")

# Most calls have returned by then, without the cost of a health check.
PATIENCE_SECONDS = 0.25
CHECK_EVERY_SECONDS = 0.25
# A process that does not answer a health check within this time cannot serve other calls either.
CHECK_LIMIT_SECONDS = 0.8
# A process may be busy or a store unavailable for a moment, so the tier is checked again before calls are cancelled.
# All checks together take less than a leg's usual budget: an unresponsive tier is detected before a search times out.
CHECKS = 2
_REPLICAS_ASKED = 2


class TierUnavailableError(Exception):
    """The tier cannot answer: its process or its store is unavailable.

    `under_way` is true if the call had been sent and waited for its answer; otherwise it was never sent.
    """

    def __init__(self, reason: Reason, *, under_way: bool) -> None:
        super().__init__(legs_pb2.LegReason.Name(reason))
        self.reason = reason
        self.under_way = under_way


class HealthWatch:
    """Watches calls to one tier with health checks. An async context manager."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._health: Any = health_pb2_grpc.HealthStub(channel)
        self._overdue: set[grpc.aio.UnaryUnaryCall[Any, Any]] = set()
        self._given_up: dict[grpc.aio.UnaryUnaryCall[Any, Any], Reason] = {}
        self._unavailable: Reason | None = None
        self._asking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    async def watch(self, start: Callable[[], grpc.aio.UnaryUnaryCall[Any, T]]) -> T:
        """Returns the answer of the call that `start` begins. Raises AioRpcError as the call does.

        Raises TierUnavailableError if the call was cancelled, or not started, because the tier is unavailable.
        """
        if self._unavailable is not None:
            raise TierUnavailableError(self._unavailable, under_way=False)
        call = start()
        timer = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._note_overdue, call)
        try:
            return await call
        except asyncio.CancelledError:
            reason = self._given_up.get(call)
            task = asyncio.current_task()
            if reason is None or (task is not None and task.cancelling()):
                raise  # the caller cancelled
            raise TierUnavailableError(reason, under_way=True) from None
        finally:
            timer.cancel()
            self._overdue.discard(call)
            self._given_up.pop(call, None)

    async def check(self) -> Reason | None:
        """Checks once; returns the reason why the tier cannot answer, or None.

        Checks are distributed over replicas like calls: one that does not respond does not make the tier unavailable.
        """
        reasons = await asyncio.gather(*(self._check_one() for _ in range(_REPLICAS_ASKED)))
        return None if None in reasons else reasons[0]

    async def _check_one(self) -> Reason | None:
        try:
            answer = await self._health.Check(
                health_pb2.HealthCheckRequest(), timeout=CHECK_LIMIT_SECONDS
            )
        except grpc.aio.AioRpcError as error:
            # Other codes say nothing about the watched calls: a process that shuts down finishes them and refuses new
            # ones, one at its limit is only busy, and if a process has ended, its calls have failed as well.
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                return legs_pb2.LEG_REASON_SERVICE_UNAVAILABLE
            return None
        if answer.status == health_pb2.HealthCheckResponse.NOT_SERVING:
            return legs_pb2.LEG_REASON_STORE_UNAVAILABLE
        return None

    def _note_overdue(self, call: grpc.aio.UnaryUnaryCall[Any, Any]) -> None:
        self._overdue.add(call)
        if self._asking is None or self._asking.done():
            # In an empty context: the checks serve all calls, not only the first that is overdue.
            self._asking = asyncio.create_task(
                self._ask(), name="health watch", context=contextvars.Context()
            )

    async def _ask(self) -> None:
        """Checks while calls are overdue or the last check failed."""
        failures = 0
        while self._overdue or failures:
            reason = await self.check()
            failures = failures + 1 if reason is not None else 0
            if reason is None or failures >= CHECKS:
                self._set(reason)
            if reason == legs_pb2.LEG_REASON_SERVICE_UNAVAILABLE and failures < CHECKS:
                continue  # the check itself took its full timeout
            await asyncio.sleep(CHECK_EVERY_SECONDS)

    def _set(self, reason: Reason | None) -> None:
        if reason != self._unavailable:
            name = legs_pb2.LegReason.Name(reason) if reason is not None else ""
            get_logger("search").warning("tier health", unavailable=reason is not None, reason=name)
        self._unavailable = reason
        if reason is None:
            return
        for call in self._overdue:
            self._given_up[call] = reason
            call.cancel()
