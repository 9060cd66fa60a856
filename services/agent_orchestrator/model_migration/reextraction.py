"""Sends every chunk to the graph again, so that a language model that was added later reads it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from services.agent_orchestrator.clients.inventories import VectorInventory, in_parts
from services.agent_orchestrator.clients.model_migration import VectorModels
from services.agent_orchestrator.clients.tiers import GraphTier, VectorTier
from services.agent_orchestrator.ingest.pipeline.episode_retry import (
    EpisodeSender,
    episode_of,
)
from services.agent_orchestrator.jobs.adaptive_batch import AdaptiveBatch
from services.agent_orchestrator.jobs.queue import TASK
from services.agent_orchestrator.jobs.records import Failure
from services.agent_orchestrator.jobs.retries import Retries
from services.agent_orchestrator.jobs.tasks import Counts, Task
from services.agent_orchestrator.jobs.time_slice import WaitingError

CHUNKS_AT_ONCE = 64
SLICE_SECONDS = 10.0


class Reextraction:
    """The handler of jobs of kind `reextract`."""

    def __init__(
        self,
        vector: VectorTier,
        ids: VectorInventory,
        models: VectorModels,
        graph: GraphTier,
        *,
        retries: Retries,
        others_waiting: Callable[[], Awaitable[bool]],
    ) -> None:
        self._vector = vector
        self._ids = ids
        self._models = models
        self._graph = graph
        self._retries = retries
        self._others_waiting = others_waiting

    async def run(self, task: Task) -> Mapping[str, Any]:
        """Sends all chunks by id, from the saved position. Raises WaitingError to let other work go first.

        Chunks without a usable answer of the language model are listed; a retry of the job starts again.
        """
        progress = task.job.progress or {}
        total = await self._retries.run(self._models.chunks)
        done, after = int(progress.get("done", 0)), str(progress.get("after", ""))
        failed = int(progress.get("failed", 0))
        batch_size, began = AdaptiveBatch(CHUNKS_AT_ONCE), asyncio.get_running_loop().time()
        async for refs in in_parts(self._ids.chunks(after), CHUNKS_AT_ONCE):
            dead = await self._give([ref.id for ref in refs], batch_size, done)
            done, failed = done + len(refs), failed + len(dead)
            where = {"done": done, "after": refs[-1].id, "failed": failed}
            await task.save(where, _counts(total, done, failed), dead)
            used = asyncio.get_running_loop().time() - began > SLICE_SECONDS
            if used and await self._others_waiting():
                raise WaitingError("other jobs go first", 0.0)
        return {"chunks": done, "failed": failed}

    async def _give(
        self, ids: list[str], batch_size: AdaptiveBatch, position: int
    ) -> list[Failure]:
        """Sends as many at a time as the graph processes in a few seconds; chunks deleted meanwhile are skipped."""
        places = {one: position + place for place, one in enumerate(ids)}
        sender = EpisodeSender(self._graph, self._retries, batch_size)
        dead: list[Failure] = []
        while ids:
            part, ids = ids[: batch_size.size], ids[batch_size.size :]
            chunks = await self._retries.run(lambda: self._vector.chunks(part))  # noqa: B023
            documents = {chunk.id: chunk.document_id for chunk in chunks}
            refused = await sender.send([episode_of(chunk) for chunk in chunks])
            dead += [
                Failure(places[one], documents[one], TASK, reason)
                for one, reason in refused.items()
            ]
        return dead


def _counts(total: int, done: int, failed: int) -> Counts:
    return Counts(max(total, done), max(total, done), done - failed, failed)
