"""Runs a mixed load of searches, writes and questions over HTTP; measures errors and memory growth."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import httpx2
import psutil

from deploy.local.stack import LocalStack
from tests.benchmarks.command import MeasureError, Options, UsageError
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.generated import generated, new_queries
from tests.benchmarks.harness import running_stack
from tests.evals.ingestion import ingest

_SECONDS = 600.0
_LEAST_SECONDS = 30.0
# Growth is measured from here on, when caches and pools are full.
_SETTLED_SECONDS = 120.0
_SAMPLE_SECONDS = 5.0
# The number of samples whose median is compared, because a single one may be a peak.
_SAMPLES = 6
_PASSAGES = 600
# Documents are rewritten, so that the corpus keeps its size.
_WRITTEN = 60
# Without a pause, cheap hybrid searches would take most of the machine.
_PAUSE_SECONDS = {"hybrid": 0.05, "write": 0.5, "ask": 0.5}
_TIMEOUT = 60.0
_JOB_SECONDS = 120.0
_MIB = 1024 * 1024

Call = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class _Load:
    """Counts of calls, and of errors by reason."""

    calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)

    async def keep_calling(self, name: str, call: Call, until: float) -> None:
        """Makes one call after another."""
        while time.monotonic() < until:
            self.calls[name] += 1
            try:
                await call()
            except (httpx2.HTTPError, _FailedError) as error:
                self.errors[f"{name}: {type(error).__name__} {error}"] += 1
            await asyncio.sleep(_PAUSE_SECONDS.get(name, 0.0))


class _FailedError(Exception):
    """A response that is empty or incomplete."""


async def run(options: Options) -> None:
    """Runs the load for ten minutes, or for the number of seconds in `--mode`."""
    seconds = _seconds(options)
    figures = Figures(options.name)
    data = generated(_PASSAGES)
    queries = new_queries(data, options.seed)
    async with running_stack() as stack:
        await ingest(stack, data.documents)
        load, samples = _Load(), list[Mapping[str, float]]()
        async with _client(stack) as client:
            until = time.monotonic() + seconds
            async with asyncio.TaskGroup() as group:
                for name, call in _calls(client, queries):
                    group.create_task(load.keep_calling(name, call, until))
                group.create_task(_watch(stack, samples, until))
            await _await_jobs(client, load)
        _put(load, samples, seconds, figures)


def _seconds(options: Options) -> float:
    if options.mode == "all":
        return _SECONDS
    if not options.mode.isdecimal() or int(options.mode) < _LEAST_SECONDS:
        raise UsageError(f"--mode takes seconds, at least {_LEAST_SECONDS:.0f}")
    return float(options.mode)


@contextlib.asynccontextmanager
async def _client(stack: LocalStack) -> AsyncIterator[httpx2.AsyncClient]:
    address = stack.addresses["gateway"]
    async with httpx2.AsyncClient(base_url=f"http://{address}", timeout=_TIMEOUT) as client:
        yield client


def _calls(client: httpx2.AsyncClient, queries: Iterator[str]) -> list[tuple[str, Call]]:
    """Returns the callers with their names."""
    numbers = itertools.count()

    async def search(path: str) -> None:
        answer = await _post(client, path, {"query": next(queries), "limit": 10})
        for leg in answer.get("legs", []):
            if leg["status"] not in {"OK", "NO_MATCH", "DISABLED"}:
                raise _FailedError(f"leg {leg['name']} {leg['status']}")

    async def write() -> None:
        number = next(numbers)
        text = f"The crane {number} of the harbour was inspected by Elin Lund and Nils Falk."
        document = {"id": f"soak{number % _WRITTEN}", "title": f"Crane {number}", "text": text}
        await _post(client, "/api/documents", document)

    async def ask() -> None:
        answer = await _post(client, "/api/chat", {"question": next(queries)})
        if not answer.get("answer"):
            raise _FailedError("no answer")

    return [
        ("hybrid", lambda: search("/api/search/hybrid")),
        ("hybrid", lambda: search("/api/search/hybrid")),
        ("comprehensive", lambda: search("/api/search/comprehensive")),
        ("graph", lambda: search("/api/search/graph")),
        ("write", write),
        ("ask", ask),
    ]


async def _post(client: httpx2.AsyncClient, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    response = await client.post(path, json=body)
    response.raise_for_status()
    answer: dict[str, Any] = response.json()
    return answer


async def _watch(stack: LocalStack, samples: list[Mapping[str, float]], until: float) -> None:
    while time.monotonic() < until:
        await asyncio.sleep(_SAMPLE_SECONDS)
        samples.append({name: _resident(stack, name) for name in stack.addresses})


def _resident(stack: LocalStack, name: str) -> float:
    """Returns the resident MiB of a process and its descendants."""
    pid = stack.pid(name)
    if pid is None:
        raise MeasureError(f"{name} has ended")
    process = psutil.Process(pid)
    resident = 0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            resident += one.memory_info().rss
    return resident / _MIB


async def _await_jobs(client: httpx2.AsyncClient, load: _Load) -> None:
    """Waits for the jobs of writes; a job that fails or does not end is an error."""
    until = time.monotonic() + _JOB_SECONDS
    while await _jobs(client, "QUEUED", "RUNNING"):
        if time.monotonic() > until:
            load.errors["jobs that did not end"] += 1
            return
        await asyncio.sleep(1)
    load.errors["failed jobs"] += len(await _jobs(client, "FAILED"))
    load.errors += Counter()  # removes zero counts


async def _jobs(client: httpx2.AsyncClient, *states: str) -> list[Any]:
    response = await client.get("/api/jobs", params={"state": list(states), "limit": 100})
    response.raise_for_status()
    found: list[Any] = response.json()["jobs"]
    return found


def _put(load: _Load, samples: list[Mapping[str, float]], seconds: float, figures: Figures) -> None:
    for name, count in load.calls.items():
        figures.put(f"calls.{name}", count, "calls")
    for reason, count in load.errors.most_common():
        note(f"{count} times {reason}")
    settled = min(_SETTLED_SECONDS, seconds / 3)
    later = samples[int(settled / _SAMPLE_SECONDS) :]
    first, last = later[:_SAMPLES], later[-_SAMPLES:]
    for name in samples[0]:
        before, after = (median(sample[name] for sample in part) for part in (first, last))
        figures.put(f"rss_mib.{name}", after, "MiB")
        note(f"{name}: {before:.0f} MiB, then {after:.0f} MiB")
    before, after = (median(sum(sample.values()) for sample in part) for part in (first, last))
    figures.put("rss_growth_pct", 100 * (after / before - 1), "percent")
    figures.put("errors", load.errors.total(), "errors")
