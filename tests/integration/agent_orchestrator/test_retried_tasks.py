"""Jobs that are no uploads, tried again: in real PostgreSQL, between two tiers of the test's own."""

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
from tests.integration.agent_orchestrator.desk import ONE, Desk
from tests.unit.agent_orchestrator.test_reextraction import Tiers, reextraction

CHUNKS = 2 * CHUNKS_AT_ONCE


class Crash(Exception):  # noqa: N818 - no error of the program's
    """Ends a pass."""


class CrashingTiers(Tiers):
    """Tiers of which the graph ends the pass in its second half, until it is mended."""

    crashes = True

    async def add_episodes(self, episodes: Sequence[ingest_pb2.EpisodeInput]) -> None:
        if self.crashes and any(one.chunk_id == self.ids[-1] for one in episodes):
            raise Crash
        await super().add_episodes(episodes)


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episode_retry, "AGAIN_SECONDS", 0.0)


async def run(desk: Desk, tiers: Tiers, end: str) -> None:
    """Takes the task's turn, does what can be done, and lets the job end so."""
    [turn] = await desk.turns.claim(ONE, TASK, 1)
    task = await desk.tasks.start(turn)
    assert task is not None
    try:
        result = await reextraction(tiers).run(task)
    except Crash:
        result = {}
    if end == SUCCEEDED:
        await desk.tasks.succeed(turn, result)
    elif end == FAILED:
        await desk.tasks.fail(turn, "told")
    else:
        await desk.jobs.cancel("s", turn.key)
    await desk.tasks.end_turn(turn)


@pytest.mark.parametrize("end", [SUCCEEDED, FAILED, CANCELLED])
async def test_a_job_that_is_tried_again_after_failures_begins_anew(desk: Desk, end: str) -> None:
    job_id = (await desk.jobs.enqueue(NewJob("s", "", "", "reextract", {}))).id
    tiers = CrashingTiers(CHUNKS, ["c007", "c008"])
    tiers.crashes = end != SUCCEEDED
    await run(desk, tiers, end)
    job = await desk.jobs.get("s", job_id)
    assert (job.state, job.documents_failed) == (end, 2)

    assert (await desk.jobs.retry("s", job_id)).documents_failed == 0
    tiers.left, tiers.crashes = {"c008": 1_000}, False
    await run(desk, tiers, SUCCEEDED)
    job = await desk.jobs.get("s", job_id)
    assert job.result == {"chunks": CHUNKS, "failed": 1}
    assert (job.state, job.documents_graph_ready, job.documents_failed) == (
        SUCCEEDED,
        CHUNKS - 1,
        1,
    )
    assert [(one.position, one.document_id) for one in job.failures] == [(8, "of c008")]
    assert sorted(tiers.read) == [one for one in tiers.ids if one != "c008"]


async def test_a_job_that_is_tried_again_and_had_no_failures_goes_on_where_it_was(
    desk: Desk,
) -> None:
    job_id = (await desk.jobs.enqueue(NewJob("s", "", "", "reextract", {}))).id
    tiers = CrashingTiers(CHUNKS, [])
    await run(desk, tiers, FAILED)
    await desk.jobs.retry("s", job_id)
    again = CrashingTiers(CHUNKS, [])
    again.crashes = False
    await run(desk, again, SUCCEEDED)
    assert again.read == tiers.ids[CHUNKS_AT_ONCE:]
    assert (await desk.jobs.get("s", job_id)).result == {"chunks": CHUNKS, "failed": 0}


async def test_a_job_that_meets_a_defect_again_and_again_fails_and_names_the_logs(
    desk: Desk,
) -> None:
    async def handler(task: Task) -> Mapping[str, Any]:
        raise Crash

    job_id = (await desk.jobs.enqueue(NewJob("s", "", "", "broken", {}))).id
    runner = TaskRunner(desk.tasks, {"broken": handler}, max_concurrent=1)
    for _ in range(MAX_DEFECTS):
        assert not (await desk.jobs.get("s", job_id)).ended
        [turn] = await desk.turns.claim(ONE, TASK, 1)
        with pytest.raises(Crash):
            await runner.run(turn, asyncio.Event())
        await runner.end(turn, 0.0)
    job = await desk.jobs.get("s", job_id)
    assert job.state == FAILED
    [failure] = job.failures
    assert failure.reason.endswith(
        f"The request id names the failure in its logs. It is task-{turn.id}."
    )
