"""Measures the comprehensive search: cost of the fan-out, behavior while a leg hangs or a backend is unavailable."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice

from tests.benchmarks.callers import compare
from tests.benchmarks.command import MeasureError, Options, UsageError
from tests.benchmarks.corpus import corpus_of
from tests.benchmarks.cpu import Meter
from tests.benchmarks.faults import Drill
from tests.benchmarks.figures import Figures
from tests.benchmarks.generated import new_queries
from tests.benchmarks.hanging import measure_hanging
from tests.benchmarks.harness import bar, running_stack
from tests.benchmarks.hop import cold_hops
from tests.benchmarks.legs import LEGS, Reports, Searches, describe, has_searched, searches
from tests.evals.ingestion import ingest
from tests.evals.metrics import mean, percentile

SHARED = "multihop/hotpot_train100"
_PARTS = ("compare", "hang", "faults")
_ALL = "all"
# The same calls made by the caller itself, as it would without an orchestrator.
_CALLER = "caller"
# The minimum time of the hop to the orchestrator.
_HOP = "bare_hop"
_COMPARED = 500
# The JVM compiles during the first searches; the measurement is about a warm store.
_WARM_UP = 500
_FAULTY = 10_000


async def run(options: Options) -> None:
    """Compares with the slowest leg, then hangs a leg, then stops and starts backends at random."""
    if options.mode not in ("all", *_PARTS):
        raise UsageError(f"--mode takes all, or one of {', '.join(_PARTS)}")
    parts = _PARTS if options.mode == "all" else (options.mode,)
    data = corpus_of(options)
    figures = Figures(options.name)
    queries = new_queries(data, options.seed)
    async with running_stack() as stack, searches(stack) as doors:
        await ingest(stack, data.documents)
        await compare(_asked(doors, defaultdict(list)), islice(queries, _WARM_UP))
        if "compare" in parts:
            await _compare(doors, queries, min(_COMPARED, options.queries or _COMPARED), figures)
        if "hang" in parts:
            await measure_hanging(stack, doors, queries, figures)
        if "faults" in parts:
            count = options.queries or _FAULTY
            drill = Drill(stack, doors, queries, count=count, seed=options.seed)
            await drill.run()
            drill.put(figures)


async def _compare(doors: Searches, queries: Iterator[str], count: int, figures: Figures) -> None:
    """Sends the same texts to every API, and measures each leg within the comprehensive search."""
    within: dict[str, list[float]] = defaultdict(list)
    with bar("the same texts at every door", count) as show:
        samples = await compare(_asked(doors, within), _shown(islice(queries, count), show))
    p50 = {name: sample.percentile(50) for name, sample in samples.items()}
    p50 |= {f"{leg}_leg_within": percentile(times, 50) for leg, times in within.items()}
    for name, each in sorted(p50.items()):
        figures.put("p50_ms" if name == _ALL else f"{name}_p50_ms", each, "ms")
    figures.put("p95_ms", samples[_ALL].percentile(95), "ms")
    figures.put("caller_ratio", p50[_ALL] / p50[_CALLER], "ratio")
    figures.put("p50_ratio", p50[_ALL] / max(p50[leg] for leg in LEGS), "ratio")
    cold = await cold_hops(doors.hop, doors.vector, islice(queries, count))
    figures.put("cold_hop_p50_ms", cold.percentile(50), "ms")
    cpu = await _cpu_ms(doors, list(islice(queries, count)))
    figures.put("cpu_ms", cpu, "ms")
    # A ratio of means, because processor time is a mean. It is the lower bound, with all cores always busy.
    slowest = max(mean(samples[leg].times_ms) for leg in LEGS)
    figures.put("least_ratio", cpu / len(os.sched_getaffinity(0)) / slowest, "ratio")


async def _cpu_ms(doors: Searches, texts: list[str]) -> float:
    """Returns the processor time per comprehensive search in milliseconds, of the whole stack and the caller."""
    meter = Meter(os.getpid())
    for text in texts:
        await doors.comprehensive(text)
    return 1000 * meter.seconds() / len(texts)


def _asked(
    doors: Searches, within: dict[str, list[float]]
) -> dict[str, Callable[[str], Awaitable[object]]]:
    """Returns the calls of each API; `within` collects the milliseconds of legs within the comprehensive search."""

    async def comprehensive(text: str) -> None:
        for leg, took in _within(await doors.comprehensive(text)).items():
            within[leg].append(took)

    return {
        _ALL: comprehensive,
        "vector": doors.vector,
        "graph": doors.graph,
        _CALLER: doors.by_caller,
        _HOP: lambda _text: doors.hop(),
    }


def _shown(texts: Iterator[str], show: Callable[[int], None]) -> Iterator[str]:
    for number, text in enumerate(texts):
        show(number + 1)
        yield text


def _within(reports: Reports) -> dict[str, float]:
    if not all(has_searched(reports, leg) for leg in LEGS):
        raise MeasureError(f"a leg did not look: {describe(reports)}")
    return {name: leg.elapsed.ToTimedelta().total_seconds() * 1000 for name, leg in reports.items()}
