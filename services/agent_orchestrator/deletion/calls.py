"""DeleteDocument: records the intent, and waits for the receipt as long as the caller does."""

from __future__ import annotations

import asyncio

from braid.agent.v1 import ingest_pb2
from services.agent_orchestrator.consistency.inventories import VectorInventory
from services.agent_orchestrator.deletion.store import DeletionStore
from services.agent_orchestrator.jobs.messages import job_message, removed_rows
from services.agent_orchestrator.jobs.records import JobRecord
from services.agent_orchestrator.jobs.watching import Watchers
from services.runtime.context import current_call, remaining
from services.runtime.errors import NotFoundError

# Kept back from the caller's deadline for the answer's way.
MARGIN_SECONDS = 0.25


class Deletions:
    """Deletions that callers ask for."""

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
        """The receipt, or the job as it stands when the caller's time is over. NotFoundError for no such document."""
        call = current_call()
        job = await self._store.running(call.space, document_id)
        if job is None:
            await self._require(call.space, document_id)
            job = await self._store.accept(call, document_id)
        job = await self._watched(job)
        return ingest_pb2.DeleteDocumentResponse(removed=removed_rows(job), job=job_message(job))

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
            pass  # it goes on without the caller
        return job
