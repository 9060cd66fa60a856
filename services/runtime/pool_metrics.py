"""Gauges of a process's connection pools, through OpenTelemetry; free without a metrics reader."""

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
    """Maximum, used and idle connections, and calls waiting for one.

    `idle` is None if the driver does not report it.
    """

    max: int
    used: int
    idle: int | None
    waiting: int


class ObservedPool(Protocol):
    """A pool with statistics. `stats` is called from another thread and must not block."""

    @property
    def name(self) -> str:
        """Returns its name in the metrics."""

    def stats(self) -> PoolStats:
        """Returns its current statistics."""


def observe_pools(*pools: ObservedPool, meter: Meter | None = None) -> None:
    """Registers the gauges. Once per process, as an instrument accepts no further callbacks.

    The names follow OpenTelemetry's conventions for database clients.
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
