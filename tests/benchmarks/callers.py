"""Concurrent callers, each with one call under way at a time, and what their calls took."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from tests.evals.metrics import percentile

T = TypeVar("T")


@dataclass(slots=True)
class Sample:
    """Times of calls in milliseconds, and the wall-clock time of them all in seconds."""

    times_ms: list[float] = field(default_factory=list)
    wall_s: float = 0.0

    @property
    def rate(self) -> float:
        """Calls a second."""
        return len(self.times_ms) / self.wall_s

    def percentile(self, percent: float) -> float:
        """Milliseconds that `percent` of the calls stayed within."""
        return percentile(self.times_ms, percent)


async def timed(call: Awaitable[T]) -> tuple[T, float]:
    """What the call answered, and the milliseconds it took."""
    began = time.perf_counter()
    answer = await call
    return answer, (time.perf_counter() - began) * 1000


async def load(callers: int, items: Iterable[T], call: Callable[[T], Awaitable[object]]) -> Sample:
    """Spend the items on `callers` concurrent callers. The first failure ends all."""
    sample = Sample()
    waiting = iter(items)
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(callers):
            group.create_task(_caller(waiting, call, sample))
    sample.wall_s = time.perf_counter() - began
    return sample


async def _caller(
    waiting: Iterator[T], call: Callable[[T], Awaitable[object]], sample: Sample
) -> None:
    for item in waiting:
        _, took = await timed(call(item))
        sample.times_ms.append(took)
