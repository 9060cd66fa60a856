"""The contract's IngestService: streams in and out here, the work itself in the modules beside."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from braid.agent.v1 import ingest_pb2, ingest_pb2_grpc
from services.agent_orchestrator.ingest.backlog import Backlog
from services.agent_orchestrator.ingest.deletion import Deletion
from services.agent_orchestrator.ingest.facts import FactIngestion
from services.agent_orchestrator.ingest.jobs import Job, JobBoard
from services.agent_orchestrator.ingest.runner import JobRunner
from services.agent_orchestrator.ingest.uploads import receive
from services.runtime.context import current_call


class IngestServicer(ingest_pb2_grpc.IngestServiceServicer):
    """Uploads, their jobs, facts, and deletion."""

    def __init__(
        self,
        *,
        runner: JobRunner,
        board: JobBoard,
        backlog: Backlog,
        facts: FactIngestion,
        deletion: Deletion,
        max_upload_bytes: int,
    ) -> None:
        self._runner = runner
        self._board = board
        self._backlog = backlog
        self._facts = facts
        self._deletion = deletion
        self._max_upload_bytes = max_upload_bytes

    async def IngestDocument(
        self,
        request_iterator: AsyncIterator[ingest_pb2.IngestDocumentRequest],
        _context: Any,
    ) -> ingest_pb2.IngestDocumentResponse:
        """Accepts an upload and answers with its job."""
        place = self._backlog.enter()
        try:
            upload, count = await receive(request_iterator, place, max_bytes=self._max_upload_bytes)
        except BaseException:
            place.leave()
            raise
        job = Job(current_call(), upload, count)
        self._runner.submit(job, place)
        return ingest_pb2.IngestDocumentResponse(job=job.message())

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
        job = self._board.get(current_call().space, request.job_id)
        return ingest_pb2.GetIngestJobResponse(job=job.message())

    async def WatchIngestJob(
        self, request: ingest_pb2.WatchIngestJobRequest, _context: Any
    ) -> AsyncIterator[ingest_pb2.WatchIngestJobResponse]:
        """A job of the caller's space, until it has ended."""
        job = self._board.get(current_call().space, request.job_id)
        async for message in job.watch():
            yield ingest_pb2.WatchIngestJobResponse(job=message)

    async def DeleteDocument(
        self, request: ingest_pb2.DeleteDocumentRequest, _context: Any
    ) -> ingest_pb2.DeleteDocumentResponse:
        """Removes a document from both tiers."""
        return await self._deletion.run(request.document_id)
