"""The job that deletes a space: the tiers first, the orchestrator's own rows with the receipt last.

Each tier keeps what it removed under the job's id: a job that was interrupted goes on, and its receipt counts it all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from services.agent_orchestrator.clients.spaces import SpaceTiers
from services.agent_orchestrator.jobs.tasks import Task
from services.agent_orchestrator.jobs.time_slice import WaitingError
from services.agent_orchestrator.spaces.store import SpaceStore
from services.runtime.context import call_scope, current_call

AGAIN_SECONDS = 1.0


class SpaceDeletion:
    """The handler of jobs of kind `delete_space`."""

    def __init__(
        self,
        store: SpaceStore,
        tiers: SpaceTiers,
        partitions: Callable[[str], Awaitable[Sequence[str]]],
    ) -> None:
        """`partitions` returns a space's further partitions of the tiers: one for each user with memories."""
        self._store = store
        self._tiers = tiers
        self._partitions = partitions

    async def run(self, task: Task) -> Mapping[str, Any]:
        """Deletes everything; returns the receipt. Raises WaitingError while earlier work of the space goes on."""
        if task.job.progress:
            return task.job.progress
        if await self._store.has_earlier_work(task.job):
            raise WaitingError("what was accepted before is being processed", AGAIN_SECONDS)
        space = task.job.space
        removed: Counter[tuple[str, str]] = Counter()
        for partition in (*await self._partitions(space), space):
            with call_scope(replace(current_call(), space=partition)):
                for store, kind, count in await self._tiers.delete(task.job.id):
                    removed[store, kind] += count
        rows = [(store, kind, count) for (store, kind), count in removed.items()]
        return {"removed": await self._store.delete_rows(task, rows)}
