"""Ingests a corpus through the public API, as one upload of JSON lines, and watches its job."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence

import grpc

from braid.agent.v1 import ingest_pb2, ingest_pb2_grpc, jobs_pb2, jobs_pb2_grpc
from deploy.local.stack import LocalStack
from tests.benchmarks.command import MeasureError
from tests.benchmarks.figures import note
from tests.benchmarks.harness import bar, channel_to
from tests.benchmarks.wait_for_index import settled
from tests.evals.datasets import Document

_PART = 512 * 1024
_DEADLINE = 3600.0


async def ingest(stack: LocalStack, documents: Sequence[Document]) -> float:
    """Ingests documents; returns the seconds until all are searchable and graph-ready.

    Then waits for the vector index, which these seconds do not include. Raises MeasureError if the job or any document
    fails.
    """
    began = time.perf_counter()
    try:
        async with channel_to(stack, "agent_orchestrator") as channel:
            stub = ingest_pb2_grpc.IngestServiceStub(channel)
            accepted = await stub.IngestDocument(_parts(documents), timeout=_DEADLINE)
            jobs = jobs_pb2_grpc.JobServiceStub(channel)
            job = await _watched(jobs, accepted.job.id, len(documents))
    except grpc.aio.AioRpcError as error:
        raise MeasureError(f"ingestion: {error.code().name} {error.details()}") from error
    seconds = time.perf_counter() - began
    _check(job, len(documents))
    note(f"{len(documents)} documents are searchable and graph-ready after {seconds:.1f} s")
    await settled(stack)
    return seconds


async def _parts(
    documents: Sequence[Document],
) -> AsyncIterator[ingest_pb2.IngestDocumentRequest]:
    metadata = ingest_pb2.DocumentMetadata(content_type="application/jsonl")
    yield ingest_pb2.IngestDocumentRequest(metadata=metadata)
    data = b"".join(document.line() for document in documents)
    for start in range(0, len(data), _PART):
        yield ingest_pb2.IngestDocumentRequest(data=data[start : start + _PART])


async def _watched(stub: jobs_pb2_grpc.JobServiceStub, job_id: str, total: int) -> jobs_pb2.Job:
    request = jobs_pb2.WatchJobRequest(job_id=job_id)
    job = jobs_pb2.Job()
    with bar("searchable + graph-ready", 2 * total) as show:
        async for update in stub.WatchJob(request, timeout=_DEADLINE):
            job = update.job
            show(job.searchable_count + job.graph_ready_count)
    return job


def _check(job: jobs_pb2.Job, total: int) -> None:
    if job.state == jobs_pb2.JOB_STATE_SUCCEEDED and job.graph_ready_count == total:
        return
    state = jobs_pb2.JobState.Name(job.state)
    reasons = "; ".join(f"{each.document_id}: {each.reason}" for each in job.failures[:3])
    raise MeasureError(
        f"the job ended {state} with {job.searchable_count} searchable, "
        f"{job.graph_ready_count} graph-ready of {total} documents: {reasons}"
    )
