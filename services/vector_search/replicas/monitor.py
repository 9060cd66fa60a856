"""Monitors the lag of replicas: one that exceeds a limit, or does not answer, is excluded until it recovers.

The primary's log position is recorded with the time. A replica that has replayed it is at most as old as the record.
This needs no clock of another machine, and detects a replica that has lost its primary.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from opentelemetry.metrics import Observation

from services.runtime.background import in_background
from services.runtime.instruments import REPLICA_LAG, REPLICA_USABLE, gauge
from services.vector_search.replicas.readers import Readers, Replica, position

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Meter

    from services.postgres.pool import Pool
    from services.runtime.queries import Queries

EVERY_SECONDS = 1.0
_ANSWER_SECONDS = 2.0
# The number of recorded positions of the primary, and so the longest lag that can be measured.
_NOTES = 3_600


class ReplicaMonitor:
    """Checks all replicas periodically, and includes or excludes them."""

    def __init__(
        self,
        readers: Readers,
        primary: Pool,
        queries: Queries,
        *,
        max_lag: float,
        every: float = EVERY_SECONDS,
        meter: Meter | None = None,
    ) -> None:
        """`primary` is a pool of its own. `max_lag` is the limit, `every` the time between two checks, in seconds."""
        self._replicas = readers.replicas
        self._primary = primary
        self._queries = queries
        self._max_lag = max_lag
        self._every = every
        self._written: deque[tuple[float, int]] = deque(maxlen=_NOTES)
        if self._replicas:
            gauge(REPLICA_LAG, self._observe_lag, meter)
            gauge(REPLICA_USABLE, self._observe_usable, meter)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Checks periodically while the block runs; never without replicas."""
        if not self._replicas:
            yield
            return
        async with in_background("replicas", self._run):
            yield

    async def check_all(self) -> None:
        """Checks once."""
        written = await position(self._primary, self._queries, _ANSWER_SECONDS)
        now = asyncio.get_running_loop().time()
        if written is not None:
            self._written.append((now, written))
        await asyncio.gather(*(self._check_replica(replica) for replica in self._replicas))

    async def _run(self) -> None:
        while True:
            await self.check_all()
            await asyncio.sleep(self._every)

    async def _check_replica(self, replica: Replica) -> None:
        replayed = await position(replica.probe, self._queries, _ANSWER_SECONDS)
        if replayed is None:
            replica.use(usable=False, reason="unavailable")
            return
        replica.lag = self._lag(replayed)
        replica.use(usable=replica.lag <= self._max_lag, reason="lag")

    def _lag(self, replayed: int) -> float:
        """Returns the seconds since the first record of a position that the replica has not reached; 0 without one."""
        now = asyncio.get_running_loop().time()
        for when, written in self._written:
            if written > replayed:
                return now - when
        return 0.0

    def _observe_lag(self, _options: CallbackOptions) -> Iterator[Observation]:
        return (Observation(one.lag, {"replica": one.name}) for one in self._replicas)

    def _observe_usable(self, _options: CallbackOptions) -> Iterator[Observation]:
        return (Observation(int(one.usable), {"replica": one.name}) for one in self._replicas)
