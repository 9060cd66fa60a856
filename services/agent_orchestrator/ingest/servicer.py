"""IngestService: uploads, facts and deletions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from braid.agent.v1 import ingest_pb2, ingest_pb2_grpc
from services.agent_orchestrator.deletion.deletions import Deletions
from services.agent_orchestrator.ingest.backlog import Backlog
from services.agent_orchestrator.ingest.document_limit import DocumentLimit
from services.agent_orchestrator.ingest.facts import FactIngestion
from services.agent_orchestrator.ingest.uploads import new_upload, receive
from services.agent_orchestrator.jobs.records import job_message
from services.agent_orchestrator.jobs.store import JobStore
from services.runtime.context import current_call


class IngestServicer(ingest_pb2_grpc.IngestServiceServicer):
    """Uploads, facts and deletions."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        backlog: Backlog,
        document_limit: DocumentLimit,
        facts: FactIngestion,
        deletions: Deletions,
        max_upload_bytes: int,
    ) -> None:
        self._jobs = jobs
        self._backlog = backlog
        self._document_limit = document_limit
        self._facts = facts
        self._deletions = deletions
        self._max_upload_bytes = max_upload_bytes

    async def IngestDocument(
        self,
        request_iterator: AsyncIterator[ingest_pb2.IngestDocumentRequest],
        _context: Any,
    ) -> ingest_pb2.IngestDocumentResponse:
        """Accepts an upload and returns its job."""
        place = await self._backlog.enter(current_call().space)
        try:
            upload, count = await receive(request_iterator, place, max_bytes=self._max_upload_bytes)
            await self._document_limit.check(current_call().space, upload.document_id, count)
            # Hashing a large upload takes a while.
            new = await asyncio.to_thread(new_upload, current_call(), upload, count)
            job = await self._jobs.enqueue(new)
            place.accepted()
        finally:
            place.leave()
        return ingest_pb2.IngestDocumentResponse(job=job_message(job))

    async def CheckIngestCapacity(
        self, request: ingest_pb2.CheckIngestCapacityRequest, _context: Any
    ) -> ingest_pb2.CheckIngestCapacityResponse:
        """Returns whether an upload would be accepted."""
        await self._backlog.check(current_call().space, request.size)
        return ingest_pb2.CheckIngestCapacityResponse()

    async def IngestFacts(
        self,
        request_iterator: AsyncIterator[ingest_pb2.IngestFactsRequest],
        _context: Any,
    ) -> ingest_pb2.IngestFactsResponse:
        """Adds facts to the graph."""
        return await self._facts.run(request_iterator)

    async def DeleteDocument(
        self, request: ingest_pb2.DeleteDocumentRequest, _context: Any
    ) -> ingest_pb2.DeleteDocumentResponse:
        """Deletes a document from both stores, or ends it."""
        return await self._deletions.run(request.document_id, keep_versions=request.keep_versions)
