"""JobService: the state of jobs, and pages of jobs and of failed documents."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from braid.agent.v1 import jobs_pb2, jobs_pb2_grpc
from services.agent_orchestrator.jobs.job_watch import Watchers
from services.agent_orchestrator.jobs.records import (
    KIND_NAMES,
    STATE_NAMES,
    STATES,
    failure_message,
    job_message,
)
from services.agent_orchestrator.jobs.store import LAST_NUMBER, DeadDocument, JobStore
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.paging import decode_token, encode_token, page_size
from services.runtime.times import to_datetime, to_timestamp


class JobServicer(jobs_pb2_grpc.JobServiceServicer):
    """Serves the jobs of the caller's space."""

    def __init__(self, jobs: JobStore, watchers: Watchers) -> None:
        self._jobs = jobs
        self._lists = JobLists(jobs)
        self._watchers = watchers

    async def GetJob(
        self, request: jobs_pb2.GetJobRequest, _context: Any
    ) -> jobs_pb2.GetJobResponse:
        """Returns a job of the caller's space."""
        job = await self._jobs.get(current_call().space, request.job_id)
        return jobs_pb2.GetJobResponse(job=job_message(job))

    async def WatchJob(
        self, request: jobs_pb2.WatchJobRequest, _context: Any
    ) -> AsyncIterator[jobs_pb2.WatchJobResponse]:
        """Streams the changes of a job of the caller's space until it has ended."""
        async for job in self._watchers.watch(current_call().space, request.job_id):
            yield jobs_pb2.WatchJobResponse(job=job_message(job))

    async def ListJobs(
        self, request: jobs_pb2.ListJobsRequest, _context: Any
    ) -> jobs_pb2.ListJobsResponse:
        """Lists jobs of the caller's space."""
        return await self._lists.jobs(current_call().space, request)

    async def ListDeadDocuments(
        self, request: jobs_pb2.ListDeadDocumentsRequest, _context: Any
    ) -> jobs_pb2.ListDeadDocumentsResponse:
        """Lists documents of the caller's space that could not be ingested."""
        return await self._lists.dead(current_call().space, request)

    async def CancelJob(
        self, request: jobs_pb2.CancelJobRequest, _context: Any
    ) -> jobs_pb2.CancelJobResponse:
        """Cancels a job of the caller's space."""
        job = await self._jobs.cancel(current_call().space, request.job_id)
        return jobs_pb2.CancelJobResponse(job=job_message(job))

    async def RetryJob(
        self, request: jobs_pb2.RetryJobRequest, _context: Any
    ) -> jobs_pb2.RetryJobResponse:
        """Retries a job of the caller's space."""
        job = await self._jobs.retry(current_call().space, request.job_id)
        return jobs_pb2.RetryJobResponse(job=job_message(job))

    async def RetryDeadDocuments(
        self, request: jobs_pb2.RetryDeadDocumentsRequest, _context: Any
    ) -> jobs_pb2.RetryDeadDocumentsResponse:
        """Retries the dead documents of the caller's space."""
        since = to_datetime(request.since_time) if request.HasField("since_time") else _BEGINNING
        retried = await self._jobs.retry_dead(current_call().space, since)
        return jobs_pb2.RetryDeadDocumentsResponse(
            document_count=retried.documents,
            job_count=retried.jobs,
            remaining_count=retried.remaining,
        )


DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 200
_BEGINNING = datetime.min.replace(tzinfo=UTC)
_LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
_NO_TOKEN = InvalidFieldError(FieldError("page_token", "is not a token of this service"))
_LAST = (datetime.max.replace(tzinfo=UTC), _LAST_ID, 2**31 - 1)


class JobLists:
    """Pages of a space's jobs and failures, latest first."""

    def __init__(self, jobs: JobStore) -> None:
        self._jobs = jobs

    async def jobs(
        self, space: str, request: jobs_pb2.ListJobsRequest
    ) -> jobs_pb2.ListJobsResponse:
        """Returns a page of jobs."""
        states = sorted({STATE_NAMES[state] for state in request.states}) or sorted(STATES)
        kinds = sorted({KIND_NAMES[kind] for kind in request.kinds})
        query = ("jobs", space, *states, "", *kinds)
        before = LAST_NUMBER
        if request.page_token:
            before = _number(decode_token(request.page_token, query, length=1))
        size = page_size(request.page_size, default=DEFAULT_PAGE_SIZE, largest=MAX_PAGE_SIZE)
        found = await self._jobs.page(
            space, before=before, states=states, kinds=kinds, size=size + 1
        )
        return jobs_pb2.ListJobsResponse(
            jobs=[job_message(job) for job in found[:size]],
            next_page_token=encode_token(query, [found[size - 1].number])
            if len(found) > size
            else "",
        )

    async def dead(
        self, space: str, request: jobs_pb2.ListDeadDocumentsRequest
    ) -> jobs_pb2.ListDeadDocumentsResponse:
        """Returns a page of documents that could not be ingested."""
        query = ("dead", space)
        before = _LAST
        if request.page_token:
            before = _instant(decode_token(request.page_token, query, length=3))
        size = page_size(request.page_size, default=DEFAULT_PAGE_SIZE, largest=MAX_PAGE_SIZE)
        found = await self._jobs.dead(space, before=before, size=size + 1)
        return jobs_pb2.ListDeadDocumentsResponse(
            documents=[_dead_message(one) for one in found[:size]],
            next_page_token=encode_token(query, _place(found[size - 1]))
            if len(found) > size
            else "",
        )


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


def _dead_message(dead: DeadDocument) -> jobs_pb2.DeadDocument:
    return jobs_pb2.DeadDocument(
        job_id=dead.job_id,
        failure=failure_message(dead.failure),
        create_time=to_timestamp(dead.create_time),
    )
