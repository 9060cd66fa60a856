"""Deletes a document from both stores, or ends it in both. Each step is idempotent under the job's id."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from braid.agent.v1 import ingest_pb2
from braid.common.v1 import errors_pb2
from services.agent_orchestrator.clients.inventories import GraphInventory, VectorInventory
from services.agent_orchestrator.clients.removed_rows import POSTGRESQL, graph_rows, vector_rows
from services.agent_orchestrator.clients.tiers import VectorTier
from services.agent_orchestrator.deletion.store import (
    DeletionStore,
    Progress,
    Rows,
    VectorOutcome,
    keeps_versions,
)
from services.agent_orchestrator.jobs.job_watch import Watchers
from services.agent_orchestrator.jobs.records import JobRecord, job_message, removed_rows
from services.agent_orchestrator.jobs.tasks import Task
from services.agent_orchestrator.jobs.time_slice import WaitingError
from services.runtime.context import current_call, remaining
from services.runtime.errors import BraidError, NotFoundError
from services.runtime.times import to_timestamp

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

    async def run(
        self, document_id: str, *, keep_versions: bool = False
    ) -> ingest_pb2.DeleteDocumentResponse:
        """Returns the receipt, or the unfinished job when the wait is over. Raises NotFoundError if unknown."""
        call = current_call()
        job = await self._store.running(call.space, document_id)
        if job is None or keeps_versions(job) != keep_versions:
            await self._require(call.space, document_id)
            job = await self._store.accept(call, document_id, keep_versions=keep_versions)
        job = await self._watched(job)
        return ingest_pb2.DeleteDocumentResponse(
            document_id=document_id,
            removed=removed_rows(job),
            job=job_message(job),
            end_time=_end_time(job),
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


def _end_time(job: JobRecord) -> Timestamp | None:
    ended = (job.result or {}).get("end_time")
    return to_timestamp(datetime.fromisoformat(ended)) if ended else None


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
        """Deletes the document from the stores that still have it, or ends it there; returns the receipt."""
        job, progress = task.job, dict(task.job.progress or {})
        if "vector" not in progress:
            await _until(
                lambda: self._store.has_earlier_work(job),
                "what was accepted before is being read or deleted",
            )
            progress = await self._store.leave_vector(task, await self._leave_vector(task))
        if "graph" not in progress:
            mark = progress["mark"]
            await _until(
                lambda: self._store.is_pending(job, mark),
                "what was accepted before is on its way to the graph",
            )
            removed = await self._leave_graph(task, progress)
            progress = await self._store.leave_graph(task, progress, removed)
        removed = [*progress["vector"], *progress["graph"]]
        return {"removed": removed, "end_time": progress.get("end_time")}

    async def _leave_vector(self, task: Task) -> VectorOutcome:
        document_id = task.job.arguments["document_id"]
        try:
            if keeps_versions(task.job):
                return VectorOutcome(end_time=await self._vector.end(document_id))
            return VectorOutcome(vector_rows(await self._vector.delete(document_id, task.job.id)))
        except BraidError as error:
            if error.reason != errors_pb2.ERROR_REASON_NOT_FOUND:
                raise
            return VectorOutcome([(POSTGRESQL, "versions", 0), (POSTGRESQL, "chunks", 0)])

    async def _leave_graph(self, task: Task, progress: Progress) -> Rows:
        document_id = task.job.arguments["document_id"]
        if not keeps_versions(task.job):
            return graph_rows(await self._graph.delete_document(document_id, task.job.id))
        if ended := progress.get("end_time"):
            await self._graph.end_document(document_id, datetime.fromisoformat(ended))
        return []


async def _until(waits: Callable[[], Awaitable[bool]], reason: str) -> None:
    """Returns when `waits` is false. Raises WaitingError if that takes longer than PATIENCE_SECONDS."""
    until = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while await waits():
        if asyncio.get_running_loop().time() > until:
            raise WaitingError(reason, AGAIN_SECONDS)
        await asyncio.sleep(LOOK_SECONDS)
