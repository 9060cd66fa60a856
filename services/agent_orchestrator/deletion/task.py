"""A deletion's way through both stores. Each step is done once under the job's id, however often it is repeated."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from braid.common.v1 import errors_pb2
from services.agent_orchestrator.consistency.inventories import GraphInventory
from services.agent_orchestrator.deletion.store import DeletionStore, Rows
from services.agent_orchestrator.ingest.turns import WaitingError
from services.agent_orchestrator.jobs.tasks import Task
from services.agent_orchestrator.tiers import VectorTier
from services.runtime.errors import BraidError

POSTGRESQL = "postgresql"
NEO4J = "neo4j"
LOOK_SECONDS = 0.1
# A worker's place is not kept for longer: the job comes again.
PATIENCE_SECONDS = 2.0
AGAIN_SECONDS = 1.0
_GRAPH_KINDS = (
    "episodes",
    "facts",
    "local_facts",
    "mentions",
    "entities",
    "findings",
    "fact_versions",
)


class DeletionTask:
    """The handler of deletions."""

    def __init__(self, store: DeletionStore, vector: VectorTier, graph: GraphInventory) -> None:
        self._store = store
        self._vector = vector
        self._graph = graph

    async def run(self, task: Task) -> Mapping[str, Any]:
        """Removes the document from where it still is; answers with the receipt."""
        job, progress = task.job, dict(task.job.progress or {})
        if "vector" not in progress:
            await _until(
                lambda: self._store.comes_before(job),
                "what was accepted before is being read or deleted",
            )
            progress = await self._store.leave_vector(task, await self._out_of_vector(task))
        if "graph" not in progress:
            mark = progress["mark"]
            await _until(
                lambda: self._store.is_on_its_way(job, mark),
                "what was accepted before is on its way to the graph",
            )
            removed = await self._out_of_graph(task)
            progress = await self._store.leave_graph(task, progress, removed)
        return {"removed": [*progress["vector"], *progress["graph"]]}

    async def _out_of_vector(self, task: Task) -> Rows:
        try:
            gone = await self._vector.delete(task.job.arguments["document_id"], task.job.id)
        except BraidError as error:
            if error.reason != errors_pb2.ERROR_REASON_NOT_FOUND:
                raise
            return [(POSTGRESQL, "versions", 0), (POSTGRESQL, "chunks", 0)]
        return [
            (POSTGRESQL, "versions", gone.versions_deleted),
            (POSTGRESQL, "chunks", gone.chunks_deleted),
        ]

    async def _out_of_graph(self, task: Task) -> Rows:
        gone = await self._graph.delete_document(task.job.arguments["document_id"], task.job.id)
        return [(NEO4J, kind, getattr(gone, f"{kind}_deleted")) for kind in _GRAPH_KINDS]


async def _until(waits: Callable[[], Awaitable[bool]], reason: str) -> None:
    """Returns when nothing is waited for any more. WaitingError when that takes long."""
    until = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while await waits():
        if asyncio.get_running_loop().time() > until:
            raise WaitingError(reason, AGAIN_SECONDS)
        await asyncio.sleep(LOOK_SECONDS)
