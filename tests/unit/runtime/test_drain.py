"""Shutdown of a server: clients move to other replicas, running calls finish, and new calls are refused."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from braid.agent.v1 import search_pb2, search_pb2_grpc
from services.runtime.channels import open_channel
from services.runtime.errors import DrainingError, StoreUnavailableError
from services.runtime.health import HealthMonitor
from services.runtime.interceptors.concurrency import ConcurrencyStage
from services.runtime.interceptors.stage import Call
from services.runtime.server import RunningServer, start_server
from services.runtime.settings import RuntimeSettings
from services.runtime.status import error_from_rpc, reason_name
from tests.unit.runtime.conftest import QUESTION, Seen, Start, services

NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def test_running_and_queued_calls_finish_before_the_server_stops(start: Start) -> None:
    harness = await start(read_concurrency=1, drain_seconds=5)
    arrived, done = asyncio.Semaphore(0), asyncio.Event()

    async def wait() -> None:
        arrived.release()
        await done.wait()

    harness.seen.act = wait
    calls = [
        asyncio.ensure_future(harness.search.ComprehensiveSearch(QUESTION, timeout=5))
        for _ in range(2)
    ]
    await arrived.acquire()
    async with asyncio.timeout(5):
        while harness.server.running < 2:  # noqa: ASYNC110 - a queue has no event
            await asyncio.sleep(0.001)
    stopping = asyncio.create_task(harness.server.stop())
    await asyncio.sleep(0)
    done.set()
    answers = await asyncio.gather(*calls)
    await stopping
    assert [answer.result_count for answer in answers] == [1, 1]


async def test_health_is_not_serving_before_calls_are_refused(start: Start) -> None:
    harness = await start(drain_seconds=5, drain_delay_seconds=0.2)
    health: Any = health_pb2_grpc.HealthStub(harness.channel)
    watch = health.Watch(health_pb2.HealthCheckRequest(), timeout=5)
    await watch.read()
    stopping = asyncio.create_task(harness.server.stop())
    assert (await watch.read()).status == NOT_SERVING
    # A client that does not watch health continues to call meanwhile.
    async with grpc.aio.insecure_channel(f"127.0.0.1:{harness.server.port}") as channel:
        stub = search_pb2_grpc.SearchServiceStub(channel)
        await stub.ComprehensiveSearch(QUESTION, timeout=5)
    await stopping


async def test_a_draining_process_refuses_new_calls_with_a_retryable_error() -> None:
    limit = ConcurrencyStage(8)
    with limit.around(Call("/s/m", {}, None)):
        draining = asyncio.create_task(limit.drain(5))
        await asyncio.sleep(0)
        with pytest.raises(DrainingError) as refusal, limit.around(Call("/s/m", {}, None)):
            pass
    assert await draining
    assert reason_name(refusal.value) == "STORE_UNAVAILABLE"
    assert refusal.value.retry_after == 0.5


async def test_a_call_that_outlasts_the_drain_time_ends_with_a_retryable_error(
    start: Start,
) -> None:
    harness = await start(drain_delay_seconds=0)

    async def hang() -> None:
        await asyncio.Event().wait()

    harness.seen.act = hang
    call = asyncio.ensure_future(harness.search.ComprehensiveSearch(QUESTION, timeout=60))
    request = search_pb2.StreamComprehensiveSearchRequest(search=QUESTION)
    stream = harness.search.StreamComprehensiveSearch(request, timeout=60)
    await stream.read()
    async with asyncio.timeout(5):
        while len(harness.seen.calls) < 2:  # noqa: ASYNC110 - the servicer has no event
            await asyncio.sleep(0.001)
        await harness.server.stop()
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await call  # its channel retries it and finds no other replica
    assert failure.value.code() is grpc.StatusCode.UNAVAILABLE
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await stream.read()
    error = error_from_rpc(failure.value)
    assert (reason_name(error), error.retry_after) == ("STORE_UNAVAILABLE", 0.5)


async def test_a_watched_server_stops_at_once_if_no_call_runs(start: Start) -> None:
    harness = await start(drain_seconds=60, drain_delay_seconds=0.05)
    await harness.search.ComprehensiveSearch(QUESTION, timeout=5)  # its channel watches health
    async with asyncio.timeout(2):
        await harness.server.stop()


async def test_the_reason_for_not_serving_is_sent_with_the_health_status(start: Start) -> None:
    async def populating() -> None:
        raise StoreUnavailableError("neo4j", message="neo4j is still building an index.")

    harness = await start(probes={"neo4j": populating})
    health: Any = health_pb2_grpc.HealthStub(harness.channel)
    call = health.Check(health_pb2.HealthCheckRequest(), timeout=5)
    assert (await call).status == NOT_SERVING
    trailing = dict(await call.trailing_metadata())
    assert trailing["braid-health-reason"] == "neo4j is still building an index."


async def test_a_serving_process_reports_missing_dependencies_with_its_health() -> None:
    missing = ["An embedding provider does not answer (1 of 1)."]
    monitor = HealthMonitor([], {}, lambda: missing)
    await monitor.poll()
    trailing: list[Any] = []

    class Context:
        def set_trailing_metadata(self, metadata: Any) -> None:
            trailing.append(metadata)

    servicer: Any = monitor.servicer
    answer = await servicer.Check(health_pb2.HealthCheckRequest(), Context())
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
    assert trailing == [(("braid-health-reason", missing[0]),)]


class Replicas:
    """Two servers with the same services, each of which keeps its port."""

    def __init__(self) -> None:
        self.seen = (Seen(), Seen())
        self._running: list[RunningServer] = []

    @property
    def target(self) -> str:
        addresses = ",".join(f"127.0.0.1:{server.port}" for server in self._running)
        return f"ipv4:{addresses}"

    async def start(self) -> None:
        self._running = [await self._server(seen, 0) for seen in self.seen]

    async def restart(self, place: int) -> None:
        port = self._running[place].port
        await self._running[place].stop()
        self._running[place] = await self._server(self.seen[place], port)

    async def stop(self) -> None:
        for server in self._running:
            await server.stop()

    async def _server(self, seen: Seen, port: int) -> RunningServer:
        return await start_server(
            settings=RuntimeSettings(_env_file=None, drain_seconds=5, drain_delay_seconds=0.2),
            listen=f"127.0.0.1:{port}",
            services=services(seen),
            probes={},
        )


@asynccontextmanager
async def replicas() -> AsyncIterator[Replicas]:
    both = Replicas()
    await both.start()
    try:
        yield both
    finally:
        await both.stop()


async def test_two_replicas_share_the_calls_evenly() -> None:
    async with replicas() as both, open_channel(both.target) as channel:
        stub = search_pb2_grpc.SearchServiceStub(channel)
        async with asyncio.timeout(10):
            while not all(seen.calls for seen in both.seen):
                await stub.ComprehensiveSearch(QUESTION, timeout=5)
        before = [len(seen.calls) for seen in both.seen]
        for _ in range(100):
            await stub.ComprehensiveSearch(QUESTION, timeout=5)
        served = [len(seen.calls) - then for seen, then in zip(both.seen, before, strict=True)]
    assert served == [50, 50]


async def test_no_call_fails_while_replicas_are_restarted_one_after_another() -> None:
    outcomes: Counter[str] = Counter()
    finished = asyncio.Event()

    async def pause() -> None:
        await asyncio.sleep(0.01)

    async with replicas() as both, open_channel(both.target, retry=False) as channel:
        for seen in both.seen:
            seen.act = pause
        stub = search_pb2_grpc.SearchServiceStub(channel)

        async def ask() -> None:
            while not finished.is_set():
                try:
                    await stub.ComprehensiveSearch(QUESTION, timeout=5)
                    outcomes["OK"] += 1
                except grpc.aio.AioRpcError as error:
                    outcomes[f"{error.code().name} {error_from_rpc(error).message}"] += 1

        callers = [asyncio.create_task(ask()) for _ in range(8)]
        for place in (0, 1, 0, 1):
            before = len(both.seen[place].calls)
            await both.restart(place)
            async with asyncio.timeout(10):
                while len(both.seen[place].calls) < before + 20:  # noqa: ASYNC110 - no event
                    await asyncio.sleep(0.01)
        finished.set()
        await asyncio.gather(*callers)
    assert outcomes.keys() == {"OK"}
