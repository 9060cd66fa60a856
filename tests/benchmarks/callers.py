"""Concurrent callers, each with one call under way at a time, and what their calls took."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from tests.evals.metrics import percentile

T = TypeVar("T")

_BLOCK = 25


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


async def compare(
    doors: Mapping[str, Callable[[T], Awaitable[object]]], items: Iterable[T], block: int = _BLOCK
) -> dict[str, Sample]:
    """What one caller waits at each door, by the door's name: every item goes to every door.

    A block of items goes to one door, then to the next. Were it item by item, whoever comes second would find in the
    processor's caches what the first has fetched, and each would find its own code pushed out of them by the other's.
    Blocks begin with each door in turn.
    """
    samples = {name: Sample() for name in doors}
    names = list(doors)
    waiting = iter(items)
    turn = 0
    while part := list(islice(waiting, block)):
        for step in range(len(names)):
            name = names[(turn + step) % len(names)]
            for item in part:
                _, took = await timed(doors[name](item))
                samples[name].times_ms.append(took)
        turn += 1
    return samples


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
