"""Statements that change several jobs lock them in one order, because both stages of a space change the same jobs."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable

import pytest

from tests.integration.agent_orchestrator.job_stores import JobStores

Ids = list[uuid.UUID]
WAITING = """select count(*) from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock'"""
HOLD = "select 1 from job where id = $1 for no key update nowait"
CHANGES: dict[str, Callable[[Ids], tuple[object, ...]]] = {
    "record_graph_ready": lambda ids: (ids, [1] * len(ids), [0] * len(ids)),
    "lock_jobs": lambda ids: (ids, [0] * len(ids)),
    "clear_waiting_reason": lambda _: ("s",),
    "set_waiting_reason": lambda _: ("s", "embedder"),
    "claim_uploads": lambda _: ("s", [], 100, 1_000_000, 3),
    "release_jobs": lambda ids: (ids,),
    "fail_jobs": lambda ids: (ids,),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_jobs_are_locked_in_id_order_whatever_order_they_are_found_in(
    job_stores: JobStores, name: str
) -> None:
    ids = sorted([uuid.UUID(await job_stores.upload()) for _ in range(12)], reverse=True)
    pool = job_stores.database.pool
    async with pool.session() as session:
        await session.execute(job_stores.database.queries["set_waiting_reason"], "s", "before")

    async def change() -> None:
        async with pool.session() as session:
            await session.fetch(job_stores.database.queries[name], *CHANGES[name](ids))

    async with asyncio.timeout(10), asyncio.TaskGroup() as group, pool.transaction() as first:
        await first.execute(HOLD, ids[-1])
        group.create_task(change())
        await _until_waiting(job_stores)
        for job_id in ids[:-1]:
            await first.execute(HOLD, job_id)  # raises if the other session has the lock


async def _until_waiting(job_stores: JobStores) -> None:
    while True:
        async with job_stores.database.pool.session() as session:
            if await session.value(WAITING):
                return
        await asyncio.sleep(0.01)
