"""Runs fault cases: injects the fault, sends requests, removes the fault, and judges the responses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import grpc
import httpx2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from neo4j import AsyncGraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

from tests.faults.cases import ALL, MODEL_ASK, RERANKED, Case
from tests.faults.judging import Attempt, defects, hangs, is_whole, lies, missing_parts
from tests.faults.operations import Operations
from tests.faults.system import FaultSystem

RECOVERY_SECONDS = 5.0
_ROUNDS = 2
_PING_SECONDS = 1.0
_PING_LIMIT = 60.0
_WHOLE_LIMIT = 30.0
_JOBS_LIMIT = 90.0
_PAUSE = 0.05
_GOOD = "SUCCEEDED"
_ENDED = frozenset({_GOOD, "FAILED", "CANCELLED"})


@dataclass
class Outcome:
    """The result of one case: false claims, late responses, defects, and the seconds until recovery."""

    case: Case
    lied: list[str] = field(default_factory=list)
    hung: list[str] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)
    recovery: float = 0.0
    missing: list[str] = field(default_factory=list)

    @property
    def recovered(self) -> bool:
        """Returns whether every operation was complete again in time."""
        return self.recovery <= RECOVERY_SECONDS

    @property
    def failures(self) -> list[str]:
        """Returns descriptions of everything that went wrong."""
        late = [] if self.recovered else [f"whole after {self.recovery:.1f} s: {self.missing}"]
        return [
            *(f"lied: {one}" for one in self.lied),
            *(f"hung: {one}" for one in self.hung),
            *(f"defect: {one}" for one in self.defects),
            *late,
        ]


class Drill:
    """Runs cases against one system."""

    def __init__(self, system: FaultSystem, operations: Operations) -> None:
        self._system = system
        self._operations = operations

    async def prepare(self) -> None:
        """Loads the data of the questions and runs every operation once, so that the cases meet a warm system."""
        job = await self._operations.seed()
        async with asyncio.timeout(_JOBS_LIMIT):
            while True:
                if await self._operations.state_of(job) == _GOOD:
                    break
                await asyncio.sleep(_PAUSE)
        await self.until_whole()

    async def until_whole(self) -> None:
        """Waits until every operation is complete. Raises AssertionError if one is not within half a minute."""
        everything = Case("", "", operations=ALL | {RERANKED, MODEL_ASK})
        missing, seconds = await self._until_whole(everything)
        assert seconds < _WHOLE_LIMIT, missing

    async def run(self, case: Case) -> Outcome:
        """Runs one case, from the fault to the recovery."""
        outcome = Outcome(case)
        await self._system.break_(case)
        try:
            for _ in range(_ROUNDS):
                for attempt in await self._attempts(case):
                    self._judge(outcome, attempt)
        finally:
            await self._system.heal(case)
        await self._until_responding(case)
        outcome.missing, outcome.recovery = await self._until_whole(case)
        outcome.lied += await self.lost()
        return outcome

    async def _attempts(self, case: Case) -> list[Attempt]:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._operations.attempt(operation, case.expected))
                for operation in sorted(case.operations)
            ]
        return [task.result() for task in tasks]

    def _judge(self, outcome: Outcome, attempt: Attempt) -> None:
        expected = outcome.case.expected
        outcome.lied += lies(attempt, expected)
        outcome.defects += defects(attempt, expected)
        if hangs(attempt):
            outcome.hung.append(
                f"{attempt.operation} {attempt.elapsed:.2f} s of {attempt.deadline}"
            )

    async def _until_responding(self, case: Case) -> None:
        """Waits until the dependency responds to a ping; recovery is timed from then on."""
        async with asyncio.timeout(_PING_LIMIT):
            while not await answers_ping(self._system, case.dependency):  # noqa: ASYNC110
                await asyncio.sleep(_PAUSE)

    async def _until_whole(self, case: Case) -> tuple[list[str], float]:
        """Repeats incomplete operations until all are complete; returns what recovered too late, and the seconds."""
        began = time.perf_counter()
        left = set(case.operations)
        missing: list[str] = []
        while left:
            attempts = await asyncio.gather(
                *(self._operations.attempt(one, case.expected) for one in sorted(left))
            )
            partial = [attempt for attempt in attempts if not is_whole(attempt)]
            left = {attempt.operation for attempt in partial}
            elapsed = time.perf_counter() - began
            if partial:
                missing = [f"{one.operation} {missing_parts(one)}" for one in partial]
            if elapsed > _WHOLE_LIMIT:
                break
        return missing if left or elapsed > RECOVERY_SECONDS else [], elapsed

    async def lost(self) -> list[str]:
        """Returns acknowledged writes that failed or are missing."""
        written = self._operations.written
        until = time.monotonic() + _JOBS_LIMIT
        states = dict.fromkeys(written.jobs, "")
        while not all(state in _ENDED for state in states.values()):
            if time.monotonic() > until:
                break
            for job, state in states.items():
                if state not in _ENDED:
                    states[job] = await self._operations.state_of(job)
            await asyncio.sleep(_PAUSE)
        lost = [
            f"acknowledged {written.jobs[job]} ended as {state or 'unknown'}"
            for job, state in states.items()
            if state != _GOOD
        ]
        lost += [f"acknowledged {one} is not there" for one in await self._operations.lost()]
        written.jobs.clear()
        written.facts.clear()
        written.conversations.clear()
        return lost


async def answers_ping(system: FaultSystem, dependency: str) -> bool:
    """Returns whether a dependency responds to a ping through its proxy, the way by which services reach it."""
    pings: dict[str, Any] = {
        "postgres": lambda: _postgres(system, "BRAID_AGENT_DATABASE_URL"),
        "disk": lambda: _postgres(system, "BRAID_AGENT_DATABASE_URL"),
        "agent database": lambda: _postgres(system, "BRAID_AGENT_DATABASE_URL"),
        "vector database": lambda: _postgres(system, "DATABASE_URL"),
        "neo4j": lambda: _neo4j(system),
    }
    ping = pings.get(dependency)
    if ping is None and dependency in {"vector_search", "graph_query", "agent_orchestrator"}:
        ping = lambda: _health(system.proxies[dependency].address)  # noqa: E731
    if ping is None and dependency in system.proxies:
        ping = lambda: _http(system.proxies[dependency].address)  # noqa: E731
    if ping is None:
        return True
    with suppress(TimeoutError):
        async with asyncio.timeout(_PING_SECONDS):
            return bool(await ping())
    return False


async def _postgres(system: FaultSystem, name: str) -> bool:
    try:
        connection = await asyncpg.connect(system.stores.environment()[name])
    except (OSError, asyncpg.PostgresError):
        return False
    try:
        return bool(await connection.fetchval("select true"))
    except (OSError, asyncpg.PostgresError):
        return False
    finally:
        connection.terminate()


async def _neo4j(system: FaultSystem) -> bool:
    environment = system.stores.environment()
    auth = (environment["NEO4J_USER"], environment["NEO4J_PASSWORD"])
    async with AsyncGraphDatabase.driver(environment["NEO4J_URI"], auth=auth) as driver:
        try:
            await driver.execute_query("return 1")
        except (DriverError, Neo4jError, OSError):
            return False
    return True


async def _health(address: str) -> bool:
    async with grpc.aio.insecure_channel(address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=_PING_SECONDS)
        except grpc.aio.AioRpcError:
            return False
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


async def _http(address: str) -> bool:
    async with httpx2.AsyncClient(verify=False) as client:
        try:
            answer = await client.post(f"http://{address}/v1/ping", json={})
        except httpx2.HTTPError:
            return False
    return answer.status_code > 0


def failures(outcomes: Iterable[Outcome]) -> list[str]:
    """Returns the failures of several cases, each with the name of its case."""
    return [f"{one.case.name}: {failure}" for one in outcomes for failure in one.failures]
