"""Measures four times the saturating load: goodput, latency of admitted calls, and how the rest is refused.

The load generator shares the machine with the stack. Therefore the peak is measured while the excess calls go to an
endpoint that does nothing, so that both measurements include the generator's and gRPC's cost of the excess.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import grpc
import psutil

from braid_protocol.errors import failure_of
from deploy.local.stack import LocalStack
from services.runtime.open_files import raise_open_files_limit
from tests.benchmarks.callers import Sample, compare
from tests.benchmarks.command import MeasureError, Options, UsageError
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.generated import generated, new_queries
from tests.benchmarks.harness import running_stack
from tests.benchmarks.legs import Searches, describe, has_searched, searches
from tests.benchmarks.noop_server import NOTHING
from tests.benchmarks.processes import started
from tests.evals.ingestion import ingest
from tests.evals.metrics import percentile

_PASSAGES = 400
_WARM_UP = 200
_SATURATING = 16
_FACTOR = 4
_FIND_SECONDS = 10.0
_PEAK_SECONDS = 30.0
_OVERLOAD_SECONDS = 60.0
_DEADLINE = 10.0
_SETTLE_SECONDS = 3.0
_SILENT = 10_000
_SILENT_SECONDS = 8.0
_MODES = ("comprehensive", "vector", "graph")

Call = Callable[[str], Awaitable[object]]


@dataclass(slots=True)
class _Seen:
    """The outcomes of one load's calls. Times are in milliseconds; `partial` counts responses that lack a leg."""

    admitted: Sample = field(default_factory=Sample)
    refused_ms: list[float] = field(default_factory=list)
    without_retry_info: int = 0
    partial: int = 0
    others: Counter[str] = field(default_factory=Counter)

    @property
    def goodput(self) -> float:
        """Returns the complete responses per second."""
        return (len(self.admitted.times_ms) - self.partial) / self.admitted.wall_s


async def run(options: Options) -> None:
    """Measures the peak, the overload, the peak again, and then the effect of silent connections."""
    mode = "comprehensive" if options.mode == "all" else options.mode
    if mode not in _MODES:
        raise UsageError(f"--mode takes one of {', '.join(_MODES)}")
    figures = Figures(options.name)
    data = generated(_PASSAGES)
    queries = new_queries(data, options.seed)
    async with (
        started("tests.benchmarks.noop_server") as (_, nothing_at),
        running_stack() as stack,
        searches(stack) as doors,
        grpc.aio.insecure_channel(nothing_at) as channel,
    ):
        await ingest(stack, data.documents)
        await compare({"all": doors.comprehensive}, islice(queries, _WARM_UP))
        nothing: Any = channel.unary_unary(NOTHING)
        await _measure(
            _call_for(doors, mode),
            lambda _: nothing(b"", timeout=_DEADLINE),
            queries,
            stack,
            figures,
        )
        await _measure_silent(_call_for(doors, mode), queries, stack, figures)


def _call_for(doors: Searches, mode: str) -> Call:
    return {
        "comprehensive": lambda text: doors.comprehensive(text, _DEADLINE),
        "vector": doors.vector,
        "graph": doors.graph,
    }[mode]


async def _measure(
    call: Call, nothing: Call, queries: Iterator[str], stack: LocalStack, figures: Figures
) -> None:
    saturated = await _closed(call, queries, _FIND_SECONDS)
    rate = saturated.goodput
    note(f"{_SATURATING} callers get {rate:.1f} answers a second: {_FACTOR} times that is offered")
    excess = (_FACTOR - 1) * rate
    first = await _peak(call, nothing, queries, excess)
    memory = _memory(stack)
    generator = psutil.Process().cpu_times()
    seen = await _open(call, queries, _FACTOR * rate, _OVERLOAD_SECONDS)
    used = _seconds(psutil.Process().cpu_times()) - _seconds(generator)
    await asyncio.sleep(_SETTLE_SECONDS)
    grown = _memory(stack) - memory
    second = await _peak(call, nothing, queries, excess)
    _put("saturated_alone", saturated, figures)
    _put("peak_before", first, figures)
    _put("peak_after", second, figures)
    _put("overloaded", seen, figures)
    peak = (first.goodput + second.goodput) / 2
    slow = percentile([*first.admitted.times_ms, *second.admitted.times_ms], 95)
    figures.put("goodput_pct_of_peak", 100 * seen.goodput / peak, "percent")
    figures.put("generator_cpu_pct", 100 * used / seen.admitted.wall_s, "percent of a core")
    figures.put("admitted_p95_ms", seen.admitted.percentile(95), "ms")
    figures.put("saturation_p95_ms", slow, "ms")
    figures.put("rejected", len(seen.refused_ms), "calls")
    figures.put("rejected_without_retry_info", seen.without_retry_info, "calls")
    figures.put("failed", seen.others.total(), "calls")
    figures.put("rss_growth_mib", grown / 2**20, "MiB")


