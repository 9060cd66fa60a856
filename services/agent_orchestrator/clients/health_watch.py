"""Calls to a tier that take long are watched: its health is asked, and nobody waits for a tier that does not answer.

A tier that was found away is asked on until it answers; calls that come meanwhile fail at once.
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

# Most calls have answered by then, and none of them has cost a check.
PATIENCE_SECONDS = 0.25
CHECK_EVERY_SECONDS = 0.25
# A process that does not tell its health for so long serves nothing else either.
CHECK_LIMIT_SECONDS = 0.8
# A process may be busy and a store away for a moment: the tier is asked again before calls are given up. All of it
# together takes less than a leg's usual budget: a tier that hangs is known before the first search gives up on it.
CHECKS = 2
_REPLICAS_ASKED = 2


class TierAwayError(Exception):
    """The tier cannot answer: its process or its store is away.

    `under_way` when the call had been sent and waited for an answer; else it was never sent.
    """

    def __init__(self, reason: Reason, *, under_way: bool) -> None:
        super().__init__(legs_pb2.LegReason.Name(reason))
        self.reason = reason
        self.under_way = under_way


class HealthWatch:
    """Watches calls to one tier by asking for its health. To be entered before it is used, and left."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._health: Any = health_pb2_grpc.HealthStub(channel)
        self._overdue: set[grpc.aio.UnaryUnaryCall[Any, Any]] = set()
        self._given_up: dict[grpc.aio.UnaryUnaryCall[Any, Any], Reason] = {}
        self._away: Reason | None = None
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
        """The answer of the call that `start` begins. Raises AioRpcError as the call does.

        TierAwayError when it was given up, or not even begun, because the tier is away.
        """
        if self._away is not None:
            raise TierAwayError(self._away, under_way=False)
        call = start()
        timer = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._note_overdue, call)
        try:
            return await call
        except asyncio.CancelledError:
            reason = self._given_up.get(call)
            task = asyncio.current_task()
            if reason is None or (task is not None and task.cancelling()):
                raise  # the caller's own
            raise TierAwayError(reason, under_way=True) from None
        finally:
            timer.cancel()
            self._overdue.discard(call)
            self._given_up.pop(call, None)

    async def check(self) -> Reason | None:
        """Asks once: why the tier cannot answer; None as far as is known.

        Replicas take turns at questions as they do at calls: one that hangs is not the tier.
        """
        reasons = await asyncio.gather(*(self._check_one() for _ in range(_REPLICAS_ASKED)))
        return None if None in reasons else reasons[0]

    async def _check_one(self) -> Reason | None:
        try:
            answer = await self._health.Check(
                health_pb2.HealthCheckRequest(), timeout=CHECK_LIMIT_SECONDS
            )
        except grpc.aio.AioRpcError as error:
            # Any other code tells nothing of the calls that are watched: a process that ends lets them finish and takes
            # no new one, one at its limit is only busy, and one that has ended has ended the calls as well.
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                return legs_pb2.LEG_REASON_SERVICE_UNAVAILABLE
            return None
        if answer.status == health_pb2.HealthCheckResponse.NOT_SERVING:
            return legs_pb2.LEG_REASON_STORE_UNAVAILABLE
        return None

    def _note_overdue(self, call: grpc.aio.UnaryUnaryCall[Any, Any]) -> None:
        self._overdue.add(call)
        if self._asking is None or self._asking.done():
            # On behalf of all calls, not of the one that is overdue first: without its context.
            self._asking = asyncio.create_task(
                self._ask(), name="health watch", context=contextvars.Context()
            )

    async def _ask(self) -> None:
        """Asks for as long as calls are overdue, or the tier has not answered the last time."""
        failures = 0
        while self._overdue or failures:
            reason = await self.check()
            failures = failures + 1 if reason is not None else 0
            if reason is None or failures >= CHECKS:
                self._set(reason)
            if reason == legs_pb2.LEG_REASON_SERVICE_UNAVAILABLE and failures < CHECKS:
                continue  # it has had its time
            await asyncio.sleep(CHECK_EVERY_SECONDS)

    def _set(self, reason: Reason | None) -> None:
        if reason != self._away:
            name = legs_pb2.LegReason.Name(reason) if reason is not None else ""
            get_logger("search").warning("tier health", away=reason is not None, reason=name)
        self._away = reason
        if reason is None:
            return
        for call in self._overdue:
            self._given_up[call] = reason
            call.cancel()
