"""Recovery from a killed worker, whose lease must expire, and from a crash of the whole system."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass

from deploy.local.errors import NotRunningError
from tests.faults.cases import CONVERSATION, DOCUMENT, FACT, Expected
from tests.faults.drill import Drill
from tests.faults.operations import Operations
from tests.faults.system import WITH_MODEL, FaultSystem

_STORES = ("postgres", "neo4j")
_PROCESSES = (
    "vector_search",
    "graph_query",
    "agent_orchestrator",
    WITH_MODEL,
    "agent_worker",
    "gateway",
)
_WORKER = "agent_worker"
_LOAD_SECONDS = 3.0
_WRITERS = 3
_LIMIT = 120.0
_PAUSE = 0.05


@dataclass(frozen=True)
class Restart:
    """Seconds until every operation was complete again, the number of acknowledged writes, and those that were lost."""

    seconds: float
    written: int
    lost: list[str]


async def kill_worker(system: FaultSystem, operations: Operations) -> float:
    """Kills the only worker during a job; returns the seconds until its successor has finished the job."""
    attempt = await operations.attempt(DOCUMENT, Expected())
    assert attempt.succeeded, attempt
    job = str(attempt.body["jobs"][0]["id"])
    async with asyncio.timeout(_LIMIT):
        while await operations.state_of(job) == "QUEUED":  # noqa: ASYNC110 - a job's state can only be polled
            await asyncio.sleep(0)
    began = time.perf_counter()
    await system.stack.kill(_WORKER)
    await system.stack.start_process(_WORKER)
    async with asyncio.timeout(_LIMIT):
        while await operations.state_of(job) != "SUCCEEDED":  # noqa: ASYNC110 - as above
            await asyncio.sleep(_PAUSE)
    return time.perf_counter() - began


async def kill_everything(system: FaultSystem, drill: Drill, operations: Operations) -> Restart:
    """Kills all stores and processes during writes, starts them again, and checks the acknowledged writes."""
    await _write_until_killed(system, operations)
    acknowledged = operations.written
    written = len(acknowledged.jobs) + len(acknowledged.facts) + len(acknowledged.conversations)
    began = time.perf_counter()
    for names in (_STORES, _PROCESSES):
        async with asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(system.stack.start_process(name))
    await drill.until_whole()
    seconds = time.perf_counter() - began
    return Restart(seconds, written, await drill.lost())


async def _write_until_killed(system: FaultSystem, operations: Operations) -> None:
    stopped = asyncio.Event()

    async def write() -> None:
        while not stopped.is_set():
            for operation in (DOCUMENT, FACT, CONVERSATION):
                await operations.attempt(operation, Expected())

    async with asyncio.TaskGroup() as group:
        for _ in range(_WRITERS):
            group.create_task(write())
        await asyncio.sleep(_LOAD_SECONDS)
        for name in (*_STORES, *_PROCESSES):
            with contextlib.suppress(NotRunningError):
                await system.stack.kill(name)
        stopped.set()
