"""Health based on the stores: SERVING only while every probe answers, NOT_SERVING while draining."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from grpc_health.v1 import health, health_pb2

from braid_protocol.channel import TAKES_CALLS
from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Probe = Callable[[], Awaitable[None]]
"""Asks a store; raises, whatever it likes, when the store does not answer."""

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
# Together less than a leg's usual budget, so that a hanging store is detected before the first search times out on it.
PROBE_INTERVAL = 0.5
PROBE_TIMEOUT = 1.4
# Until a process has served once nobody waits for it, and a slow machine needs longer for its first answers.
STARTING_PROBE_TIMEOUT = 15.0
ALIVE = "braid.alive"
"""The name under which `Check` answers SERVING whenever the event loop runs: for probes that restart the process."""


REASON = "braid-health-reason"
"""Trailing metadata of an answer of `Check`: why the process is not serving, or what it does without meanwhile."""
_MAX_REASON = 300


class _Servicer(health.aio.HealthServicer):
    """The library's servicer with reasons, with watches that end, and with the method `List`, which it lacks."""

    def __init__(self, services: Sequence[str]) -> None:
        super().__init__()
        self._services = services
        self._watches = 0
        self._ended = asyncio.Event()
        self.reason = ""

    @property
    def watched(self) -> bool:
        """Returns whether a client watches the health of this process."""
        return self._watches > 0

    def end_watches(self) -> None:
        """Ends all streams of `Watch`, for which a stopping server would wait."""
        self._ended.set()

    async def Check(self, request: Any, context: Any) -> Any:  # noqa: N802 - the contract's name
        """Returns the health of one service, with reasons in the trailing metadata."""
        if request.service == ALIVE:
            return health_pb2.HealthCheckResponse(status=SERVING)
        if self.reason and context is not None:
            context.set_trailing_metadata(((REASON, self.reason),))
        return await super().Check(request, context)

    async def Watch(self, request: Any, context: Any) -> None:  # noqa: N802 - as above
        """Streams the health of one service as it changes, until the process ends."""
        self._watches += 1
        watching = asyncio.ensure_future(super().Watch(request, context))
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait((watching, ended), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._watches -= 1
            watching.cancel()
            ended.cancel()
            await asyncio.gather(watching, ended, return_exceptions=True)

    async def List(self, _request: Any, context: Any) -> Any:  # noqa: N802 - as above
        """Returns the health of each service, and of the whole under ''."""
        checks = {name: health_pb2.HealthCheckRequest(service=name) for name in self._services}
        statuses = {name: await self.Check(check, context) for name, check in checks.items()}
        messages: Any = health_pb2  # Its type stubs lack this method.
        return messages.HealthListResponse(statuses=statuses)


class HealthMonitor:
    """Polls named probes twice a second and sets the health of each service and of the whole ('').

    The health of `TAKES_CALLS` is for clients with several replicas to choose from: SERVING until the process drains.
    An unavailable store is unavailable to all replicas, so such clients should still call and receive the error.
    """

    def __init__(
        self,
        services: Sequence[str],
        probes: Mapping[str, Probe],
        impairments: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        """`impairments` returns sentences about degraded functions, reported as reasons while the process serves."""
        self._impairments = impairments
        self._services = ("", *services)
        self.servicer = _Servicer(self._services)
        self._probes = probes
        self._serving: bool | None = None
        self._has_served = False
        self._log = get_logger("health")

    @property
    def watched(self) -> bool:
        """Returns whether a client watches the health of this process."""
        return self.servicer.watched

    async def run(self) -> None:
        """Polls until cancelled."""
        while True:
            await self.poll()
            await asyncio.sleep(PROBE_INTERVAL)

    async def poll(self) -> None:
        """Runs every probe once and sets the health accordingly."""
        failed = {
            name: reason
            for name in self._probes
            if (reason := await self._failure(name)) is not None
        }
        serving = not failed
        self.servicer.reason = _as_metadata([*failed.values(), *self._impairments()])
        if serving is not self._serving:
            self._log.info("health", serving=serving, failed=failed)
            if self._serving is None:
                await self.servicer.set(TAKES_CALLS, SERVING)
            await self._set(SERVING if serving else NOT_SERVING)
            self._serving = serving
            self._has_served = self._has_served or serving

    async def drain(self) -> None:
        """Sets NOT_SERVING permanently, whatever the probes report."""
        await self.servicer.enter_graceful_shutdown()

    def end_watches(self) -> None:
        """Ends all watch streams, for which a stopping server would wait."""
        self.servicer.end_watches()

    async def _failure(self, name: str) -> str | None:
        """Returns why a probe fails, without secrets; None if it answers."""
        try:
            async with asyncio.timeout(self._probe_seconds()):
                await self._probes[name]()
        except BraidError as error:
            return error.message
        except Exception as error:  # noqa: BLE001 - any exception means that the probe failed
            self._log.debug("probe failed", probe=name, error=type(error).__name__)
            return f"{name} does not answer."
        return None

    def _probe_seconds(self) -> float:
        """Returns the limit of a probe; the very first one is short, because the port opens after it."""
        starting = self._serving is False and not self._has_served
        return STARTING_PROBE_TIMEOUT if starting else PROBE_TIMEOUT

    async def _set(self, status: int) -> None:
        for service in self._services:
            await self.servicer.set(service, status)


def _as_metadata(reasons: Sequence[str]) -> str:
    text = " ".join(reasons)
    return text.encode("ascii", "replace").decode()[:_MAX_REASON]
