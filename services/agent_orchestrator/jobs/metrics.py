"""Gauges of waiting work: jobs by state, and the age of the oldest unfinished job and document."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from opentelemetry.metrics import Observation

from services.runtime.instruments import INGESTION_LAG, JOBS, gauge

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Meter

    from services.agent_orchestrator.database import Database

EVERY_SECONDS = 15.0
_STATES = ("queued", "running", "succeeded", "failed", "cancelled")
_STAGES = ("job", "document")


class JobMetrics:
    """Reads the database periodically; every replica reads the same values, so dashboards take the maximum."""

    def __init__(
        self, database: Database, *, seconds: float = EVERY_SECONDS, meter: Meter | None = None
    ) -> None:
        self._database = database
        self._seconds = seconds
        self._states: Mapping[str, int] = {}
        self._lag: Mapping[str, float] = {}
        gauge(JOBS, self._observe_states, meter)
        gauge(INGESTION_LAG, self._observe_lag, meter)

    async def run(self) -> None:
        """Reads until cancelled or a read fails: then there are no values, so that none is stale."""
        while True:
            try:
                await self.read()
            except Exception:
                self._states, self._lag = {}, {}
                raise
            await asyncio.sleep(self._seconds)

    async def read(self) -> None:
        """Reads once."""
        queries = self._database.queries
        async with self._database.pool.session() as session:
            rows = await session.fetch(queries["job_states"])
            lag = await session.row(queries["ingestion_lag"])
        found = {row["state"]: row["jobs"] for row in rows}
        self._states = {state: found.get(state, 0) for state in _STATES}
        self._lag = {stage: (lag[stage] if lag else None) or 0.0 for stage in _STAGES}

    def _observe_states(self, _options: CallbackOptions) -> Iterator[Observation]:
        return (Observation(jobs, {"state": state}) for state, jobs in self._states.items())

    def _observe_lag(self, _options: CallbackOptions) -> Iterator[Observation]:
        return (Observation(seconds, {"stage": stage}) for stage, seconds in self._lag.items())
