"""The contract's IngestService: streams in and out here, the work itself in the modules beside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from braid.agent.v1 import ingest_pb2, ingest_pb2_grpc
from services.agent_orchestrator.deletion.calls import Deletions
from services.agent_orchestrator.ingest.backlog import Backlog
from services.agent_orchestrator.ingest.facts import FactIngestion
from services.agent_orchestrator.ingest.job_lists import JobLists
from services.agent_orchestrator.ingest.uploads import new_upload, receive
from services.agent_orchestrator.jobs.messages import job_message
from services.agent_orchestrator.jobs.store import JobStore
from services.agent_orchestrator.jobs.watching import Watchers
from services.runtime.context import current_call


class IngestServicer(ingest_pb2_grpc.IngestServiceServicer):
    """Uploads, their jobs, facts, and deletion."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        watchers: Watchers,
        backlog: Backlog,
        facts: FactIngestion,
        deletions: Deletions,
        max_upload_bytes: int,
    ) -> None:
        self._jobs = jobs
        self._lists = JobLists(jobs)
        self._watchers = watchers
        self._backlog = backlog
        self._facts = facts
        self._deletions = deletions
        self._max_upload_bytes = max_upload_bytes

    async def IngestDocument(
        self,
        request_iterator: AsyncIterator[ingest_pb2.IngestDocumentRequest],
        _context: Any,
    ) -> ingest_pb2.IngestDocumentResponse:
        """Accepts an upload and answers with its job."""
        place = await self._backlog.enter(current_call().space)
        try:
            upload, count = await receive(request_iterator, place, max_bytes=self._max_upload_bytes)
            # Its hash takes a while for a large one.
            new = await asyncio.to_thread(new_upload, current_call(), upload, count)
            job = await self._jobs.enqueue(new)
            place.accepted()
        finally:
            place.leave()
        return ingest_pb2.IngestDocumentResponse(job=job_message(job))

    async def CheckIngestCapacity(
        self, request: ingest_pb2.CheckIngestCapacityRequest, _context: Any
    ) -> ingest_pb2.CheckIngestCapacityResponse:
        """Whether an upload would be accepted."""
        await self._backlog.check(current_call().space, request.size)
        return ingest_pb2.CheckIngestCapacityResponse()

    async def IngestFacts(
        self,
        request_iterator: AsyncIterator[ingest_pb2.IngestFactsRequest],
        _context: Any,
    ) -> ingest_pb2.IngestFactsResponse:
        """Takes facts into the graph."""
        return await self._facts.run(request_iterator)

    async def GetIngestJob(
        self, request: ingest_pb2.GetIngestJobRequest, _context: Any
    ) -> ingest_pb2.GetIngestJobResponse:
        """A job of the caller's space."""
        job = await self._jobs.get(current_call().space, request.job_id)
        return ingest_pb2.GetIngestJobResponse(job=job_message(job))

    async def WatchIngestJob(
        self, request: ingest_pb2.WatchIngestJobRequest, _context: Any
    ) -> AsyncIterator[ingest_pb2.WatchIngestJobResponse]:
        """A job of the caller's space, until it has ended."""
        async for job in self._watchers.watch(current_call().space, request.job_id):
            yield ingest_pb2.WatchIngestJobResponse(job=job_message(job))

    async def ListIngestJobs(
        self, request: ingest_pb2.ListIngestJobsRequest, _context: Any
    ) -> ingest_pb2.ListIngestJobsResponse:
        """Jobs of the caller's space."""
        return await self._lists.jobs(current_call().space, request)

    async def ListDeadDocuments(
        self, request: ingest_pb2.ListDeadDocumentsRequest, _context: Any
    ) -> ingest_pb2.ListDeadDocumentsResponse:
        """Documents of the caller's space that could not be taken."""
        return await self._lists.dead(current_call().space, request)

    async def CancelIngestJob(
        self, request: ingest_pb2.CancelIngestJobRequest, _context: Any
    ) -> ingest_pb2.CancelIngestJobResponse:
        """Ends a job of the caller's space."""
        job = await self._jobs.cancel(current_call().space, request.job_id)
        return ingest_pb2.CancelIngestJobResponse(job=job_message(job))

    async def RetryIngestJob(
        self, request: ingest_pb2.RetryIngestJobRequest, _context: Any
    ) -> ingest_pb2.RetryIngestJobResponse:
        """Tries a job of the caller's space again."""
        job = await self._jobs.retry(current_call().space, request.job_id)
        return ingest_pb2.RetryIngestJobResponse(job=job_message(job))

    async def DeleteDocument(
        self, request: ingest_pb2.DeleteDocumentRequest, _context: Any
    ) -> ingest_pb2.DeleteDocumentResponse:
        """Removes a document from both stores."""
        return await self._deletions.run(request.document_id)
