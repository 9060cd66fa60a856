"""Relation inference as a job, with real PostgreSQL, real workers and two scripted tiers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import grpc
import pytest

from braid.agent.v1 import jobs_pb2, memories_pb2, memories_pb2_grpc
from braid.common.v1 import legs_pb2
from braid.vector.v1 import chunks_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.agent_orchestrator.typed_memory import inference_jobs, memories
from services.runtime.errors import FieldError, InvalidFieldError
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, World
from tests.stubs.script import fail, hang
from tests.stubs.vector_tier import chunk_hit

NEAR = 0.9


@pytest.fixture
def settings() -> dict[str, Any]:
    """No worker until a test starts one."""
    return {"workers": 0, "lease_seconds": 1.0}


@pytest.fixture
def stub(world: World) -> memories_pb2_grpc.MemoryServiceStub:
    return memories_pb2_grpc.MemoryServiceStub(world.channel)


async def create(stub: Any, count: int) -> list[str]:
    """Creates memories without inference and returns their ids, oldest first."""
    made = []
    for number in range(count):
        request = memories_pb2.CreateMemoryRequest(content=f"Note {number}.", skip_inference=True)
        made.append((await stub.CreateMemory(request, metadata=ALICE)).memory.id)
    return made


def resemble(world: World, memory_ids: Sequence[str]) -> None:
    """Makes every vector search return these memories as similar."""
    hits = [chunk_hit(one) for one in memory_ids]
    for hit in hits:
        hit.scores.CopyFrom(chunks_pb2.ChunkScores(vector=NEAR))
    world.vector.answer = vector_pb2.HybridSearchResponse(
        hits=hits, leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK)
    )


async def start(stub: Any, limit: int = 0, caller: Any = ALICE) -> jobs_pb2.Job:
    request = memories_pb2.StartMemoryInferenceRequest(memory_limit=limit)
    job: jobs_pb2.Job = (await stub.StartMemoryInference(request, metadata=caller)).job
    return job


async def ended(world: World, job_id: str) -> jobs_pb2.Job:
    """Waits for the job to end and returns it."""
    request = jobs_pb2.WatchJobRequest(job_id=job_id)
    job = jobs_pb2.Job()
    async for seen in world.jobs.WatchJob(request, metadata=ALICE, timeout=20):
        job = seen.job
    return job


def related(world: World) -> set[tuple[str, str]]:
    """The pairs of memories whose relations the graph tier received."""
    puts = world.graph.script.requests.get("PutRelations", [])
    return {(one.source_id, one.target_id) for put in puts for one in put.relations}


async def test_the_job_infers_the_same_relations_as_the_synchronous_call(
    world: World, stub: Any
) -> None:
    first, second, third = made = await create(stub, 3)
    resemble(world, made)
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        job = await ended(world, (await start(stub)).id)
    assert (job.kind, job.state) == (jobs_pb2.JOB_KIND_INFER, jobs_pb2.JOB_STATE_SUCCEEDED)
    assert (job.unit, job.unit_count) == (jobs_pb2.JOB_UNIT_MEMORY, 3)
    assert (job.graph_ready_count, job.failed_count) == (3, 0)
    assert job.inferred == jobs_pb2.InferredRelations(
        examined_count=3, created_counts={"similarity": 3}, created_count=3
    )
    pairs = {(second, first), (third, first), (third, second)}
    assert related(world) == pairs

    world.graph.script.requests.clear()
    waited = await stub.RunMemoryInference(memories_pb2.RunMemoryInferenceRequest(), metadata=ALICE)
    assert (waited.examined_count, waited.removed_count) == (3, 0)
    assert waited.created_counts == {"similarity": 3}
    assert related(world) == pairs


async def test_a_job_is_queued_listed_and_not_started_twice(world: World, stub: Any) -> None:
    await create(stub, 1)
    job = await start(stub)
    assert (job.kind, job.state) == (jobs_pb2.JOB_KIND_INFER, jobs_pb2.JOB_STATE_QUEUED)
    assert not job.HasField("inferred")
    assert (await start(stub)).id == job.id
    assert (await start(stub, caller=BOB)).id != job.id
    request = jobs_pb2.ListJobsRequest(kinds=[jobs_pb2.JOB_KIND_INFER])
    listed = await world.jobs.ListJobs(request, metadata=ALICE)
    assert [one.id for one in listed.jobs] == [job.id]
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await ended(world, job.id)
    assert (await start(stub)).id != job.id


async def test_a_limit_selects_the_newest_memories(world: World, stub: Any) -> None:
    first, second, third = made = await create(stub, 3)
    resemble(world, made)
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        job = await ended(world, (await start(stub, limit=1)).id)
    assert (job.unit_count, job.inferred.examined_count) == (1, 1)
    assert related(world) == {(third, first), (third, second)}
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await start(stub, limit=-1)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_job_resumes_where_the_previous_worker_stopped(
    world: World, stub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inference_jobs, "PAGE", 2)
    resemble(world, await create(stub, 5))
    reached = asyncio.Event()
    searches = 0

    async def hang_in_the_second_page(_request: object) -> None:
        nonlocal searches
        searches += 1
        if searches > 2:
            reached.set()
            await asyncio.Event().wait()

    world.vector.script.acts["VectorSearch"] = hang_in_the_second_page
    job_id = (await start(stub)).id
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        async with asyncio.timeout(20):
            await reached.wait()
    half = (await world.jobs.GetJob(jobs_pb2.GetJobRequest(job_id=job_id), metadata=ALICE)).job
    assert (half.state, half.graph_ready_count) == (jobs_pb2.JOB_STATE_RUNNING, 2)

    world.vector.script.acts.clear()
    world.vector.script.requests.clear()
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        job = await ended(world, job_id)
    assert (job.state, job.inferred.examined_count) == (jobs_pb2.JOB_STATE_SUCCEEDED, 5)
    # Each of five looks for older ones and stores at most three: 3 + 3 + 2 + 1 + 0.
    assert job.inferred.created_counts == {"similarity": 9}
    assert world.vector.script.count("VectorSearch") == 3


async def test_a_job_waits_for_an_unavailable_tier(world: World, stub: Any) -> None:
    resemble(world, await create(stub, 2))
    world.vector.script.fail_times("VectorSearch", 2)
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        job = await ended(world, (await start(stub)).id)
    assert job.state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert job.inferred.created_counts == {"similarity": 1}


async def test_a_memory_deleted_during_the_job_is_skipped(world: World, stub: Any) -> None:
    first, second, third = made = await create(stub, 3)
    resemble(world, made)
    gone = InvalidFieldError(FieldError("relations[0].target_id", "is no chunk of the space"))

    async def remove_the_first(_request: object) -> None:
        world.graph.script.acts.clear()
        await stub.DeleteMemory(memories_pb2.DeleteMemoryRequest(memory_id=first), metadata=ALICE)
        await fail(gone)(_request)

    world.graph.script.acts["PutRelations"] = remove_the_first
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        job = await ended(world, (await start(stub)).id)
    assert job.state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert job.inferred.created_counts == {"similarity": 1}
    assert world.graph.script.requests["PutRelations"][-1].relations[0].target_id == second
    assert third == world.graph.script.requests["PutRelations"][-1].relations[0].source_id


async def test_a_busy_graph_delays_no_memory_and_a_job_stores_its_part_later(
    world: World, stub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def add(content: str) -> str:
        request = memories_pb2.CreateMemoryRequest(content=content, session_id="s")
        answer = await stub.CreateMemory(request, metadata=ALICE, timeout=10)
        assert not answer.relations
        return str(answer.memory.id)

    monkeypatch.setattr(memories, "GRAPH_SECONDS", 0.1)
    world.graph.script.acts["BatchAddEpisodes"] = hang
    first, second, deleted = [await add(content) for content in ("One.", "Two.", "Three.")]
    page = await stub.ListMemories(memories_pb2.ListMemoriesRequest(), metadata=ALICE, timeout=10)
    assert [one.id for one in page.memories] == [deleted, second, first]
    request = memories_pb2.DeleteMemoryRequest(memory_id=deleted)
    await stub.DeleteMemory(request, metadata=ALICE, timeout=10)
    assert not world.graph.episodes

    del world.graph.script.acts["BatchAddEpisodes"]
    jobs = await world.jobs.ListJobs(jobs_pb2.ListJobsRequest(), metadata=ALICE, timeout=10)
    (job,) = jobs.jobs
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        assert (await ended(world, job.id)).state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert {uuid for _, uuid in world.graph.episodes} == {first, second}
    assert related(world) == {(second, first)}


async def test_relations_that_are_not_inferred_in_time_are_left_to_a_job(
    world: World, stub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (older,) = await create(stub, 1)
    resemble(world, [older])
    monkeypatch.setattr(memories, "GRAPH_SECONDS", 0.5)
    world.graph.script.acts["PutRelations"] = hang
    request = memories_pb2.CreateMemoryRequest(content="Another note.")
    newer = await stub.CreateMemory(request, metadata=ALICE, timeout=10)
    assert not newer.relations

    del world.graph.script.acts["PutRelations"]
    world.graph.script.requests["PutRelations"].clear()
    jobs = await world.jobs.ListJobs(jobs_pb2.ListJobsRequest(), metadata=ALICE, timeout=10)
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        assert (await ended(world, jobs.jobs[0].id)).state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert (newer.memory.id, older) in related(world)
