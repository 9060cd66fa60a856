"""Retries of jobs other than uploads, with real PostgreSQL and fake tiers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from braid.graph.v1 import ingest_pb2
from services.agent_orchestrator.ingest.pipeline import episode_retry
from services.agent_orchestrator.jobs.queue import TASK
from services.agent_orchestrator.jobs.records import CANCELLED, FAILED, SUCCEEDED, NewJob
from services.agent_orchestrator.jobs.tasks import Task
from services.agent_orchestrator.jobs.worker import MAX_DEFECTS, TaskRunner
from services.agent_orchestrator.model_migration.reextraction import CHUNKS_AT_ONCE
from tests.integration.agent_orchestrator.job_stores import ONE, JobStores
from tests.unit.agent_orchestrator.model_migration.test_reextraction import Tiers, reextraction

CHUNKS = 2 * CHUNKS_AT_ONCE


class Crash(Exception):  # noqa: N818 - not a product error
    """Aborts a run of a job."""


class CrashingTiers(Tiers):
    """Fake tiers whose graph aborts the run in its second half while `crashes` is set."""

    crashes = True

    async def add_episodes(
        self, episodes: Sequence[ingest_pb2.EpisodeInput], *, patience: int = 1
    ) -> None:
        if self.crashes and any(one.chunk_id == self.ids[-1] for one in episodes):
            raise Crash
        await super().add_episodes(episodes)


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episode_retry, "AGAIN_SECONDS", 0.0)


async def run(job_stores: JobStores, tiers: Tiers, end: str) -> None:
    """Claims the task's turn, runs the task, and ends the job in the given state."""
    [turn] = await job_stores.turns.claim(ONE, TASK, 1)
    task = await job_stores.tasks.start(turn)
    assert task is not None
    try:
        result = await reextraction(tiers).run(task)
    except Crash:
        result = {}
    if end == SUCCEEDED:
        await job_stores.tasks.succeed(turn, result)
    elif end == FAILED:
        await job_stores.tasks.fail(turn, "failed")
    else:
        await job_stores.jobs.cancel("s", turn.key)
    await job_stores.tasks.end_turn(turn)


@pytest.mark.parametrize("end", [SUCCEEDED, FAILED, CANCELLED])
async def test_a_retried_job_with_failures_starts_over(job_stores: JobStores, end: str) -> None:
    job_id = (await job_stores.jobs.enqueue(NewJob("s", "", "", "reextract", {}))).id
    tiers = CrashingTiers(CHUNKS, ["c007", "c008"])
    tiers.crashes = end != SUCCEEDED
    await run(job_stores, tiers, end)
    job = await job_stores.jobs.get("s", job_id)
    assert (job.state, job.documents_failed) == (end, 2)

    assert (await job_stores.jobs.retry("s", job_id)).documents_failed == 0
    tiers.left, tiers.crashes = {"c008": 1_000}, False
    await run(job_stores, tiers, SUCCEEDED)
    job = await job_stores.jobs.get("s", job_id)
    assert job.result == {"chunks": CHUNKS, "failed": 1}
    assert (job.state, job.documents_graph_ready, job.documents_failed) == (
        SUCCEEDED,
        CHUNKS - 1,
        1,
    )
    assert [(one.position, one.document_id) for one in job.failures] == [(8, "of c008")]
    assert sorted(tiers.read) == [one for one in tiers.ids if one != "c008"]


async def test_a_retried_job_without_failures_resumes_where_it_stopped(
    job_stores: JobStores,
) -> None:
    job_id = (await job_stores.jobs.enqueue(NewJob("s", "", "", "reextract", {}))).id
    tiers = CrashingTiers(CHUNKS, [])
    await run(job_stores, tiers, FAILED)
    await job_stores.jobs.retry("s", job_id)
    again = CrashingTiers(CHUNKS, [])
    again.crashes = False
    await run(job_stores, again, SUCCEEDED)
    assert again.read == tiers.ids[CHUNKS_AT_ONCE:]
    assert (await job_stores.jobs.get("s", job_id)).result == {"chunks": CHUNKS, "failed": 0}


async def test_a_job_that_keeps_raising_fails_and_names_the_request_id_of_its_logs(
    job_stores: JobStores,
) -> None:
    async def handler(task: Task) -> Mapping[str, Any]:
        raise Crash

    job_id = (await job_stores.jobs.enqueue(NewJob("s", "", "", "broken", {}))).id
    runner = TaskRunner(job_stores.tasks, {"broken": handler}, max_concurrent=1)
    for _ in range(MAX_DEFECTS):
        assert not (await job_stores.jobs.get("s", job_id)).ended
        [turn] = await job_stores.turns.claim(ONE, TASK, 1)
        with pytest.raises(Crash):
            await runner.run(turn, asyncio.Event())
        await runner.end(turn, 0.0)
    job = await job_stores.jobs.get("s", job_id)
    assert job.state == FAILED
    [failure] = job.failures
    assert failure.reason.endswith(
        f"The request id names the failure in its logs. It is task-{turn.id}."
    )
