"""The lag of the event loop is measured, and a process whose loop stands fails its liveness probe."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader

from services.runtime.event_loop import INTERVAL, measure_lag
from services.runtime.health import ALIVE
from services.runtime.healthcheck import is_serving

# Serves until its input ends; a line of input blocks its event loop until the next line.
_SERVER = """
import asyncio, sys
from services.runtime.errors import StoreUnavailableError
from services.runtime.server import start_server
from services.runtime.settings import RuntimeSettings

async def down():
    raise StoreUnavailableError("down")

async def main():
    running = await start_server(
        settings=RuntimeSettings(), listen="127.0.0.1:0", services=[], probes={"store": down}
    )
    ended = asyncio.Event()
    def block():
        if not sys.stdin.readline() or not sys.stdin.readline():
            ended.set()
    asyncio.get_running_loop().add_reader(0, block)
    print("port", running.port, flush=True)
    await ended.wait()

asyncio.run(main())
"""


@pytest.fixture
async def process() -> AsyncIterator[Process]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    started = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _SERVER, stdin=PIPE, stdout=PIPE, env=environment
    )
    yield started
    started.kill()
    await started.wait()


async def test_a_process_whose_loop_stands_fails_the_liveness_probe(process: Process) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    async with asyncio.timeout(60):
        while not (line := await process.stdout.readline()).startswith(b"port "):
            assert line
    address = f"127.0.0.1:{int(line.split()[1])}"

    async def is_alive(seconds: float) -> bool:
        return await asyncio.to_thread(is_serving, address, {}, seconds, ALIVE)

    assert await is_alive(10)
    assert not await asyncio.to_thread(is_serving, address, {}, 10)  # its store is down
    process.stdin.write(b"block\n")
    await process.stdin.drain()
    assert not await is_alive(1)
    process.stdin.write(b"continue\n")
    await process.stdin.drain()
    assert await is_alive(10)


async def test_the_lag_of_the_loop_is_recorded() -> None:
    reader = InMemoryMetricReader()
    meter = MeterProvider(metric_readers=[reader]).get_meter("test")
    measuring = asyncio.create_task(measure_lag(meter))
    await asyncio.sleep(3 * INTERVAL)
    measuring.cancel()
    await asyncio.gather(measuring, return_exceptions=True)

    data = reader.get_metrics_data()
    assert data is not None
    [metric] = data.resource_metrics[0].scope_metrics[0].metrics
    assert metric.name == "braid.event_loop.lag"
    [point] = metric.data.data_points
    assert isinstance(point, HistogramDataPoint)
    assert point.count >= 1
