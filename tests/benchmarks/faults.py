"""Queries without end while one backend at a time goes away and comes back."""

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
from tests.benchmarks.legs import LEGS, Reports, Searches, looked, told
from tests.benchmarks.recovery import until_looking

_CALLERS = 2
_DEADLINE = 5.0
_AWAY = (0.5, 2.0)
_BETWEEN = (0.2, 0.5)
# Which leg cannot look while a backend is away.
_LEG_OF = {
    "vector_search": "vector",
    "postgres": "vector",
    "graph_query": "graph",
    "neo4j": "graph",
}


class Drill:
    """At least `count` queries by a few callers, and until each backend has been away at least once.

    A query fails when the call does, or when neither leg looked: one of them always could. An answer is
    false when it says that a leg looked whose backend was away for the whole of the call.
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
        self._away = ""
        self._changes = 0

    async def run(self) -> None:
        """Ask and break until enough was seen."""
        with bar("queries while backends come and go", self._count) as show:
            async with asyncio.TaskGroup() as group:
                for _ in range(_CALLERS):
                    group.create_task(self._ask())
                group.create_task(self._break())
                while not self._enough():
                    show(self._asked)
                    await asyncio.sleep(0.2)

    def put(self, figures: Figures) -> None:
        """Print what was seen; reasons of failures go to standard error."""
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
            away, changes, began = self._away, self._changes, time.perf_counter()
            reports = await self._reports(next(self._queries))
            self._times_ms.append((time.perf_counter() - began) * 1000)
            self._asked += 1
            if away and changes == self._changes and looked(reports, _LEG_OF[away]):
                self._false_ok += 1

    async def _reports(self, text: str) -> Reports:
        try:
            reports = await self._doors.comprehensive(text, _DEADLINE)
        except grpc.aio.AioRpcError as error:
            self._fail(error.code().name)
            return {}
        if not any(looked(reports, leg) for leg in LEGS):
            self._fail(told(reports))
        return reports

    def _fail(self, reason: str) -> None:
        self._failures[f"{reason} (away: {self._away or 'none'})"] += 1

    async def _break(self) -> None:
        while not self._enough():
            for name in self._chance.sample(sorted(_LEG_OF), len(_LEG_OF)):
                await self._round(name)
                if self._enough():
                    return

    async def _round(self, name: str) -> None:
        """One backend goes, at times as a crash does, comes back, and its leg looks again."""
        await asyncio.sleep(self._chance.uniform(*_BETWEEN))
        await self._take_away(name)
        back = time.perf_counter()
        again = await until_looking(self._doors, self._queries, _LEG_OF[name])
        self._recovered[name].append(again - back)

    async def _take_away(self, name: str) -> None:
        if self._chance.random() < 0.5:
            await self._stack.kill(name)
        else:
            await self._stack.stop_process(name)
        self._mark(name)
        await asyncio.sleep(self._chance.uniform(*_AWAY))
        self._mark("")
        await self._stack.start_process(name)

    def _mark(self, away: str) -> None:
        self._away = away
        self._changes += 1
