"""Readiness probes of processes."""

import asyncio
import http.client
import json
from collections.abc import Awaitable, Callable, Coroutine
from http import HTTPStatus
from typing import Any

from deploy.local.waiting import Report, ignore

POLL = 1.0
_FIRST = 0.1
_CONNECT = 0.1  # seconds between two attempts to connect, which costs nobody anything
_ANSWER = 10.0  # seconds per attempt
_REASON = "braid-health-reason"

# Returns once the process behind an address (host:port) is ready; reports meanwhile why it is not.
Probe = Callable[[str, Report], Coroutine[Any, Any, None]]


async def grpc_serving(address: str, report: Report = ignore) -> None:
    """Wait until the gRPC health service says SERVING for the whole server."""
    import grpc.aio  # noqa: PLC0415 (heavy)
    from grpc_health.v1 import health_pb2, health_pb2_grpc  # noqa: PLC0415

    await listening(address)
    async with grpc.aio.insecure_channel(address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)  # its types have no asynchronous calls

        async def serves() -> bool:
            call = stub.Check(health_pb2.HealthCheckRequest(), timeout=_ANSWER)
            try:
                answer = await call
            except grpc.aio.AioRpcError as error:
                report(f"health {error.code().name}")
                return False
            report(dict(await call.trailing_metadata()).get(_REASON, ""))
            return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

        await poll(serves)


async def http_ready(address: str, report: Report = ignore) -> None:
    """Wait until GET /readyz says that the gateway and every service behind it serve."""
    await listening(address)
    await poll(lambda: asyncio.to_thread(_readyz, address, report))


async def poll(holds: Callable[[], Awaitable[bool]]) -> None:
    """Poll until the answer is yes: soon at first, then once a second; the caller decides how long."""
    delay = _FIRST
    while not await holds():
        await asyncio.sleep(delay)
        delay = min(delay * 2, POLL)


async def listening(address: str, _report: Report = ignore) -> None:
    """Wait until something accepts connections there."""
    host, _, port = address.rpartition(":")
    while True:
        try:
            _, writer = await asyncio.open_connection(host, int(port))
        except OSError:
            await asyncio.sleep(_CONNECT)
            continue
        writer.close()
        await writer.wait_closed()
        return


def _readyz(address: str, report: Report) -> bool:
    connection = http.client.HTTPConnection(address, timeout=_ANSWER)
    try:
        connection.request("GET", "/readyz")
        response = connection.getresponse()
        body = response.read()
    except (OSError, http.client.HTTPException):  # also where another program has the port
        return False
    finally:
        connection.close()
    said = _object(body)
    ready = response.status == HTTPStatus.OK and said.get("status") == "ready"
    report("" if ready else str(said.get("detail", "")))
    return ready


def _object(body: bytes) -> dict[str, Any]:
    """Return a body's JSON object; empty if it has none, as where another program has the port."""
    try:
        said = json.loads(body)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
