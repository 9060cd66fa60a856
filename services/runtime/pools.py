"""How full a process's pools of connections are, through OpenTelemetry; free where no reader is set up."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from opentelemetry import metrics
from opentelemetry.metrics import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.metrics import CallbackOptions

_POOL = "db.client.connection.pool.name"
_STATE = "db.client.connection.state"


class PoolNumbers(NamedTuple):
    """A pool as it is: connections that it may have, that are used, that are idle, and calls waiting for one.

    `idle` is None where the driver does not tell.
    """

    most: int
    used: int
    idle: int | None
    waiting: int


class MeasuredPool(Protocol):
    """What can be observed. `numbers` is called from another thread, and must not wait."""

    @property
    def name(self) -> str:
        """What it is called in measures."""

    def numbers(self) -> PoolNumbers:
        """Its numbers now."""


def observe_pools(*pools: MeasuredPool, meter: metrics.Meter | None = None) -> None:
    """Tells of the pools whenever measures are read. Once a process: an instrument cannot be given more to observe.

    The names are those of OpenTelemetry's conventions for database clients.
    """
    meter = meter or metrics.get_meter("braid")

    def count(_options: CallbackOptions) -> Iterator[Observation]:
        for pool in pools:
            numbers = pool.numbers()
            yield Observation(numbers.used, {_POOL: pool.name, _STATE: "used"})
            if numbers.idle is not None:
                yield Observation(numbers.idle, {_POOL: pool.name, _STATE: "idle"})

    def most(_options: CallbackOptions) -> Iterator[Observation]:
        return (Observation(pool.numbers().most, {_POOL: pool.name}) for pool in pools)

    def waiting(_options: CallbackOptions) -> Iterator[Observation]:
        return (Observation(pool.numbers().waiting, {_POOL: pool.name}) for pool in pools)

    for name, unit, observe in (
        ("count", "{connection}", count),
        ("max", "{connection}", most),
        ("pending_requests", "{request}", waiting),
    ):
        meter.create_observable_up_down_counter(f"db.client.connection.{name}", [observe], unit)
