"""Measures the time until the stack is healthy, and its memory when idle."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

from deploy.local.errors import LocalStackError
from deploy.local.jars import default_cache, neo4j_jars
from deploy.local.progress import ConsoleProgress
from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import temporary_data
from tests.benchmarks.memory import memory_by_program
from tests.benchmarks.processes import started

_IDLE = 10.0
_MIB = 2**20


async def run(options: Options) -> None:
    """Starts on a new folder, stops, and starts again; the second start has warm caches.

    If Neo4j's AOT cache is missing, the first start runs without it and its stop creates it.
    """
    figures = Figures(options.name)
    await _fetch_jars()
    with temporary_data() as data:
        async with _supervisor(data) as (_, seconds):
            figures.put("first_healthy_s", seconds, "s")
        async with _supervisor(data) as (pid, seconds):
            figures.put("healthy_s", seconds, "s")
            note(f"idle for {_IDLE:.0f} s")
            await asyncio.sleep(_IDLE)
            sizes = await asyncio.to_thread(memory_by_program, pid)
    for name, size in sorted(sizes.items()):
        figures.put(f"pss_mib.{name}", size / _MIB, "MiB")
    figures.put("idle_pss_mib", sum(sizes.values()) / _MIB, "MiB")


async def _fetch_jars() -> None:
    with ConsoleProgress() as progress:
        try:
            await neo4j_jars(default_cache(os.environ)).ensure(progress)
        except LocalStackError as error:
            raise MeasureError(str(error)) from error


@contextlib.asynccontextmanager
async def _supervisor(data: Path) -> AsyncIterator[tuple[int, float]]:
    """Runs a supervisor; yields its process id and the seconds until everything was healthy."""
    began = time.perf_counter()
    async with started("tests.benchmarks.supervised", str(data)) as (pid, _):
        yield pid, time.perf_counter() - began
