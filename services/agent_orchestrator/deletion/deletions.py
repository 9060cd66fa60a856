"""Deletes a document from both stores. Each step is idempotent under the job's id."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from braid.agent.v1 import ingest_pb2
from braid.common.v1 import errors_pb2
from services.agent_orchestrator.clients.inventories import GraphInventory, VectorInventory
from services.agent_orchestrator.clients.removed_rows import POSTGRESQL, graph_rows, vector_rows
from services.agent_orchestrator.clients.tiers import VectorTier
from services.agent_orchestrator.deletion.store import DeletionStore, Rows
from services.agent_orchestrator.jobs.job_watch import Watchers
from services.agent_orchestrator.jobs.records import JobRecord, job_message, removed_rows
from services.agent_orchestrator.jobs.tasks import Task
from services.agent_orchestrator.jobs.time_slice import WaitingError
from services.runtime.context import current_call, remaining
from services.runtime.errors import BraidError, NotFoundError

# Part of the caller's deadline reserved for sending the answer.
MARGIN_SECONDS = 0.25


class Deletions:
    """Accepts deletions and waits for their results."""

    def __init__(
        self,
        store: DeletionStore,
        vector: VectorInventory,
        watchers: Watchers,
        *,
        wait_seconds: float,
    ) -> None:
        self._store = store
        self._vector = vector
        self._watchers = watchers
        self._wait_seconds = wait_seconds

    async def run(self, document_id: str) -> ingest_pb2.DeleteDocumentResponse:
        """Returns the receipt, or the unfinished job when the wait is over. Raises NotFoundError if unknown."""
        call = current_call()
        job = await self._store.running(call.space, document_id)
        if job is None:
            await self._require(call.space, document_id)
            job = await self._store.accept(call, document_id)
        job = await self._watched(job)
        return ingest_pb2.DeleteDocumentResponse(
            document_id=document_id, removed=removed_rows(job), job=job_message(job)
        )

    async def _require(self, space: str, document_id: str) -> None:
        if await self._store.expected(space, document_id):
            return
        if not await self._vector.find_documents([document_id]):
            raise NotFoundError("document")

    async def _watched(self, job: JobRecord) -> JobRecord:
        seconds = remaining(self._wait_seconds + MARGIN_SECONDS) - MARGIN_SECONDS
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                async for seen in self._watchers.watch(job.space, job.id):
                    job = seen
        except TimeoutError:
            pass  # it continues without the caller
        return job


LOOK_SECONDS = 0.1
# Maximum seconds of waiting in a worker: the job is retried later.
PATIENCE_SECONDS = 2.0
AGAIN_SECONDS = 1.0


class DeletionTask:
    """The handler of deletion jobs."""

    def __init__(self, store: DeletionStore, vector: VectorTier, graph: GraphInventory) -> None:
        self._store = store
        self._vector = vector
        self._graph = graph

    async def run(self, task: Task) -> Mapping[str, Any]:
        """Deletes the document from the stores that still have it; returns the receipt."""
        job, progress = task.job, dict(task.job.progress or {})
        if "vector" not in progress:
            await _until(
                lambda: self._store.has_earlier_work(job),
                "what was accepted before is being read or deleted",
            )
            progress = await self._store.leave_vector(task, await self._delete_from_vector(task))
        if "graph" not in progress:
            mark = progress["mark"]
            await _until(
                lambda: self._store.is_pending(job, mark),
                "what was accepted before is on its way to the graph",
            )
            removed = await self._delete_from_graph(task)
            progress = await self._store.leave_graph(task, progress, removed)
        return {"removed": [*progress["vector"], *progress["graph"]]}

    async def _delete_from_vector(self, task: Task) -> Rows:
        try:
            gone = await self._vector.delete(task.job.arguments["document_id"], task.job.id)
        except BraidError as error:
            if error.reason != errors_pb2.ERROR_REASON_NOT_FOUND:
                raise
            return [(POSTGRESQL, "versions", 0), (POSTGRESQL, "chunks", 0)]
        return vector_rows(gone)

    async def _delete_from_graph(self, task: Task) -> Rows:
        gone = await self._graph.delete_document(task.job.arguments["document_id"], task.job.id)
        return graph_rows(gone)


async def _until(waits: Callable[[], Awaitable[bool]], reason: str) -> None:
    """Returns when `waits` is false. Raises WaitingError if that takes longer than PATIENCE_SECONDS."""
    until = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while await waits():
        if asyncio.get_running_loop().time() > until:
            raise WaitingError(reason, AGAIN_SECONDS)
        await asyncio.sleep(LOOK_SECONDS)
