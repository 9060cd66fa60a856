"""An accepted deletion survives outages and keeps its order among the document's uploads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import AsyncExitStack

import grpc
import pytest

from braid.agent.v1 import ingest_pb2, jobs_pb2
from services.runtime.errors import StoreUnavailableError
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, World
from tests.integration.agent_orchestrator.uploads import (
    data,
    document,
    ingest,
    removed_counts,
    submit,
)
from tests.stubs.graph_tier import GraphDeletionStub
from tests.stubs.script import fail
from tests.stubs.vector_tier import VectorDeletionStub

Receipt = dict[tuple[str, str], int]


async def delete(
    world: World, document_id: str = "d", seconds: float = 20, *, keep_versions: bool = False
) -> ingest_pb2.DeleteDocumentResponse:
    """Deletes or ends a document as Alice."""
    request = ingest_pb2.DeleteDocumentRequest(document_id=document_id, keep_versions=keep_versions)
    return await world.ingest.DeleteDocument(request, metadata=ALICE, timeout=seconds)


async def ended(world: World, job_id: str) -> jobs_pb2.Job:
    """Waits for a job to end and returns it."""
    request = jobs_pb2.WatchJobRequest(job_id=job_id)
    job = jobs_pb2.Job()
    async for answer in world.jobs.WatchJob(request, metadata=ALICE, timeout=30):
        job = answer.job
    return job


def receipt(removed: Iterable[jobs_pb2.RemovedRows]) -> Receipt:
    """The rows of a receipt with a nonzero count."""
    return {key: count for key, count in removed_counts(removed).items() if count}


WHOLE: Receipt = {
    ("postgresql", "versions"): 1,
    ("postgresql", "chunks"): 1,
    ("neo4j", "episodes"): 1,
    ("neo4j", "mentions"): 2,
    ("neo4j", "entities"): 1,
}


async def test_the_answer_contains_the_receipt_and_the_job_that_stores_it(world: World) -> None:
    await ingest(world, document(document_id="d"), data("text"))
    answer = await delete(world)
    assert receipt(answer.removed) == WHOLE
    assert (answer.job.kind, answer.job.state) == (
        jobs_pb2.JOB_KIND_DELETE,
        jobs_pb2.JOB_STATE_SUCCEEDED,
    )
    assert answer.job.document_id == "d"
    request = jobs_pb2.GetJobRequest(job_id=answer.job.id)
    kept = (await world.jobs.GetJob(request, metadata=ALICE)).job
    assert receipt(kept.removed) == WHOLE
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await world.jobs.GetJob(request, metadata=BOB)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_a_deletion_without_the_graph_returns_its_job_and_completes_on_recovery(
    world: World,
) -> None:
    await ingest(world, document(document_id="d"), data("text"))
    unavailable = fail(StoreUnavailableError("neo4j", retry_after=0.1))
    world.graph.script.acts["DeleteGraphDocument"] = unavailable
    answer = await delete(world, seconds=2)
    assert answer.job.state in {jobs_pb2.JOB_STATE_RUNNING, jobs_pb2.JOB_STATE_QUEUED}
    assert not answer.removed
    assert world.vector.documents == {}
    again = await delete(world, seconds=1)
    assert again.job.id == answer.job.id
    world.graph.script.acts.clear()
    job = await ended(world, answer.job.id)
    assert receipt(job.removed) == WHOLE
    assert world.graph.episodes == {}


@pytest.mark.parametrize("method", ["DeleteDocument", "DeleteGraphDocument"])
async def test_a_lost_response_is_retried_and_does_not_change_the_receipt(
    world: World, method: str
) -> None:
    await ingest(world, document(document_id="d"), data("text"))
    script = world.vector.script if method == "DeleteDocument" else world.graph.script

    async def lost_once(request: object) -> None:
        """The tier does its work, but its response is lost, so the caller sees a failure."""
        script.acts.pop(method)
        vector, graph = VectorDeletionStub(world.vector), GraphDeletionStub(world.graph)
        stub = vector if method == "DeleteDocument" else graph
        await getattr(stub, method)(request, None)
        raise StoreUnavailableError("store", retry_after=0.05)

    script.acts[method] = lost_once
    answer = await delete(world)
    assert receipt(answer.removed) == WHOLE
    assert script.count(method) >= 2


async def test_a_deletion_removes_earlier_uploads_and_keeps_later_ones(
    world: World,
) -> None:
    world.vector.script.acts["BatchUpsertDocuments"] = fail(
        StoreUnavailableError("postgresql", retry_after=0.05)
    )
    first = await submit(world, document(document_id="d"), data("before"))
    deleting = asyncio.create_task(delete(world))
    async with asyncio.timeout(10):
        while not await jobs(world, jobs_pb2.JOB_KIND_DELETE):  # noqa: ASYNC110 - acceptance sends no event
            await asyncio.sleep(0.02)
    last = await submit(world, document(document_id="d"), data("after"))
    world.vector.script.acts.clear()
    assert receipt((await deleting).removed)["postgresql", "chunks"] == 1
    for job in (first, last):
        assert (await ended(world, job.id)).state == jobs_pb2.JOB_STATE_SUCCEEDED
    [stored] = world.vector.documents.values()
    assert [chunk.content for chunk in stored.chunks] == ["after"]
    assert [one.content for one in world.graph.episodes.values()] == ["after"]


async def test_a_document_waiting_for_the_graph_is_deleted_before_a_later_upload_is_added(
    world: World,
) -> None:
    await ingest(world, document(document_id="other"), data("other"))
    unavailable = fail(StoreUnavailableError("neo4j", retry_after=0.05))
    world.graph.script.acts["BatchAddEpisodes"] = unavailable
    world.graph.script.acts["DeleteEpisodes"] = unavailable
    world.graph.script.acts["DeleteGraphDocument"] = unavailable
    first = await submit(world, document(document_id="d"), data("same text"))
    await searchable(world, first.id)
    answer = await delete(world, seconds=1.5)
    last = await submit(world, document(document_id="d"), data("same text"))
    await searchable(world, last.id)
    world.graph.script.acts.clear()
    assert (await ended(world, answer.job.id)).state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert (await ended(world, last.id)).graph_ready_count == 1
    contents = sorted(one.content for one in world.graph.episodes.values())
    assert contents == ["other", "same text"]


async def test_a_deletion_cannot_be_canceled(world: World) -> None:
    await ingest(world, document(document_id="d"), data("text"))
    unavailable = fail(StoreUnavailableError("neo4j", retry_after=0.05))
    world.graph.script.acts["DeleteGraphDocument"] = unavailable
    answer = await delete(world, seconds=1)
    request = jobs_pb2.CancelJobRequest(job_id=answer.job.id)
    kept = (await world.jobs.CancelJob(request, metadata=ALICE)).job
    assert kept.state != jobs_pb2.JOB_STATE_CANCELLED
    world.graph.script.acts.clear()
    assert (await ended(world, answer.job.id)).state == jobs_pb2.JOB_STATE_SUCCEEDED


async def test_concurrent_deletions_with_two_workers_produce_one_receipt(world: World) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await ingest(world, document(document_id="d"), data("text"))
        answers = await asyncio.gather(*(delete(world) for _ in range(6)), return_exceptions=True)
    answered = [one for one in answers if isinstance(one, ingest_pb2.DeleteDocumentResponse)]
    late = [one for one in answers if isinstance(one, grpc.aio.AioRpcError)]
    assert len(answered) + len(late) == 6
    assert all(one.code() is grpc.StatusCode.NOT_FOUND for one in late)
    assert WHOLE in [receipt(one.removed) for one in answered]
    whole = [one.job.id for one in answered if receipt(one.removed) == WHOLE]
    assert len(set(whole)) == 1


async def test_a_document_whose_versions_are_kept_ends_at_one_time_in_both_tiers(
    world: World,
) -> None:
    await ingest(world, document(document_id="d"), data("text"))
    answer = await delete(world, keep_versions=True)
    assert answer.job.state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert not answer.removed
    assert list(world.vector.ended.values()) == [answer.end_time]
    assert list(world.graph.ended.values()) == [answer.end_time]
    assert len(world.vector.documents) == len(world.graph.episodes) == 1
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await delete(world, "unknown", keep_versions=True)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_an_end_without_the_graph_completes_on_recovery_and_keeps_what_waits_for_the_graph(
    world: World,
) -> None:
    unavailable = fail(StoreUnavailableError("neo4j", retry_after=0.05))
    world.graph.script.acts["BatchAddEpisodes"] = unavailable
    world.graph.script.acts["EndGraphDocument"] = unavailable
    job = await submit(world, document(document_id="d"), data("text"))
    await searchable(world, job.id)
    answer = await delete(world, seconds=1, keep_versions=True)
    assert not answer.HasField("end_time")
    world.graph.script.acts.clear()
    assert (await ended(world, answer.job.id)).state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert [one.content for one in world.graph.episodes.values()] == ["text"]
    assert list(world.graph.ended.values()) == list(world.vector.ended.values())


async def test_an_upload_after_an_end_is_stored_after_it(world: World) -> None:
    await ingest(world, document(document_id="d"), data("before"))
    unavailable = fail(StoreUnavailableError("postgresql", retry_after=0.05))
    world.vector.script.acts["EndDocument"] = unavailable
    ending = await delete(world, seconds=1, keep_versions=True)
    last = await submit(world, document(document_id="d"), data("after"))
    ends: list[int] = []

    async def note_ends(_request: object) -> None:
        ends.append(len(world.vector.ended))

    world.vector.script.acts["BatchUpsertDocuments"] = note_ends
    del world.vector.script.acts["EndDocument"]
    assert (await ended(world, ending.job.id)).state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert (await ended(world, last.id)).state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert ends == [1]


async def test_a_deletion_while_the_document_ends_is_another_job(world: World) -> None:
    await ingest(world, document(document_id="d"), data("text"))
    unavailable = fail(StoreUnavailableError("neo4j", retry_after=0.05))
    world.graph.script.acts["EndGraphDocument"] = unavailable
    first = await delete(world, seconds=1, keep_versions=True)
    again = await delete(world, seconds=1, keep_versions=True)
    assert again.job.id == first.job.id
    deleting = asyncio.create_task(delete(world))
    await asyncio.sleep(0.2)
    world.graph.script.acts.clear()
    assert receipt((await deleting).removed) == WHOLE
    assert world.graph.episodes == {}


async def jobs(world: World, kind: jobs_pb2.JobKind.ValueType) -> list[jobs_pb2.Job]:
    """Alice's jobs of a kind."""
    request = jobs_pb2.ListJobsRequest(kinds=[kind])
    return list((await world.jobs.ListJobs(request, metadata=ALICE)).jobs)


async def searchable(world: World, job_id: str) -> None:
    """Waits until a job's document is searchable."""
    request = jobs_pb2.WatchJobRequest(job_id=job_id)
    async for answer in world.jobs.WatchJob(request, metadata=ALICE, timeout=30):
        if answer.job.searchable_count:
            return
