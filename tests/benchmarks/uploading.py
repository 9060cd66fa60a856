"""Ingests passages through the public API: one upload of JSON lines, whose job is watched to its end."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import grpc

from braid.agent.v1 import ingest_pb2, ingest_pb2_grpc, jobs_pb2, jobs_pb2_grpc
from braid_protocol.errors import failure_of
from tests.benchmarks.command import MeasureError
from tests.benchmarks.credentials import Metadata

_PART = 512 * 1024
_PATIENCE = 900.0


@dataclass(frozen=True, slots=True)
class Text:
    """A document of one passage."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Spent:
    """The seconds from the upload until all passages were searchable, and until all were in the graph."""

    searchable: float
    graph_ready: float


async def upload(
    stub: ingest_pb2_grpc.IngestServiceStub, texts: Sequence[Text], called: Metadata = ()
) -> jobs_pb2.Job:
    """Sends passages as one upload; returns the accepted job."""
    lines = [json.dumps({"id": one.id, "title": one.title, "text": one.text}) for one in texts]
    data = "\n".join(lines).encode()

    async def parts() -> AsyncIterator[ingest_pb2.IngestDocumentRequest]:
        metadata = ingest_pb2.DocumentMetadata(content_type="application/jsonl")
        yield ingest_pb2.IngestDocumentRequest(metadata=metadata)
        for start in range(0, len(data), _PART):
            yield ingest_pb2.IngestDocumentRequest(data=data[start : start + _PART])

    answer = await stub.IngestDocument(parts(), metadata=called, timeout=60, wait_for_ready=True)
    return answer.job


async def ingested(
    channel: grpc.aio.Channel, texts: Sequence[Text], called: Metadata = ()
) -> Spent:
    """Uploads passages and waits until they are in the graph. Raises MeasureError if one fails."""
    began = time.perf_counter()
    job = await upload(ingest_pb2_grpc.IngestServiceStub(channel), texts, called)
    jobs = jobs_pb2_grpc.JobServiceStub(channel)
    searchable = 0.0
    request = jobs_pb2.WatchJobRequest(job_id=job.id)
    async for answer in jobs.WatchJob(request, metadata=called, timeout=_PATIENCE):
        now = time.perf_counter() - began
        if not searchable and answer.job.searchable_count >= len(texts):
            searchable = now
        if answer.job.state > jobs_pb2.JOB_STATE_RUNNING:
            _check(answer.job, len(texts))
            return Spent(searchable or now, now)
    raise MeasureError("the job was not watched to its end")


def _check(job: jobs_pb2.Job, count: int) -> None:
    if job.graph_ready_count != count:
        reasons = {failure.reason for failure in job.failures}
        raise MeasureError(f"{job.graph_ready_count} of {count} are graph-ready: {reasons}")


def is_transient(error: grpc.aio.AioRpcError) -> bool:
    """Returns whether a call failed because a service was unavailable."""
    return failure_of(error).code in {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    }
