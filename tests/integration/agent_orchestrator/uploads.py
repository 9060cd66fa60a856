"""Helpers that upload documents as a caller does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

import grpc
import pytest

from braid.agent.v1 import ingest_pb2, jobs_pb2
from services.runtime.errors import BraidError
from services.runtime.status import error_from_rpc
from tests.integration.agent_orchestrator.conftest import ALICE, Metadata, World

SUCCEEDED = jobs_pb2.JOB_STATE_SUCCEEDED
FAILED = jobs_pb2.JOB_STATE_FAILED

Part = ingest_pb2.IngestDocumentRequest


def document(content_type: str = "text/plain", **values: Any) -> Part:
    """The first part of an upload."""
    return Part(metadata=ingest_pb2.DocumentMetadata(content_type=content_type, **values))


def data(content: bytes | str) -> Part:
    """A later part of an upload."""
    return Part(data=content.encode() if isinstance(content, str) else content)


def lines(*values: object) -> list[Part]:
    """An upload of JSON lines."""
    raw = "\n".join(v if isinstance(v, str) else json.dumps(v) for v in values)
    return [document("application/jsonl"), data(raw)]


async def submit(world: World, *parts: Part, caller: Metadata = ALICE) -> jobs_pb2.Job:
    """Sends an upload and returns the accepted job."""

    async def send() -> AsyncIterator[Part]:
        for part in parts:
            yield part

    answer = await world.ingest.IngestDocument(send(), metadata=caller, timeout=10)
    return answer.job


async def watch(
    world: World, job: jobs_pb2.Job, caller: Metadata = ALICE, seconds: float = 20
) -> AsyncIterator[jobs_pb2.Job]:
    """Yields the states of a job that a watcher receives, until the job ends."""
    request = jobs_pb2.WatchJobRequest(job_id=job.id)
    async for answer in world.jobs.WatchJob(request, metadata=caller, timeout=seconds):
        yield answer.job


async def watched(
    world: World, job: jobs_pb2.Job, caller: Metadata = ALICE, seconds: float = 20
) -> list[jobs_pb2.Job]:
    """All states of a job that a watcher receives, until the job ends."""
    return [seen async for seen in watch(world, job, caller, seconds)]


async def ingest(world: World, *parts: Part, caller: Metadata = ALICE) -> jobs_pb2.Job:
    """Sends an upload and waits for its job to end."""
    return (await watched(world, await submit(world, *parts, caller=caller), caller))[-1]


def reasons(job: jobs_pb2.Job) -> dict[str, str]:
    """The reasons of a job's failed documents, by document id."""
    return {failure.document_id: failure.reason for failure in job.failures}


async def refused(world: World, *parts: Part) -> BraidError:
    """The error that an upload is rejected with."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await submit(world, *parts)
    return error_from_rpc(caught.value)


def removed_counts(rows: Iterable[jobs_pb2.RemovedRows]) -> dict[tuple[str, str], int]:
    """The counts of a deletion receipt, by store and row kind, such as ("neo4j", "facts")."""
    return {
        (
            jobs_pb2.Store.Name(row.store).removeprefix("STORE_").lower(),
            jobs_pb2.RowKind.Name(row.kind).removeprefix("ROW_KIND_").lower(),
        ): row.count
        for row in rows
    }
