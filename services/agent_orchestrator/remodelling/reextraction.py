"""Every chunk given to the graph again: what a language model that was added later has not read, it reads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from services.agent_orchestrator.consistency.checking import in_parts
from services.agent_orchestrator.consistency.inventories import VectorInventory
from services.agent_orchestrator.consistency.repairing import episode_of
from services.agent_orchestrator.ingest.pace import Pace
from services.agent_orchestrator.ingest.retries import Retries
from services.agent_orchestrator.ingest.turns import WaitingError
from services.agent_orchestrator.jobs.tasks import Counts, Task
from services.agent_orchestrator.remodelling.tiers import VectorModels
from services.agent_orchestrator.tiers import GraphTier, VectorTier

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
        others_wait: Callable[[], Awaitable[bool]],
    ) -> None:
        self._vector = vector
        self._ids = ids
        self._models = models
        self._graph = graph
        self._retries = retries
        self._others_wait = others_wait

    async def run(self, task: Task) -> Mapping[str, Any]:
        """All chunks by id, from where the job was ended. WaitingError to let other work go first."""
        progress = task.job.progress or {}
        total = await self._retries.run(self._models.chunks)
        done, after = int(progress.get("done", 0)), str(progress.get("after", ""))
        pace, began = Pace(CHUNKS_AT_ONCE), asyncio.get_running_loop().time()
        async for refs in in_parts(self._ids.chunks(after), CHUNKS_AT_ONCE):
            await self._give([ref.id for ref in refs], pace)
            done += len(refs)
            counts = Counts(max(total, done), max(total, done), done)
            await task.save({"done": done, "after": refs[-1].id}, counts)
            used = asyncio.get_running_loop().time() - began > SLICE_SECONDS
            if used and await self._others_wait():
                raise WaitingError("other jobs go first", 0.0)
        return {"chunks": done}

    async def _give(self, ids: list[str], pace: Pace) -> None:
        """As many at a time as the graph takes in a few seconds; chunks deleted meanwhile are passed over."""
        while ids:
            part, ids = ids[: pace.size], ids[pace.size :]
            chunks = await self._retries.run(lambda: self._vector.chunks(part))  # noqa: B023
            if not chunks:
                continue
            episodes = [episode_of(chunk) for chunk in chunks]
            with pace.measured():
                await self._retries.run(lambda: self._graph.add_episodes(episodes))  # noqa: B023
