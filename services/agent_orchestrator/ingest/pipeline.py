"""One job from its upload to its end: four stages that overlap, joined by short queues.

The embedder is the slowest by far. While it works on one batch, the next is parsed and checked, the one before is
stored, and the one before that goes into the graph, so that the whole takes little longer than the embedder alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

from services.agent_orchestrator.ingest.jobs import Job
from services.agent_orchestrator.ingest.prepare import Batch, batches
from services.agent_orchestrator.ingest.retries import told
from services.agent_orchestrator.ingest.stages import Stages
from services.runtime.errors import INTERNAL_MESSAGE, BraidError
from services.runtime.telemetry import get_logger

# Batches that wait between two stages: one is ready whenever the next stage is.
WAITING = 1

Queue = asyncio.Queue[Batch | None]
Work = Callable[[Batch], Awaitable[None]]


class Pipeline:
    """Runs jobs, each within the call scope that it was accepted in."""

    def __init__(self, stages: Stages, *, max_message_bytes: int) -> None:
        self._stages = stages
        # What surrounds the documents in a message is small.
        self._max_size = max_message_bytes - 64 * 1024

    async def run(self, job: Job) -> None:
        """Takes the job to its end. Its failure is in the job, not an exception."""
        job.start()
        try:
            await self._run_stages(job)
            job.succeed()
        except Exception as error:  # noqa: BLE001 - whatever it is, the job has an end and says why
            job.fail(_reason(error))

    async def _run_stages(self, job: Job) -> None:
        source = await self._batches(job)
        seen: set[str] = set()
        works: tuple[Work, ...] = (
            lambda batch: self._stages.check(job, batch, seen),
            self._stages.embed,
            lambda batch: self._stages.store(job, batch),
            lambda batch: self._stages.graph(job, batch),
        )
        async with asyncio.TaskGroup() as group:
            queue: Queue = asyncio.Queue(WAITING)
            group.create_task(_read(source, queue))
            for work in works[:-1]:
                following: Queue = asyncio.Queue(WAITING)
                group.create_task(_stage(work, queue, following))
                queue = following
            group.create_task(_stage(works[-1], queue, None))

    async def _batches(self, job: Job) -> Iterator[Batch]:
        if job.upload is None:
            raise RuntimeError("a job is run once")
        dimension = await self._stages.dimension()
        return batches(job.upload, job.call.space, dimension=dimension, max_size=self._max_size)


async def _read(source: Iterator[Batch], target: Queue) -> None:
    """Parsing is work for a thread: the loop goes on serving searches."""
    while (batch := await asyncio.to_thread(next, source, None)) is not None:
        await target.put(batch)
    await target.put(None)


async def _stage(work: Work, source: Queue, target: Queue | None) -> None:
    while (batch := await source.get()) is not None:
        await work(batch)
        if target is not None:
            await target.put(batch)
    if target is not None:
        await target.put(None)


def _reason(error: Exception) -> str:
    """Why a job failed, in words for its caller; what is no expected failure is in the logs alone."""
    leaves = list(_leaves(error))
    expected = [leaf for leaf in leaves if isinstance(leaf, BraidError)]
    if expected:
        return told(expected[0])
    get_logger("ingest").error("job failed", exc_info=error)
    return INTERNAL_MESSAGE


def _leaves(error: Exception) -> Iterator[Exception]:
    if not isinstance(error, ExceptionGroup):
        yield error
        return
    for inner in error.exceptions:
        yield from _leaves(inner)
