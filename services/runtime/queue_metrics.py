"""Gauges of a server's admission queues, named by the first of the methods that share one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.metrics import Observation

from services.runtime.instruments import (
    ADMISSION_ACTIVE,
    ADMISSION_CAPACITY,
    ADMISSION_WAITING,
    gauge,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from opentelemetry.metrics import CallbackOptions, Meter

    from services.runtime.admission import AdmissionQueue


def observe_queues(queues: Mapping[str, AdmissionQueue], meter: Meter | None = None) -> None:
    """Registers the gauges of `queues`, by full method name. Once per process."""
    first: dict[AdmissionQueue, str] = {}
    for method in sorted(queues):
        first.setdefault(queues[method], method)

    def each(number: Callable[[AdmissionQueue], int]) -> Callable[..., Iterator[Observation]]:
        def observe(_options: CallbackOptions) -> Iterator[Observation]:
            for queue, method in first.items():
                yield Observation(number(queue), {"queue": method})

        return observe

    gauge(ADMISSION_ACTIVE, each(lambda queue: queue.active), meter)
    gauge(ADMISSION_WAITING, each(lambda queue: queue.waiting), meter)
    gauge(ADMISSION_CAPACITY, each(lambda queue: queue.capacity), meter)
