"""Health that follows the stores: SERVING only while every probe answers, NOT_SERVING while draining."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from grpc_health.v1 import health, health_pb2

from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Probe = Callable[[], Awaitable[None]]
"""Asks a store; raises, whatever it likes, when the store does not answer."""

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
# Together less than a leg's usual budget: a store that hangs is known before the first search has given up on it.
PROBE_INTERVAL = 0.5
PROBE_TIMEOUT = 1.4


class _Servicer(health.aio.HealthServicer):
    """The library's servicer, with the method of the contract that it leaves out."""

    def __init__(self, services: Sequence[str]) -> None:
        super().__init__()
        self._services = services

    async def List(self, _request: Any, context: Any) -> Any:  # noqa: N802 - the contract's name
        """The health of each service, and of the whole under ''."""
        checks = {name: health_pb2.HealthCheckRequest(service=name) for name in self._services}
        statuses = {name: await self.Check(check, context) for name, check in checks.items()}
        messages: Any = health_pb2  # its types know nothing of this method
        return messages.HealthListResponse(statuses=statuses)


class HealthMonitor:
    """Polls named probes twice a second and sets the health of each service and of the whole ('')."""

    def __init__(self, services: Sequence[str], probes: Mapping[str, Probe]) -> None:
        self._services = ("", *services)
        self.servicer = _Servicer(self._services)
        self._probes = probes
        self._serving: bool | None = None
        self._log = get_logger("health")

    async def run(self) -> None:
        """Polls until cancelled."""
        while True:
            await self.poll()
            await asyncio.sleep(PROBE_INTERVAL)

    async def poll(self) -> None:
        """Asks every probe once and sets the health accordingly."""
        failed = [name for name in self._probes if not await self._answers(name)]
        serving = not failed
        if serving is not self._serving:
            self._log.info("health", serving=serving, failed=failed)
            await self._set(SERVING if serving else NOT_SERVING)
            self._serving = serving

    async def drain(self) -> None:
        """NOT_SERVING from now on, whatever the probes say."""
        await self.servicer.enter_graceful_shutdown()

    async def _answers(self, name: str) -> bool:
        try:
            async with asyncio.timeout(PROBE_TIMEOUT):
                await self._probes[name]()
        except Exception as error:  # noqa: BLE001 - whatever a probe raises means that it does not answer
            self._log.debug("probe failed", probe=name, error=type(error).__name__)
            return False
        return True

    async def _set(self, status: int) -> None:
        for service in self._services:
            await self.servicer.set(service, status)
