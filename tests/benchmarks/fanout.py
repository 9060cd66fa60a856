"""What asking all tiers at once costs, and how it behaves while a leg hangs or a backend is away."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from tests.benchmarks.callers import Sample, timed
from tests.benchmarks.command import MeasureError, Options, UsageError
from tests.benchmarks.corpus import corpus_of
from tests.benchmarks.faults import Drill
from tests.benchmarks.figures import Figures
from tests.benchmarks.generated import new_queries
from tests.benchmarks.hanging import measure_hanging
from tests.benchmarks.harness import bar, running_stack
from tests.benchmarks.legs import LEGS, Reports, Searches, looked, searches, told
from tests.evals.ingestion import ingest

_PARTS = ("compare", "hang", "faults")
_ALL = "all"
# Both tiers asked by the caller itself, at once: what they cost each other, without what is between.
_BOTH = "both"
# What the hop to the orchestrator takes at the least.
_HOP = "bare_hop"
_DOORS = (_ALL, *LEGS, _BOTH, _HOP)
_COMPARED = 500
# The Java machine compiles for some thousand searches; what is measured is a store that has been running.
_WARM_UP = 500
_FAULTY = 10_000


async def run(options: Options) -> None:
    """Compare with the slowest leg, then hang a leg, then stop and start backends at random."""
    if options.mode not in ("all", *_PARTS):
        raise UsageError(f"--mode takes all, or one of {', '.join(_PARTS)}")
    parts = _PARTS if options.mode == "all" else (options.mode,)
    data = corpus_of(options)
    figures = Figures(options.name)
    queries = new_queries(data, options.seed)
    async with running_stack() as stack, searches(stack) as doors:
        await ingest(stack, data.documents)
        for text in islice(queries, _WARM_UP):
            await _ask_all(doors, text, 0)
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
    """Each text goes to every door, each time in another order: none profits from warm pages."""
    samples: dict[str, Sample] = defaultdict(Sample)
    with bar("the same text at every door", count) as show:
        for number, text in enumerate(islice(queries, count)):
            for name, took in (await _ask_all(doors, text, number)).items():
                samples[name].times_ms.append(took)
            show(number + 1)
    p50 = {name: sample.percentile(50) for name, sample in samples.items()}
    for name, each in sorted(p50.items()):
        figures.put("p50_ms" if name == _ALL else f"{name}_p50_ms", each, "ms")
    figures.put("p95_ms", samples[_ALL].percentile(95), "ms")
    figures.put("p50_ratio", p50[_ALL] / max(p50[leg] for leg in LEGS), "ratio")


async def _ask_all(doors: Searches, text: str, turn: int) -> dict[str, float]:
    """Milliseconds at each door, and what each leg took within the comprehensive search."""
    took: dict[str, float] = {}
    for step in range(len(_DOORS)):
        name = _DOORS[(turn + step) % len(_DOORS)]
        if name == _ALL:
            reports, took[name] = await timed(doors.comprehensive(text))
            took |= _within(reports)
        elif name == _BOTH:
            _, took[name] = await timed(asyncio.gather(doors.vector(text), doors.graph(text)))
        elif name == _HOP:
            _, took[name] = await timed(doors.hop())
        elif name == "vector":
            _, took[name] = await timed(doors.vector(text))
        else:
            _, took[name] = await timed(doors.graph(text))
    return took


def _within(reports: Reports) -> dict[str, float]:
    if not all(looked(reports, leg) for leg in LEGS):
        raise MeasureError(f"a leg did not look: {told(reports)}")
    return {
        f"{name}_leg_within": leg.took.ToTimedelta().total_seconds() * 1000
        for name, leg in reports.items()
    }
