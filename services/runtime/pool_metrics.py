"""Gauges of a process's connection pools, through OpenTelemetry; free where no reader is set up."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from opentelemetry.metrics import Observation

from services.runtime.instruments import POOL_CONNECTIONS, POOL_MAX, POOL_WAITING, gauge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.metrics import CallbackOptions, Meter

_POOL = "db.client.connection.pool.name"
_STATE = "db.client.connection.state"


class PoolStats(NamedTuple):
    """Connections at most, in use and idle, and calls waiting for one.

    `idle` is None where the driver has no such number.
    """

    max: int
    used: int
    idle: int | None
    waiting: int


class ObservedPool(Protocol):
    """A pool with statistics. `stats` is called from another thread and must not block."""

    @property
    def name(self) -> str:
        """Its name in the metrics."""

    def stats(self) -> PoolStats:
        """Its statistics now."""


def observe_pools(*pools: ObservedPool, meter: Meter | None = None) -> None:
    """Registers the gauges. Once for each process: an instrument takes no further callbacks.

    The names are those of OpenTelemetry's conventions for database clients.
    """

    def count(_options: CallbackOptions) -> Iterator[Observation]:
        for pool in pools:
            stats = pool.stats()
            yield Observation(stats.used, {_POOL: pool.name, _STATE: "used"})
            if stats.idle is not None:
                yield Observation(stats.idle, {_POOL: pool.name, _STATE: "idle"})

    def maximum(_options: CallbackOptions) -> Iterator[Observation]:
        return (Observation(pool.stats().max, {_POOL: pool.name}) for pool in pools)

    def waiting(_options: CallbackOptions) -> Iterator[Observation]:
        return (Observation(pool.stats().waiting, {_POOL: pool.name}) for pool in pools)

    gauge(POOL_CONNECTIONS, count, meter)
    gauge(POOL_MAX, maximum, meter)
    gauge(POOL_WAITING, waiting, meter)
