"""Ingestion of the asyncio client, through the orchestrator: into both tiers, as durable jobs."""

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
        timeout: float | None = None,
    ) -> jobs_pb2.Job:
        """Uploads a document, or JSON lines of documents; answers with the job at once.

        What describes it is as in `DocumentMetadata`: `metadata` holds values of JSON by name, `valid_time` is an aware
        time. Before anything is sent: TypeError for arguments and names of another type, ValueError for a naive time
        and for metadata that JSON does not have.
        """
        parts = document_parts(
            data,
            content_type=content_type,
            document_id=document_id,
            title=title,
            source=source,
            metadata=metadata,
            valid_time=valid_time,
        )
        stub = ingest_pb2_grpc.IngestServiceStub(self._channel("agent"))
        with self._typed_errors(timeout):
            return (await outcome_of(stub.IngestDocument(parts, **self._options(timeout)))).job

    async def wait_for_job(self, job_id: str, *, timeout: float = 600.0) -> jobs_pb2.Job:
        """Watches a job until it has ended, at most `timeout` seconds; answers with it as it stands then.

        `state` tells whether it has ended. BraidCallError with DEADLINE_EXCEEDED when nothing was heard of it by then.
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
        timeout: float | None = None,
    ) -> ingest_pb2.IngestFactsResponse:
        """Adds dated facts to the graph; answers with how many are new, were there, or are refused and why.

        Statements without a vector are embedded; `embedding_model` names the model of given vectors. Facts of the
        messages before a failure may stay: sending all of them again changes nothing. Before anything is sent:
        TypeError for what is no `FactInput`, ValueError for one that is larger than a message may be.
        """
        parts = fact_parts(facts, embedding_model)
        stub = ingest_pb2_grpc.IngestServiceStub(self._channel("agent"))
        with self._typed_errors(timeout):
            return await outcome_of(stub.IngestFacts(iter(parts), **self._options(timeout)))

    async def delete_document(
        self, document_id: str, *, timeout: float | None = None
    ) -> ingest_pb2.DeleteDocumentResponse:
        """Removes a document with all its versions from both stores; answers with what was removed, by store and kind.

        Once accepted it is done, whatever goes down. Where it takes longer than the deadline, `removed` is empty and
        `job` goes on: `wait_for_job(answer.job.id)`. NOT_FOUND for a document that is neither stored nor on its way,
        hence also where a deletion is sent again.
        """
        request = ingest_pb2.DeleteDocumentRequest(document_id=document_id)
        stub = ingest_pb2_grpc.IngestServiceStub(self._channel("agent"))
        with self._typed_errors(timeout):
            return await stub.DeleteDocument(request, **self._options(timeout))


def _is_time_up(failure: Failure, ends_at: float) -> bool:
    # A store that gives up earlier, by a limit of its own, fails with the same code and Braid's reason.
    late = not failure.reason or asyncio.get_running_loop().time() >= ends_at
    return failure.code is grpc.StatusCode.DEADLINE_EXCEEDED and late
