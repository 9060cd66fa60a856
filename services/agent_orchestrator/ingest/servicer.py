"""The contract's IngestService, with its pages of jobs and of dead documents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from braid.agent.v1 import ingest_pb2, ingest_pb2_grpc
from services.agent_orchestrator.deletion.deletions import Deletions
from services.agent_orchestrator.ingest.backlog import Backlog
from services.agent_orchestrator.ingest.facts import FactIngestion
from services.agent_orchestrator.ingest.uploads import new_upload, receive
from services.agent_orchestrator.jobs.records import STATE_NAMES, STATES, job_message
from services.agent_orchestrator.jobs.store import LAST_NUMBER, DeadDocument, JobStore
from services.agent_orchestrator.jobs.watching import Watchers
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.paging import decode_token, encode_token
from services.runtime.times import to_timestamp


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


PAGE_SIZE = 50
_LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
_NO_TOKEN = InvalidFieldError(FieldError("page_token", "is not a token of this service"))
_LAST = (datetime.max.replace(tzinfo=UTC), _LAST_ID, 2**31 - 1)


class JobLists:
    """Lists of a space, the latest first."""

    def __init__(self, jobs: JobStore) -> None:
        self._jobs = jobs

    async def jobs(
        self, space: str, request: ingest_pb2.ListIngestJobsRequest
    ) -> ingest_pb2.ListIngestJobsResponse:
        """A page of jobs."""
        states = sorted({STATE_NAMES[state] for state in request.states}) or sorted(STATES)
        query = ("jobs", space, *states, request.kind)
        before = LAST_NUMBER
        if request.page_token:
            before = _number(decode_token(request.page_token, query, length=1))
        size = _size(request)
        found = await self._jobs.page(
            space, before=before, states=states, kind=request.kind, size=size + 1
        )
        return ingest_pb2.ListIngestJobsResponse(
            jobs=[job_message(job) for job in found[:size]],
            next_page_token=encode_token(query, [found[size - 1].number])
            if len(found) > size
            else "",
        )

    async def dead(
        self, space: str, request: ingest_pb2.ListDeadDocumentsRequest
    ) -> ingest_pb2.ListDeadDocumentsResponse:
        """A page of documents that could not be taken."""
        query = ("dead", space)
        before = _LAST
        if request.page_token:
            before = _instant(decode_token(request.page_token, query, length=3))
        size = _size(request)
        found = await self._jobs.dead(space, before=before, size=size + 1)
        return ingest_pb2.ListDeadDocumentsResponse(
            documents=[_dead_message(one) for one in found[:size]],
            next_page_token=encode_token(query, _place(found[size - 1]))
            if len(found) > size
            else "",
        )


def _size(
    request: ingest_pb2.ListIngestJobsRequest | ingest_pb2.ListDeadDocumentsRequest,
) -> int:
    return request.page_size if request.HasField("page_size") else PAGE_SIZE


def _number(position: list[Any]) -> int:
    [number] = position
    if not isinstance(number, int) or not 0 <= number <= LAST_NUMBER:
        raise _NO_TOKEN
    return number


def _instant(position: list[Any]) -> tuple[datetime, str, int]:
    time, job_id, place = position
    try:
        instant = datetime.fromisoformat(time), str(UUID(job_id))
    except (TypeError, ValueError, AttributeError):
        raise _NO_TOKEN from None
    if not isinstance(place, int) or abs(place) > _LAST[2] or instant[0].tzinfo is None:
        raise _NO_TOKEN
    return (*instant, place)


def _place(dead: DeadDocument) -> list[str | int | float | bool | None]:
    return [dead.create_time.isoformat(), dead.job_id, dead.failure.position]


def _dead_message(dead: DeadDocument) -> ingest_pb2.DeadDocument:
    failure = dead.failure
    return ingest_pb2.DeadDocument(
        job_id=dead.job_id,
        failure=ingest_pb2.IngestFailure(
            document_id=failure.document_id, reason=failure.reason, stage=failure.stage
        ),
        create_time=to_timestamp(dead.create_time),
    )
