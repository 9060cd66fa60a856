"""Readiness probes of processes."""

import asyncio
import http.client
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

_POLL = 0.05
_ANSWER = 2.0  # seconds per attempt

# Returns once the process behind an address (host:port) is ready.
Probe = Callable[[str], Awaitable[None]]


async def grpc_serving(address: str) -> None:
    """Wait until the gRPC health service says SERVING for the whole server."""
    import grpc.aio  # noqa: PLC0415 (heavy)
    from grpc_health.v1 import health_pb2, health_pb2_grpc  # noqa: PLC0415

    await listening(address)
    async with grpc.aio.insecure_channel(address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)  # its types have no asynchronous calls
        while True:
            try:
                answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=_ANSWER)
            except grpc.aio.AioRpcError:
                await asyncio.sleep(_POLL)
                continue
            if answer.status == health_pb2.HealthCheckResponse.SERVING:
                return
            await asyncio.sleep(_POLL)


async def http_ready(address: str) -> None:
    """Wait until GET /readyz answers 200."""
    await listening(address)
    await poll(lambda: asyncio.to_thread(_readyz, address))


async def poll(holds: Callable[[], Awaitable[bool]]) -> None:
    """Poll until the answer is yes; the caller sets the deadline."""
    while True:
        if await holds():
            return
        await asyncio.sleep(_POLL)


async def listening(address: str) -> None:
    """Wait until something accepts connections there."""
    host, _, port = address.rpartition(":")
    while True:
        try:
            _, writer = await asyncio.open_connection(host, int(port))
        except OSError:
            await asyncio.sleep(_POLL)
            continue
        writer.close()
        await writer.wait_closed()
        return


def _readyz(address: str) -> bool:
    connection = http.client.HTTPConnection(address, timeout=_ANSWER)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, http.client.HTTPException):  # also where another program has the port
        return False
    finally:
        connection.close()
