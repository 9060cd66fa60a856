"""Durable jobs survive worker failures, run in order and share workers fairly between spaces."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta

import asyncpg
import grpc
import pytest

from braid.agent.v1 import ingest_pb2, jobs_pb2
from braid.common.v1 import errors_pb2
from braid.vector.v1 import documents_pb2
from services.runtime.errors import FieldError, InvalidFieldError, OverloadedError
from services.runtime.status import error_from_rpc
from services.runtime.times import to_timestamp
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, Metadata, World
from tests.integration.agent_orchestrator.uploads import (
    SUCCEEDED,
    data,
    document,
    ingest,
    lines,
    reasons,
    submit,
    watch,
    watched,
)
from tests.integration.workers import worker_process
from tests.stubs.script import hang, wait

CANCELLED = jobs_pb2.JOB_STATE_CANCELLED


@pytest.fixture
def settings() -> dict[str, object]:
    return {"workers": 0, "retry_seconds": 0.2, "lease_seconds": 1.0, "jobs_at_once": 1}


@asynccontextmanager
async def worker(world: World) -> AsyncIterator[None]:
    """Runs a worker for the duration of the block and then stops it cleanly."""
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        yield


def other_process(world: World) -> AbstractAsyncContextManager[asyncio.subprocess.Process]:
    """Starts a worker process with the local embedding model."""
    return worker_process(
        {
            "BRAID_AGENT_DATABASE_URL": world.database.dsn("braid_agent"),
            "BRAID_VECTOR_TARGET": f"127.0.0.1:{world.vector_server.port}",
            "BRAID_GRAPH_TARGET": f"127.0.0.1:{world.graph_server.port}",
            "BRAID_API_KEYS_FILE": str(world.runtime.api_keys_file),
            "BRAID_SERVICE_KEY": "service-key",
            # By default a hung write times out only after a minute.
            "BRAID_AGENT_WRITE_SECONDS": "5",
            "BRAID_AGENT_RETRY_SECONDS": "0.2",
        }
    )


async def get(world: World, job: jobs_pb2.Job) -> jobs_pb2.Job:
    request = jobs_pb2.GetJobRequest(job_id=job.id)
    return (await world.jobs.GetJob(request, metadata=ALICE, timeout=10)).job


async def until(world: World, job: jobs_pb2.Job, searchable: int) -> None:
    """Waits until that many documents of the job are searchable."""
    async for reported in watch(world, job):
        if reported.searchable_count >= searchable:
            return


async def test_a_job_accepted_without_a_worker_runs_once_a_worker_starts(world: World) -> None:
    job = await submit(world, document(document_id="d"), data("text"))
    assert (await get(world, job)).state == jobs_pb2.JOB_STATE_QUEUED
    async with worker(world):
        assert (await watched(world, job))[-1].state == SUCCEEDED
    assert ("alice", "d") in world.vector.documents


async def test_waiting_uploads_are_stored_in_one_batch(world: World) -> None:
    jobs = [await submit(world, document(document_id=str(n)), data(f"t{n}")) for n in range(30)]
    async with worker(world):
        for job in jobs:
            assert (await watched(world, job))[-1].state == SUCCEEDED
    assert world.vector.script.count("BatchUpsertDocuments") == 1
    assert world.graph.script.count("BatchAddEpisodes") == 1


async def test_versions_of_a_document_are_written_in_the_order_they_were_accepted(
    world: World,
) -> None:
    jobs = [await submit(world, document(document_id="d"), data(f"version {n}")) for n in range(5)]
    async with worker(world):
        for job in jobs:
            assert (await watched(world, job))[-1].state == SUCCEEDED
    written = [
        request.documents[0].chunks[0].content
        for request in world.vector.script.requests["BatchUpsertDocuments"]
    ]
    assert written == [f"version {n}" for n in range(5)]
    episodes = [
        episode.content
        for request in world.graph.script.requests["BatchAddEpisodes"]
        for episode in request.episodes
    ]
    assert episodes == written


@pytest.mark.parametrize("settings", [{"workers": 0, "jobs_at_once": 1, "turn_seconds": 0.01}])
async def test_a_busy_space_does_not_delay_a_small_one(world: World) -> None:
    many = [{"id": str(n), "text": f"text {n}"} for n in range(2000)]
    world.vector.script.acts["BatchUpsertDocuments"] = wait(0.2)
    large = await submit(world, *lines(*many))
    async with worker(world):
        await until(world, large, 1)
        small = await submit(world, document(document_id="d"), data("text"), caller=BOB)
        async for reported in watch(world, small, BOB):
            if reported.searchable_count:
                break
        assert (await get(world, large)).searchable_count < 2000
        assert (await watched(world, large, seconds=90))[-1].graph_ready_count == 2000


async def test_the_next_worker_completes_the_job_of_a_stopped_worker(
    world: World,
) -> None:
    world.graph.script.acts["BatchAddEpisodes"] = hang
    async with worker(world):
        job = await submit(world, document(document_id="d"), data("text"))
        await until(world, job, 1)
        async with asyncio.timeout(5):
            await world.graph.script.seen.wait()
    world.graph.script.acts.clear()
    async with worker(world):
        assert (await watched(world, job))[-1].state == SUCCEEDED


@pytest.mark.timeout(180)
async def test_killing_one_of_two_worker_processes_loses_and_duplicates_nothing(
    world: World,
) -> None:
    async with other_process(world) as first, other_process(world) as second:
        world.graph.script.acts["BatchAddEpisodes"] = hang
        jobs = [
            await submit(world, document(document_id=str(n)), data(f"t{n}"), caller=caller)
            for n in range(10)
            for caller in (ALICE, BOB)
        ]
        async with asyncio.timeout(60):
            await world.graph.script.seen.wait()
        first.send_signal(signal.SIGKILL)
        await first.wait()
        world.graph.script.acts.clear()
        for job in jobs:
            caller = ALICE if job in jobs[::2] else BOB
            reported = (await watched(world, job, caller, seconds=90))[-1]
            assert (reported.state, reported.graph_ready_count) == (SUCCEEDED, 1)
        assert world.graph.writes["episodes"] == len(world.vector.documents) == 20
        second.send_signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            assert await second.wait() == 0


async def test_workers_and_the_service_survive_broken_database_connections(world: World) -> None:
    async with worker(world):
        assert (await ingest(world, document(document_id="a"), data("a"))).state == SUCCEEDED
        await break_connections(world)
        await break_connections(world)
        assert (await ingest(world, document(document_id="b"), data("b"))).state == SUCCEEDED


async def break_connections(world: World) -> None:
    admin = await asyncpg.connect(world.database.stores.postgres.admin_dsn)
    try:
        await admin.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1",
            world.database.name,
        )
    finally:
        await admin.close()


async def test_a_hung_graph_does_not_delay_the_search_stage(world: World) -> None:
    world.graph.script.acts["BatchAddEpisodes"] = hang
    async with worker(world):
        for n in range(3):
            job = await submit(world, document(document_id=str(n)), data(f"t{n}"))
            async with asyncio.timeout(5):
                await until(world, job, 1)
            assert (await get(world, job)).graph_ready_count == 0


async def test_a_job_waits_for_an_overloaded_graph_and_loses_nothing(world: World) -> None:
    world.graph.script.fail_times("BatchAddEpisodes", 4, OverloadedError(0.3))
    async with worker(world):
        values = [{"id": str(n), "text": f"t{n}"} for n in range(50)]
        reported = await watched(world, await submit(world, *lines(*values)))
    assert "The service is at its limit." in {job.waiting_for for job in reported}
    assert (reported[-1].state, reported[-1].graph_ready_count) == (SUCCEEDED, 50)
    assert reported[-1].failed_count == 0


async def test_a_job_canceled_before_a_worker_starts_stores_nothing(
    world: World,
) -> None:
    job = await submit(world, *lines({"id": "a", "text": "x"}))
    request = jobs_pb2.CancelJobRequest(job_id=job.id)
    for _ in range(2):
        answer = await world.jobs.CancelJob(request, metadata=ALICE, timeout=10)
        assert answer.job.state == CANCELLED
    async with worker(world):
        assert (await ingest(world, document(document_id="b"), data("b"))).state == SUCCEEDED
    assert {key for _, key in world.vector.documents} == {"b"}


async def test_a_document_of_a_job_canceled_midway_is_not_stored(world: World) -> None:
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def pause(_request: object) -> None:
        arrived.set()
        await go_on.wait()

    world.vector.script.acts["CheckDocuments"] = pause
    async with worker(world):
        job = await submit(world, document(document_id="a"), data("a"))
        async with asyncio.timeout(20):
            await arrived.wait()
        request = jobs_pb2.CancelJobRequest(job_id=job.id)
        await world.jobs.CancelJob(request, metadata=ALICE, timeout=10)
        go_on.set()
        assert (await ingest(world, document(document_id="b"), data("b"))).state == SUCCEEDED
    assert {key for _, key in world.vector.documents} == {"b"}


async def test_retrying_a_job_processes_only_its_failed_documents(world: World) -> None:
    async def refuse_b(request: object) -> None:
        if any(e.document_id == "b" for e in getattr(request, "episodes")):  # noqa: B009
            raise InvalidFieldError(FieldError("episodes", "has b"))

    world.graph.script.acts["BatchAddEpisodes"] = refuse_b
    async with worker(world):
        upload = lines({"id": "a", "text": "x"}, {"id": "b", "text": "y"}, "{")
        job = await ingest(world, *upload)
        assert (job.state, set(reasons(job)), job.failed_count) == (
            SUCCEEDED,
            {"b", "line 3"},
            2,
        )
        world.graph.script.acts.clear()
        request = jobs_pb2.RetryJobRequest(job_id=job.id)
        again = (await world.jobs.RetryJob(request, metadata=ALICE, timeout=10)).job
        assert (again.state, again.failed_count) == (jobs_pb2.JOB_STATE_QUEUED, 0)
        job = (await watched(world, job))[-1]
    assert (job.state, reasons(job)) == (SUCCEEDED, {"line 3": "is not valid JSON"})
    assert (job.unit_count, job.graph_ready_count, job.failed_count) == (3, 2, 1)
    assert world.graph.writes["episodes"] == 2


async def test_a_job_without_failures_cannot_be_retried(world: World) -> None:
    async with worker(world):
        job = await ingest(world, document(), data("text"))
    request = jobs_pb2.RetryJobRequest(job_id=job.id)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await world.jobs.RetryJob(request, metadata=ALICE, timeout=10)
    assert error_from_rpc(caught.value).reason == errors_pb2.ERROR_REASON_WRONG_STATE


async def retry_dead(
    world: World, since: datetime | None = None, caller: Metadata = ALICE
) -> tuple[int, int, int]:
    """Retries the caller's dead documents; returns how many are retried, of how many jobs, and how many are left."""
    since_time = None if since is None else to_timestamp(since)
    request = jobs_pb2.RetryDeadDocumentsRequest(since_time=since_time)
    answer = await world.jobs.RetryDeadDocuments(request, metadata=caller, timeout=10)
    return answer.document_count, answer.job_count, answer.remaining_count


