"""Continuous queries while one backend at a time becomes unavailable and recovers."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Iterator

import grpc

from deploy.local.stack import LocalStack
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar
from tests.benchmarks.legs import LEGS, Reports, Searches, describe, has_searched
from tests.benchmarks.recovery import until_recovered

_CALLERS = 2
_DEADLINE = 5.0
_OUTAGE_SECONDS = (0.5, 2.0)
_BETWEEN = (0.2, 0.5)
# The leg that cannot search while a backend is unavailable.
_LEG_OF = {
    "vector_search": "vector",
    "postgres": "vector",
    "graph_query": "graph",
    "neo4j": "graph",
}


class Drill:
    """Runs at least `count` queries by a few callers, until each backend has been unavailable at least once.

    A query fails if the call fails or neither leg has searched, because one leg is always available. A response is
    false if it claims a search by a leg whose backend was unavailable for the whole duration of the call.
    """

    def __init__(
        self, stack: LocalStack, doors: Searches, queries: Iterator[str], *, count: int, seed: int
    ) -> None:
        self._stack = stack
        self._doors = doors
        self._queries = queries
        self._count = count
        self._chance = random.Random(seed)  # noqa: S311
        self._asked = 0
        self._false_ok = 0
        self._failures: Counter[str] = Counter()
        self._times_ms: list[float] = []
        self._recovered: dict[str, list[float]] = {name: [] for name in _LEG_OF}
        self._unavailable = ""
        self._changes = 0

    async def run(self) -> None:
        """Sends queries and stops backends until both goals are reached."""
        with bar("queries while backends come and go", self._count) as show:
            async with asyncio.TaskGroup() as group:
                for _ in range(_CALLERS):
                    group.create_task(self._ask())
                group.create_task(self._break())
                while not self._enough():
                    show(self._asked)
                    await asyncio.sleep(0.2)

    def put(self, figures: Figures) -> None:
        """Prints the figures; reasons of failures go to standard error."""
        for reason, times in self._failures.most_common():
            note(f"failed {times} times: {reason}")
        figures.put("queries", self._asked, "queries")
        figures.put("failed", self._failures.total(), "queries")
        figures.put("false_ok", self._false_ok, "queries")
        figures.put("faulty_max_ms", max(self._times_ms), "ms")
        for name, seconds in sorted(self._recovered.items()):
            figures.put(f"{name}_recovery_s", max(seconds), "s")
            figures.put(f"{name}_rounds", len(seconds), "rounds")

    def _enough(self) -> bool:
        return self._asked >= self._count and all(self._recovered.values())

    async def _ask(self) -> None:
        while not self._enough():
            unavailable, changes, began = self._unavailable, self._changes, time.perf_counter()
            reports = await self._reports(next(self._queries))
            self._times_ms.append((time.perf_counter() - began) * 1000)
            self._asked += 1
            if (
                unavailable
                and changes == self._changes
                and has_searched(reports, _LEG_OF[unavailable])
            ):
                self._false_ok += 1

    async def _reports(self, text: str) -> Reports:
        try:
            reports = await self._doors.comprehensive(text, _DEADLINE)
        except grpc.aio.AioRpcError as error:
            self._fail(error.code().name)
            return {}
        if not any(has_searched(reports, leg) for leg in LEGS):
            self._fail(describe(reports))
        return reports

    def _fail(self, reason: str) -> None:
        self._failures[f"{reason} (away: {self._unavailable or 'none'})"] += 1

    async def _break(self) -> None:
        while not self._enough():
            for name in self._chance.sample(sorted(_LEG_OF), len(_LEG_OF)):
                await self._round(name)
                if self._enough():
                    return

    async def _round(self, name: str) -> None:
        """Stops or kills one backend, starts it again, and waits until its leg searches again."""
        await asyncio.sleep(self._chance.uniform(*_BETWEEN))
        await self._interrupt(name)
        back = time.perf_counter()
        again = await until_recovered(self._doors, self._queries, _LEG_OF[name])
        self._recovered[name].append(again - back)

    async def _interrupt(self, name: str) -> None:
        if self._chance.random() < 0.5:
            await self._stack.kill(name)
        else:
            await self._stack.stop_process(name)
        self._mark(name)
        await asyncio.sleep(self._chance.uniform(*_OUTAGE_SECONDS))
        self._mark("")
        await self._stack.start_process(name)

    def _mark(self, unavailable: str) -> None:
        self._unavailable = unavailable
        self._changes += 1