async def _measure_silent(
    call: Call, queries: Iterator[str], stack: LocalStack, figures: Figures
) -> None:
    """Measures one caller while the orchestrator and the gateway have half of the silent connections each."""
    raise_open_files_limit()
    async with (
        _silent(_SILENT // 2, stack.addresses["agent_orchestrator"]) as first,
        _silent(_SILENT - _SILENT // 2, stack.addresses["gateway"]) as second,
    ):
        figures.put("silent_connections", first + second, "connections")
        seen = _Seen()
        began = time.perf_counter()
        while time.perf_counter() < began + _SILENT_SECONDS:
            await _ask(call, next(queries), seen)
        seen.admitted.wall_s = time.perf_counter() - began
    figures.put("silent_p95_ms", seen.admitted.percentile(95), "ms")
    figures.put("silent_failed", seen.others.total() + len(seen.refused_ms), "calls")


@contextlib.asynccontextmanager
async def _silent(count: int, address: str) -> AsyncIterator[int]:
    """Opens connections that send nothing; yields how many were accepted."""
    host, _, port = address.rpartition(":")
    loop = asyncio.get_running_loop()
    with contextlib.ExitStack() as stack:
        made = 0
        for _ in range(count):
            one = stack.enter_context(socket.socket())
            one.setblocking(False)
            with contextlib.suppress(OSError):
                await asyncio.wait_for(loop.sock_connect(one, (host, int(port))), 5)
                made += 1
        yield made


async def _peak(call: Call, nothing: Call, queries: Iterator[str], excess: float) -> _Seen:
    """Measures the saturating callers while the excess calls go to the endpoint that does nothing."""
    excess_load = asyncio.create_task(_open(nothing, queries, excess, _PEAK_SECONDS))
    try:
        return await _closed(call, queries, _PEAK_SECONDS)
    finally:
        await excess_load


async def _closed(call: Call, queries: Iterator[str], seconds: float) -> _Seen:
    """Runs a closed loop: callers with one outstanding call each."""
    seen = _Seen()
    began = time.perf_counter()

    async def caller() -> None:
        while time.perf_counter() < began + seconds:
            await _ask(call, next(queries), seen)

    async with asyncio.TaskGroup() as group:
        for _ in range(_SATURATING):
            group.create_task(caller())
    seen.admitted.wall_s = time.perf_counter() - began
    return seen


async def _open(call: Call, queries: Iterator[str], rate: float, seconds: float) -> _Seen:
    """Runs an open loop: `rate` calls per second, regardless of outstanding ones."""
    seen = _Seen()
    began = time.perf_counter()
    sent = 0
    async with asyncio.TaskGroup() as group:
        while (passed := time.perf_counter() - began) < seconds:
            while sent < passed * rate:
                group.create_task(_ask(call, next(queries), seen))
                sent += 1
            await asyncio.sleep(1 / rate)
        seen.admitted.wall_s = time.perf_counter() - began
    return seen


async def _ask(call: Call, text: str, seen: _Seen) -> None:
    began = time.perf_counter()
    try:
        answer = await call(text)
    except grpc.aio.AioRpcError as error:
        _record_failure(error, began, seen)
    else:
        seen.admitted.times_ms.append((time.perf_counter() - began) * 1000)
        _record_legs(answer, seen)


def _record_legs(answer: object, seen: _Seen) -> None:
    if isinstance(answer, dict) and not all(has_searched(answer, leg) for leg in answer):
        seen.others[describe(answer)] += 1
        seen.partial += 1


def _record_failure(error: grpc.aio.AioRpcError, began: float, seen: _Seen) -> None:
    if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
        seen.others[error.code().name] += 1
        return
    seen.refused_ms.append((time.perf_counter() - began) * 1000)
    seen.without_retry_info += not failure_of(error).retry_after


def _memory(stack: LocalStack) -> int:
    """Returns the resident bytes of Braid's processes."""
    pids = [stack.pid(name) for name in stack.addresses]
    return sum(psutil.Process(pid).memory_info().rss for pid in pids if pid is not None)


def _seconds(times: object) -> float:
    user, system = times[:2]  # type: ignore[index] # a named tuple
    return float(user + system)


def _put(name: str, seen: _Seen, figures: Figures) -> None:
    if not seen.goodput:
        raise MeasureError(f"{name}: nobody had a whole answer: {seen.others}")
    for ended, times in seen.others.items():
        note(f"{name}: {times} times {ended}")
    figures.put(f"{name}_goodput", seen.goodput, "queries/s")
    figures.put(f"{name}_p50_ms", seen.admitted.percentile(50), "ms")
    figures.put(f"{name}_p95_ms", seen.admitted.percentile(95), "ms")
    figures.put(f"{name}_refused", len(seen.refused_ms), "calls")
    if seen.refused_ms:
        figures.put(f"{name}_refused_p95_ms", percentile(seen.refused_ms, 95), "ms")
