"""Spaces are isolated: the uploads of one are invisible to another and do not delay it."""

from __future__ import annotations

import asyncio
from functools import partial

import grpc
import pytest

from braid.agent.v1 import jobs_pb2
from services.agent_orchestrator import worker
from services.agent_orchestrator.jobs.time_slice import StagePriority
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, Metadata, World
from tests.integration.agent_orchestrator.uploads import (
    SUCCEEDED,
    data,
    document,
    ingest,
    submit,
)


@pytest.fixture(autouse=True)
def short_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the graph stage wait only briefly for uploads that are being read."""
    monkeypatch.setattr(worker, "StagePriority", partial(StagePriority, 0.2))


async def test_background_calls_carry_the_callers_space_and_a_deadline(world: World) -> None:
    await ingest(world, document(document_id="d"), data("text"))
    calls = [*world.vector.script.calls, *world.graph.script.calls]
    assert {call.space for call in calls} == {"alice"}
    assert all(call.deadline is not None for call in calls)


async def assert_not_found(world: World, job_id: str, caller: Metadata) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as got:
        await world.jobs.GetJob(jobs_pb2.GetJobRequest(job_id=job_id), metadata=caller)
    with pytest.raises(grpc.aio.AioRpcError) as watching:
        request = jobs_pb2.WatchJobRequest(job_id=job_id)
        _ = [one async for one in world.jobs.WatchJob(request, metadata=caller)]
    assert {got.value.code(), watching.value.code()} == {grpc.StatusCode.NOT_FOUND}


async def test_a_job_is_visible_only_in_its_own_space(world: World) -> None:
    job = await ingest(world, document(), data("text"))
    answer = await world.jobs.GetJob(jobs_pb2.GetJobRequest(job_id=job.id), metadata=ALICE)
    assert answer.job == job
    await assert_not_found(world, job.id, BOB)
    await assert_not_found(world, "00000000-0000-4000-8000-000000000000", ALICE)


async def test_the_same_document_in_two_spaces_is_two_documents(world: World) -> None:
    for caller in (ALICE, BOB):
        await ingest(world, document(document_id="d"), data("text"), caller=caller)
    assert {space for space, _ in world.vector.documents} == {"alice", "bob"}
    assert len({uuid for _, uuid in world.graph.episodes}) == 2


async def test_a_stuck_job_does_not_delay_another_space(world: World) -> None:
    async def stick_alice(request: object) -> None:
        if any(d.document_id == "stuck" for d in getattr(request, "documents")):  # noqa: B009
            await asyncio.Event().wait()

    world.vector.script.acts["CheckDocuments"] = stick_alice
    await submit(world, document(document_id="stuck"), data("text"))
    waiting = await submit(world, document(document_id="next"), data("text"))
    job = await ingest(world, document(document_id="d"), data("text"), caller=BOB)
    assert job.state == SUCCEEDED
    answer = await world.jobs.GetJob(jobs_pb2.GetJobRequest(job_id=waiting.id), metadata=ALICE)
    assert answer.job.searchable_count == 0
