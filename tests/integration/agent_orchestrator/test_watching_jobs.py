"""The updates that watchers of a job receive, and how often."""

from __future__ import annotations

import asyncio

import pytest

from braid.agent.v1 import jobs_pb2
from services.agent_orchestrator.jobs import job_watch
from tests.integration.agent_orchestrator.conftest import World
from tests.integration.agent_orchestrator.uploads import (
    SUCCEEDED,
    data,
    document,
    lines,
    submit,
    watched,
)
from tests.stubs.script import hang


async def test_an_upload_returns_its_job_before_the_work_is_done(world: World) -> None:
    world.vector.script.acts["CheckDocuments"] = hang
    job = await submit(world, document(), data("text"))
    assert job.state == jobs_pb2.JOB_STATE_QUEUED
    assert job.unit_count == 1


async def test_a_watcher_receives_updates_until_the_job_ends(world: World) -> None:
    states = await watched(world, await submit(world, document(), data("text")))
    assert states[-1].state == SUCCEEDED
    assert [s.graph_ready_count for s in states] == sorted(s.graph_ready_count for s in states)
    assert len(await watched(world, states[-1])) == 1


async def test_a_watcher_is_notified_of_changes_without_polling(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_watch, "MAX_LOOK_SECONDS", 600.0)
    async with asyncio.timeout(30):
        states = await watched(world, await submit(world, document(), data("text")))
    assert states[-1].state == SUCCEEDED


async def test_a_watcher_receives_only_a_few_updates_per_second(world: World) -> None:
    started = asyncio.get_running_loop().time()
    values = ({"id": str(n), "text": "x"} for n in range(100))
    states = await watched(world, await submit(world, *lines(*values)))
    took = asyncio.get_running_loop().time() - started
    assert len(states) <= 3 + took / 0.2