async def refuse_bad(request: documents_pb2.BatchUpsertDocumentsRequest) -> None:
    """Refuses documents whose id begins with `bad`, as the tier does for a document's own fault."""
    for place, one in enumerate(request.documents):
        if one.document_id.startswith("bad"):
            raise InvalidFieldError(FieldError(f"documents[{place}].title", "is bad"))


async def test_all_dead_documents_of_a_space_are_retried_and_counted(world: World) -> None:
    world.vector.script.acts["BatchUpsertDocuments"] = refuse_bad
    async with worker(world):
        first = await ingest(world, *lines({"id": "bad1", "text": "a"}, {"id": "ok", "text": "b"}))
        second = await ingest(world, *lines(*({"id": f"bad{n}", "text": "c"} for n in (2, 3))))
        assert (first.state, second.state) == (SUCCEEDED, jobs_pb2.JOB_STATE_FAILED)
        assert await retry_dead(world, caller=BOB) == (0, 0, 0)
        assert await retry_dead(world, datetime.now(UTC) + timedelta(hours=1)) == (0, 0, 0)
        world.vector.script.acts.pop("BatchUpsertDocuments")
        assert await retry_dead(world) == (3, 2, 0)
        assert {(await watched(world, job))[-1].state for job in (first, second)} == {SUCCEEDED}
        assert await retry_dead(world) == (0, 0, 0)
    assert {key for space, key in world.vector.documents if space == "alice"} == {
        *("bad1", "bad2", "bad3", "ok")
    }


