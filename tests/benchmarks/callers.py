"""Concurrent callers with one outstanding call each, and the times of their calls."""

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
    """The times of calls in milliseconds, and their total wall-clock time in seconds."""

    times_ms: list[float] = field(default_factory=list)
    wall_s: float = 0.0

    @property
    def rate(self) -> float:
        """Returns the calls per second."""
        return len(self.times_ms) / self.wall_s

    def percentile(self, percent: float) -> float:
        """Returns a percentile of the times, in milliseconds."""
        return percentile(self.times_ms, percent)


async def timed(call: Awaitable[T]) -> tuple[T, float]:
    """Awaits a call; returns its response and the milliseconds it took."""
    began = time.perf_counter()
    answer = await call
    return answer, (time.perf_counter() - began) * 1000


async def compare(
    doors: Mapping[str, Callable[[T], Awaitable[object]]], items: Iterable[T], block: int = _BLOCK
) -> dict[str, Sample]:
    """Returns the times of one caller for each function, by its name: every item is sent to every function.

    Items are sent in blocks, because with single items each function would profit from data that the previous one left
    in the processor's caches, and would evict the other's code from them. Functions take turns in going first.
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
    """Distributes the items over `callers` concurrent callers. The first failure stops all of them."""
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
