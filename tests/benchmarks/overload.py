"""Many more callers than the machine can serve: what those who are admitted wait, and how the others are refused."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import grpc

from braid_protocol.errors import failure_of
from tests.benchmarks.callers import Sample, compare
from tests.benchmarks.command import MeasureError, Options, UsageError
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.generated import generated, new_queries
from tests.benchmarks.harness import running_stack
from tests.benchmarks.legs import Searches, looked, searches, told
from tests.evals.ingestion import ingest
from tests.evals.metrics import percentile

_PASSAGES = 400
_WARM_UP = 200
_SATURATING = 16
_EXCESS = 400
_SECONDS = 15.0
_DEADLINE = 10.0

Call = Callable[[str], Awaitable[object]]


@dataclass(slots=True)
class _Seen:
    """How the calls of one load ended. Times in milliseconds; `partial` are answers that lack a leg."""

    admitted: Sample = field(default_factory=Sample)
    refused_ms: list[float] = field(default_factory=list)
    without_retry_info: int = 0
    partial: int = 0
    others: Counter[str] = field(default_factory=Counter)

    @property
    def goodput(self) -> float:
        """Whole answers a second."""
        return (len(self.admitted.times_ms) - self.partial) / self.admitted.wall_s


async def run(options: Options) -> None:
    """Load every door that a search has: as many callers as saturate it, then far more, patient ones and others."""
    if options.mode not in ("all", "comprehensive", "vector", "graph"):
        raise UsageError("--mode takes all, comprehensive, vector or graph")
    figures = Figures(options.name)
    data = generated(_PASSAGES)
    queries = new_queries(data, options.seed)
    async with running_stack() as stack, searches(stack) as doors:
        await ingest(stack, data.documents)
        await compare({"all": doors.comprehensive}, islice(queries, _WARM_UP))
        for name, call in _doors(doors).items():
            if options.mode in ("all", name):
                await _measure(name, call, queries, figures)


def _doors(doors: Searches) -> dict[str, Call]:
    return {
        "comprehensive": lambda text: doors.comprehensive(text, _DEADLINE),
        "vector": doors.vector,
        "graph": doors.graph,
    }


async def _measure(name: str, call: Call, queries: Iterator[str], figures: Figures) -> None:
    peak = await _load(_SATURATING, call, queries, patient=True)
    _put(f"{name}_{_SATURATING}_callers", peak, figures)
    for kind, patient in (("patient", True), ("hasty", False)):
        seen = await _load(_EXCESS, call, queries, patient=patient)
        _put(f"{name}_{_EXCESS}_{kind}", seen, figures)
        figures.put(f"{name}_{kind}_goodput_pct", 100 * seen.goodput / peak.goodput, "percent")


def _put(name: str, seen: _Seen, figures: Figures) -> None:
    if not seen.goodput:
        raise MeasureError(f"{name}: nobody had a whole answer: {seen.others}")
    for ended, times in seen.others.items():
        note(f"{name}: {times} times {ended}")
    figures.put(f"{name}_goodput", seen.goodput, "queries/s")
    figures.put(f"{name}_admitted_p50_ms", seen.admitted.percentile(50), "ms")
    figures.put(f"{name}_admitted_p95_ms", seen.admitted.percentile(95), "ms")
    figures.put(f"{name}_refused", len(seen.refused_ms), "calls")
    if seen.refused_ms:
        figures.put(f"{name}_refused_p95_ms", percentile(seen.refused_ms, 95), "ms")
    figures.put(f"{name}_rejected_without_retry_info", seen.without_retry_info, "calls")
    figures.put(f"{name}_failed", seen.others.total(), "calls")


async def _load(callers: int, call: Call, queries: Iterator[str], *, patient: bool) -> _Seen:
    """So many callers for a while, each with one call under way. Patient ones come back when they are told to."""
    seen = _Seen()
    began = time.perf_counter()
    until = began + _SECONDS
    async with asyncio.TaskGroup() as group:
        for _ in range(callers):
            group.create_task(_caller(call, queries, until, seen, patient=patient))
    seen.admitted.wall_s = time.perf_counter() - began
    return seen


async def _caller(
    call: Call, queries: Iterator[str], until: float, seen: _Seen, *, patient: bool
) -> None:
    while (began := time.perf_counter()) < until:
        pause = 0.0
        try:
            answer = await call(next(queries))
        except grpc.aio.AioRpcError as error:
            pause = _note_failure(error, began, seen)
        else:
            seen.admitted.times_ms.append((time.perf_counter() - began) * 1000)
            _note_legs(answer, seen)
        if patient and pause:
            await asyncio.sleep(min(pause, max(0.0, until - time.perf_counter())))


def _note_legs(answer: object, seen: _Seen) -> None:
    if isinstance(answer, dict) and not all(looked(answer, leg) for leg in answer):
        seen.others[told(answer)] += 1
        seen.partial += 1


def _note_failure(error: grpc.aio.AioRpcError, began: float, seen: _Seen) -> float:
    """Seconds until the caller may come back."""
    if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
        seen.others[error.code().name] += 1
        return 0.0
    seen.refused_ms.append((time.perf_counter() - began) * 1000)
    pause = failure_of(error).retry_after
    seen.without_retry_info += not pause
    return pause or 0.0