async def test_a_dead_document_that_was_deleted_since_is_not_retried(world: World) -> None:
    world.vector.script.acts["BatchUpsertDocuments"] = refuse_bad
    async with worker(world):
        await ingest(world, *lines({"id": "bad1", "text": "a"}, {"id": "bad2", "text": "b"}))
        world.vector.script.acts.pop("BatchUpsertDocuments")
        await ingest(world, document(document_id="bad1"), data("again"))
        request = ingest_pb2.DeleteDocumentRequest(document_id="bad1")
        await world.ingest.DeleteDocument(request, metadata=ALICE, timeout=10)
        assert await retry_dead(world) == (1, 1, 1)


async def test_dead_documents_are_paged_and_visible_only_in_their_space(world: World) -> None:
    async with worker(world):
        jobs = [await ingest(world, *lines("{", "[", {"id": "ok", "text": "x"})) for _ in range(2)]
    found: list[jobs_pb2.DeadDocument] = []
    token = ""
    while True:
        request = jobs_pb2.ListDeadDocumentsRequest(page_size=3, page_token=token)
        answer = await world.jobs.ListDeadDocuments(request, metadata=ALICE, timeout=10)
        found.extend(answer.documents)
        token = answer.next_page_token
        if not token:
            break
    assert [(one.job_id, one.failure.document_id) for one in found] == [
        (jobs[1].id, "line 2"),
        (jobs[1].id, "line 1"),
        (jobs[0].id, "line 2"),
        (jobs[0].id, "line 1"),
    ]
    assert {one.failure.stage for one in found} == {jobs_pb2.JOB_STAGE_SEARCH}
    answer = await world.jobs.ListDeadDocuments(
        jobs_pb2.ListDeadDocumentsRequest(), metadata=BOB, timeout=10
    )
    assert list(answer.documents) == []


async def test_jobs_are_paged_newest_first_and_filtered_by_state(world: World) -> None:
    jobs = [await submit(world, document(document_id=str(n)), data("t")) for n in range(5)]
    cancel = jobs_pb2.CancelJobRequest(job_id=jobs[2].id)
    await world.jobs.CancelJob(cancel, metadata=ALICE, timeout=10)

    async def listed(**values: object) -> tuple[list[str], str]:
        request = jobs_pb2.ListJobsRequest(**values)  # type: ignore[arg-type] # any field
        answer = await world.jobs.ListJobs(request, metadata=ALICE, timeout=10)
        return [job.id for job in answer.jobs], answer.next_page_token

    first, token = await listed(page_size=3)
    rest, end = await listed(page_size=3, page_token=token)
    assert (first + rest, end) == ([job.id for job in reversed(jobs)], "")
    assert (await listed(states=[CANCELLED]))[0] == [jobs[2].id]
    assert (await listed(kinds=[jobs_pb2.JOB_KIND_DELETE]))[0] == []
    with pytest.raises(grpc.aio.AioRpcError):
        await listed(states=[CANCELLED], page_token=token)
