"""Measures graph-ready passages per second with one and two workers: several spaces, given vectors."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from deploy.local.stack import LocalStack
from tests.benchmarks.command import Options
from tests.benchmarks.credentials import credential
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.generated import invented_passages
from tests.benchmarks.given_vectors import given_vectors
from tests.benchmarks.harness import channel_to, running_stack
from tests.benchmarks.uploading import Text, ingested

WORKERS = (1, 2)
_SPACES = 4
_PASSAGES = 4_000
_WARMING = 1_000


async def run(options: Options, figures: Figures) -> None:
    """Ingests the same passages with one worker and with two, each on a new stack; `--queries` sets their number."""
    count = options.queries or _PASSAGES
    async with given_vectors(options.seed) as environment:
        rates = []
        for workers in WORKERS:
            note(f"{workers} of {WORKERS[-1]} workers, {_SPACES} spaces side by side")
            async with running_stack(environment=environment, workers=workers) as stack:
                rates.append(await _rate(stack, count, options.seed))
            figures.put(f"graph_ready_per_s@{workers}_workers", rates[-1], "passages/s")
    figures.put("speedup_of_two_workers", rates[-1] / rates[0], "ratio")


async def _rate(stack: LocalStack, count: int, seed: int) -> float:
    await _all_spaces(stack, invented_passages("warming", _WARMING, seed + 1))
    began = time.perf_counter()
    await _all_spaces(stack, invented_passages("measured", count, seed))
    return count / (time.perf_counter() - began)


async def _all_spaces(stack: LocalStack, texts: Sequence[Text]) -> None:
    """Ingests an equal share of the passages into each space concurrently, until all are in the graph."""
    async with channel_to(stack, "agent_orchestrator") as channel, asyncio.TaskGroup() as group:
        for place in range(_SPACES):
            called = credential(stack.data, f"workers-{place}")
            group.create_task(ingested(channel, texts[place::_SPACES], called))
