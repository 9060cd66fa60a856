"""Ingestion for the asyncio client, through the orchestrator into both tiers, as durable jobs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import grpc

from braid.agent.v1 import ingest_pb2, ingest_pb2_grpc, jobs_pb2, jobs_pb2_grpc
from braid_client.connection import Connection
from braid_client.errors import BraidCallError
from braid_client.fact_parts import fact_parts
from braid_client.uploads import document_parts
from braid_protocol.call_outcome import outcome_of
from braid_protocol.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from braid.graph.v1.ingest_pb2 import FactInput

_ENDED = (
    jobs_pb2.JOB_STATE_SUCCEEDED,
    jobs_pb2.JOB_STATE_FAILED,
    jobs_pb2.JOB_STATE_CANCELLED,
)


class Ingestion(Connection):
    """Part of `AsyncBraid`."""

    async def ingest_document(
        self,
        data: bytes | str,
        *,
        content_type: str = "text/plain",
        document_id: str = "",
        title: str = "",
        source: str = "",
        metadata: Mapping[str, Any] | None = None,
        valid_time: datetime | None = None,
        expire_time: datetime | None = None,
        timeout: float | None = None,
    ) -> jobs_pb2.Job:
        """Uploads a document, or JSON lines of documents; returns the job immediately.

        The other arguments are those of `DocumentMetadata`: `metadata` maps names to JSON values, `valid_time` and
        `expire_time` are aware times. Raises before anything is sent: TypeError for arguments and names of a wrong
        type, ValueError for a naive time and for metadata that is not valid JSON.
        """
        parts = document_parts(
            data,
            content_type=content_type,
            document_id=document_id,
            title=title,
            source=source,
            metadata=metadata,
            valid_time=valid_time,
            expire_time=expire_time,
        )
        stub = ingest_pb2_grpc.IngestServiceStub(self._channel("agent"))
        with self._typed_errors(timeout):
            return (await outcome_of(stub.IngestDocument(parts, **self._options(timeout)))).job

    async def wait_for_job(self, job_id: str, *, timeout: float = 600.0) -> jobs_pb2.Job:
        """Watches a job until it has ended, at most `timeout` seconds; returns its last known state.

        `state` shows whether it has ended. Raises BraidCallError with DEADLINE_EXCEEDED if no state was received in
        time.
        """
        ends_at = asyncio.get_running_loop().time() + timeout
        stub = jobs_pb2_grpc.JobServiceStub(self._channel("agent"))
        request = jobs_pb2.WatchJobRequest(job_id=job_id)
        job: jobs_pb2.Job | None = None
        call = stub.WatchJob(request, **self._options(timeout))
        try:
            with self._typed_errors(timeout):
                async for step in call:
                    job = step.job
                    if job.state in _ENDED:
                        break
        except BraidCallError as error:
            if job is None or not _is_time_up(error.failure, ends_at):
                raise
        finally:
            call.cancel()
        return jobs_pb2.Job(id=job_id) if job is None else job

    async def ingest_facts(
        self,
        facts: Iterable[FactInput],
        *,
        embedding_model: str = "",
        source: str = "",
        replace: bool = False,
        timeout: float | None = None,
    ) -> ingest_pb2.IngestFactsResponse:
        """Adds dated facts to the graph; returns how many are new, existed already, or are refused and why.

        `source` names what states them, all of them: the answer then also lists what the same source stated before and
        does not state now, and with `replace` that is withdrawn.
        Statements without a vector are embedded; `embedding_model` is the model of given vectors. After a failure,
        facts of earlier messages may remain: sending all facts again does not duplicate them. Raises before anything is
        sent: TypeError for values that are not a `FactInput`, ValueError for a fact that exceeds the maximum message
        size.
        """
        parts = fact_parts(facts, embedding_model)
        parts[0].source, parts[0].replace = source, replace
        stub = ingest_pb2_grpc.IngestServiceStub(self._channel("agent"))
        with self._typed_errors(timeout):
            return await outcome_of(stub.IngestFacts(iter(parts), **self._options(timeout)))


def _is_time_up(failure: Failure, ends_at: float) -> bool:
    # A store that stops earlier because of its own limit fails with the same code, but with Braid's reason.
    late = not failure.reason or asyncio.get_running_loop().time() >= ends_at
    return failure.code is grpc.StatusCode.DEADLINE_EXCEEDED and late
