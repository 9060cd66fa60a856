"""Jobs, for the asyncio client: state of uploads, deletions and migrations, cancellation and retry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from braid.agent.v1 import jobs_pb2, jobs_pb2_grpc
from braid_client.connection import Connection
from braid_client.requests import timestamp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from datetime import datetime


class Jobs(Connection):
    """Part of `AsyncBraid`."""

    async def get_job(self, job_id: str, *, timeout: float | None = None) -> jobs_pb2.Job:
        """Returns the current state of a job."""
        stub = jobs_pb2_grpc.JobServiceStub(self._channel("agent"))
        request = jobs_pb2.GetJobRequest(job_id=job_id)
        with self._typed_errors(timeout):
            return (await stub.GetJob(request, **self._options(timeout))).job

    async def list_jobs(
        self,
        *,
        states: Iterable[jobs_pb2.JobState.ValueType] = (),
        kinds: Iterable[jobs_pb2.JobKind.ValueType] = (),
        page_size: int = 200,
        timeout: float | None = None,
    ) -> AsyncIterator[jobs_pb2.Job]:
        """Lists all jobs of the states and kinds (default: all), latest first; `timeout` applies to each page."""
        wanted, of_kinds, token = list(states), list(kinds), ""
        while True:
            stub = jobs_pb2_grpc.JobServiceStub(self._channel("agent"))
            request = jobs_pb2.ListJobsRequest(
                states=wanted, kinds=of_kinds, page_size=page_size, page_token=token
            )
            with self._typed_errors(timeout):
                page = await stub.ListJobs(request, **self._options(timeout))
            for job in page.jobs:
                yield job
            token = page.next_page_token
            if not token:
                return

    async def cancel_job(self, job_id: str, *, timeout: float | None = None) -> jobs_pb2.Job:
        """Cancels a job; its documents that are searchable already are still added to the graph."""
        stub = jobs_pb2_grpc.JobServiceStub(self._channel("agent"))
        request = jobs_pb2.CancelJobRequest(job_id=job_id)
        with self._typed_errors(timeout):
            return (await stub.CancelJob(request, **self._options(timeout))).job

    async def retry_job(self, job_id: str, *, timeout: float | None = None) -> jobs_pb2.Job:
        """Retries the unfinished part of an ended job."""
        stub = jobs_pb2_grpc.JobServiceStub(self._channel("agent"))
        request = jobs_pb2.RetryJobRequest(job_id=job_id)
        with self._typed_errors(timeout):
            return (await stub.RetryJob(request, **self._options(timeout))).job

    async def retry_dead_documents(
        self, *, since: datetime | None = None, timeout: float | None = None
    ) -> jobs_pb2.RetryDeadDocumentsResponse:
        """Retries all documents that failed for good, or only those that failed at an aware time or later.

        Returns how many documents are queued again, of how many jobs, and how many remain dead.
        """
        stub = jobs_pb2_grpc.JobServiceStub(self._channel("agent"))
        request = jobs_pb2.RetryDeadDocumentsRequest(since_time=timestamp(since))
        with self._typed_errors(timeout):
            return await stub.RetryDeadDocuments(request, **self._options(timeout))

    async def list_dead_documents(
        self, *, page_size: int = 200, timeout: float | None = None
    ) -> AsyncIterator[jobs_pb2.DeadDocument]:
        """Lists all documents that were accepted and failed for good, with reasons; `timeout` applies to each page."""
        token = ""
        while True:
            stub = jobs_pb2_grpc.JobServiceStub(self._channel("agent"))
            request = jobs_pb2.ListDeadDocumentsRequest(page_size=page_size, page_token=token)
            with self._typed_errors(timeout):
                page = await stub.ListDeadDocuments(request, **self._options(timeout))
            for document in page.documents:
                yield document
            token = page.next_page_token
            if not token:
                return
