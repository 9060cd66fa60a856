"""Measures memory, processor time and disk of each process, extrapolated to 100,000 chunks and facts."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import httpx2
import numpy as np
import psutil

from deploy.local.stack import LocalStack
from tests.benchmarks.command import MeasureError, Options, UsageError
from tests.benchmarks.cpu import Meter
from tests.benchmarks.credentials import LOCAL_SPACE
from tests.benchmarks.fact_loading import load_facts
from tests.benchmarks.fact_rows import fact_rows
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.generated import invented_sentences
from tests.benchmarks.harness import bar, running_stack
from tests.benchmarks.loading import Passage, store
from tests.benchmarks.memory import memory_by_program
from tests.benchmarks.sentences import MODEL, Matrix

_COUNT = 20_000
_UNIT = 100_000
_DIMENSION = 384
# About 120 words per chunk.
_SENTENCES_PER_CHUNK = 10
_SEARCHES, _CALLERS, _WARM_UP = 400, 2, 40
_SAMPLE_SECONDS = 2.0
_TIMEOUT = 30.0
_LIMIT_SECONDS = 600.0
_MIB = 1024 * 1024
_TIERS = ("vector_search", "graph_query", "agent_orchestrator", "agent_worker", "gateway")
_STORES = ("postgres", "neo4j")
# Logs whose size does not depend on the stored data.
_LOG_FOLDERS = {"pg_wal", "transactions", "logs"}

Sizes = dict[str, float]


async def run(options: Options) -> None:
    """Stores 20,000 chunks and as many facts, or the number in `--mode`; measures after half of them and after all.

    Raises MeasureError if it takes more than ten minutes.
    """
    count = _count(options)
    figures = Figures(options.name)
    note(
        f"measured with {count // 2} and {count} chunks and facts, counted up to {_UNIT} along a line"
    )
    limit = asyncio.timeout(_LIMIT_SECONDS)
    try:
        async with limit, running_stack() as stack:
            await _measure(stack, options, figures, count)
    except TimeoutError:
        if not limit.expired():
            raise
        raise MeasureError(
            f"not done within {_LIMIT_SECONDS:.0f} s: try MODE={count // 4}"
        ) from None


async def _measure(stack: LocalStack, options: Options, figures: Figures, count: int) -> None:
    async with _Peaks(stack) as peaks:
        rest, empty = _memory(stack), _disk(stack)
        rows, vectors = fact_rows(options, count), _vectors(options.seed + 1, count)
        passages = list(_passages(options.seed, count))
        half = slice(None, count // 2)
        await store(stack, passages[half], model=MODEL)
        await load_facts(stack, rows[half], vectors[half], LOCAL_SPACE)
        await _measure_searches(stack, options)
        smaller = _memory(stack)
        rest_of = slice(count // 2, None)
        cost = _Cost(stack)
        await store(stack, passages[rest_of], model=MODEL)
        _put_cost(figures, "chunks", cost, count - count // 2)
        cost = _Cost(stack)
        await load_facts(stack, rows[rest_of], vectors[rest_of], LOCAL_SPACE)
        _put_cost(figures, "facts", cost, count - count // 2)
        searched = await _measure_searches(stack, options)
        larger = _memory(stack)
        for name in (*_TIERS, *_STORES):
            sizes = {count // 2: smaller[name], count: larger[name]}
            figures.put(f"memory_mib.{name}.empty", rest[name], "MiB")
            for size, mib in sizes.items():
                figures.put(f"memory_mib.{name}.{size}", mib, "MiB")
            figures.put(f"memory_mib.{name}.peak", max(peaks.of(name), larger[name]), "MiB")
            figures.put(f"memory_mib.{name}.at_100k", counted_up(sizes, _UNIT), "MiB")
            figures.put(f"cores_for_10_searches_a_second.{name}", 10 * searched[name], "cores")
        await stack.stop_process("neo4j")  # so that it writes its memory to disk
        for name, what in zip(_STORES, ("chunks", "facts"), strict=True):
            written = (_disk(stack)[name] - empty[name]) * _UNIT / count
            figures.put(f"disk_mib_per_100k_{what}.{name}", written, "MiB")


def counted_up(sizes: Mapping[int, float], size: int) -> float:
    """Extrapolates linearly from two sizes to `size`; returns at least the value of the larger one."""
    (less, low), (more, high) = sorted(sizes.items())
    return high + max(0.0, high - low) * (size - more) / (more - less)


def _count(options: Options) -> int:
    if options.mode == "all":
        return _COUNT
    if not options.mode.isdecimal() or int(options.mode) < 1_000:
        raise UsageError("--mode takes how many chunks and facts are stored, at least 1000")
    return int(options.mode)


def _passages(seed: int, count: int) -> Iterator[Passage]:
    """Yields generated texts with random vectors, which need as much space and indexing time as real ones."""
    texts = invented_sentences(seed)
    for row, vector in enumerate(_vectors(seed, count)):
        text = " ".join(itertools.islice(texts, _SENTENCES_PER_CHUNK))
        yield Passage(f"d{row}", f"Document {row}", text, vector)


def _vectors(seed: int, count: int) -> Matrix:
    rows = np.random.default_rng(seed).standard_normal((count, _DIMENSION)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


async def _measure_searches(stack: LocalStack, options: Options) -> dict[str, float]:
    """Returns the processor seconds of one comprehensive search over HTTP, by process."""
    texts = itertools.islice(invented_sentences(options.seed + 1), _WARM_UP + _SEARCHES)
    questions = [" ".join(text.split()[:6]) for text in texts]
    address = stack.addresses["gateway"]
    async with httpx2.AsyncClient(base_url=f"http://{address}", timeout=_TIMEOUT) as client:
        await _ask(client, questions[:_WARM_UP])
        cost = _Cost(stack)
        await _ask(client, questions[_WARM_UP:])
    return {name: seconds / _SEARCHES for name, seconds in cost.seconds().items()}


async def _ask(client: httpx2.AsyncClient, questions: Sequence[str]) -> None:
    left, done = iter(questions), itertools.count(1)
    with bar("asking", len(questions)) as show:

        async def caller() -> None:
            for question in left:
                answer = await client.post("/api/search/comprehensive", json={"query": question})
                if answer.status_code != httpx2.codes.OK:
                    raise MeasureError(f"a search failed: {answer.text[:200]}")
                show(next(done))

        async with asyncio.TaskGroup() as group:
            for _ in range(_CALLERS):
                group.create_task(caller())


class _Cost:
    """Measures the processor time of each process from its construction on."""

    def __init__(self, stack: LocalStack) -> None:
        self._meters = {name: Meter(_root(stack, name)) for name in (*_TIERS, *_STORES)}

    def seconds(self) -> dict[str, float]:
        """Returns the seconds by process, without processes that ended meanwhile."""
        return {name: meter.seconds() for name, meter in self._meters.items()}


def _put_cost(figures: Figures, what: str, cost: _Cost, count: int) -> None:
    """Prints the cost of each process that used at least a second per 100,000."""
    for name, seconds in cost.seconds().items():
        if seconds * _UNIT / count >= 1:
            figures.put(f"cpu_s_per_100k_{what}.{name}", seconds * _UNIT / count, "s")


class _Peaks:
    """The peak memory of each process, sampled every two seconds."""

    def __init__(self, stack: LocalStack) -> None:
        self._stack = stack
        self._most: Sizes = {}
        self._watching: asyncio.Task[None] | None = None

    def of(self, name: str) -> float:
        """Returns the peak of a process in MiB."""
        return self._most[name]

    async def __aenter__(self) -> _Peaks:
        self._sample()
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_SAMPLE_SECONDS)
            with contextlib.suppress(psutil.NoSuchProcess, MeasureError):
                self._sample()

    def _sample(self) -> None:
        for name, size in _memory(self._stack).items():
            self._most[name] = max(self._most.get(name, 0.0), size)


def _memory(stack: LocalStack) -> Sizes:
    """Returns the MiB by process; pages shared within a process tree count once."""
    return {
        name: sum(memory_by_program(_root(stack, name)).values()) / _MIB
        for name in (*_TIERS, *_STORES)
    }


def _root(stack: LocalStack, name: str) -> int:
    pid = stack.pid(name)
    if pid is None:
        raise MeasureError(f"{name} does not run")
    return pid


def _disk(stack: LocalStack) -> Sizes:
    """Returns the MiB of each store's files, without its logs."""
    return {name: sum(map(_size, _files(stack.data / name))) / _MIB for name in _STORES}


def _files(folder: Path) -> Iterator[Path]:
    for path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _LOG_FOLDERS]
        yield from (Path(path, name) for name in names)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
