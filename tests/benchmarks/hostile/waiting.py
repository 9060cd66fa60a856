"""Another caller: asks each process whether it is alive, again and again, and notes its longest wait.

Runs as a process of its own, which the work of the measuring one does not delay:
`python -m tests.benchmarks.hostile.waiting NAME=HOST:PORT…` prints a JSON object of milliseconds when its input ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import grpc
import httpx2
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.runtime.health import ALIVE

_PAUSE = 0.02
_SECONDS = 60.0
_GATEWAY = "gateway"
_STOP_SECONDS = 90.0


@asynccontextmanager
async def waits_of(addresses: Mapping[str, str]) -> AsyncIterator[dict[str, float]]:
    """Yields a mapping that has the longest wait for each process in milliseconds after the block."""
    waits: dict[str, float] = {}
    arguments = [f"{name}={address}" for name, address in addresses.items()]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, *arguments, stdin=PIPE, stdout=PIPE
    )
    try:
        yield waits
        async with asyncio.timeout(_STOP_SECONDS):
            printed, _ = await process.communicate(b"")
        waits.update(json.loads(printed))
    finally:
        if process.returncode is None:
            process.kill()
        await asyncio.shield(process.wait())


async def _watch(addresses: Mapping[str, str]) -> dict[str, float]:
    longest = dict.fromkeys(addresses, 0.0)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), ended.set)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(_ask(name, address, longest, ended))
            for name, address in addresses.items()
        ]
        await asyncio.wait(tasks)
    return longest


async def _ask(name: str, address: str, longest: dict[str, float], ended: asyncio.Event) -> None:
    """Asks one process until the end; the first answer, which opens the connection, does not count."""
    async with grpc.aio.insecure_channel(address) as channel, httpx2.AsyncClient() as http:
        stub: Any = health_pb2_grpc.HealthStub(channel)

        async def alive() -> None:
            if name == _GATEWAY:
                await http.get(f"http://{address}/healthz", timeout=_SECONDS)
            else:
                request = health_pb2.HealthCheckRequest(service=ALIVE)
                await stub.Check(request, timeout=_SECONDS)

        await alive()
        while not ended.is_set():
            began = time.perf_counter()
            await alive()
            longest[name] = max(longest[name], (time.perf_counter() - began) * 1000)
            await asyncio.sleep(_PAUSE)


if __name__ == "__main__":
    given = dict(argument.split("=", 1) for argument in sys.argv[1:])
    print(json.dumps(asyncio.run(_watch(given))))
