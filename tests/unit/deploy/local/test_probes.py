"""Readiness probes of the processes of a local stack."""

from __future__ import annotations

import asyncio

from deploy.local.probes import http_ready

ANSWERS = [
    b"\x00\x00\x12\x04 no HTTP\r\n\r\n",
    b"",
    b"HTTP/1.1 503 Away\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b'HTTP/1.1 200 OK\r\n\r\n{"status": "degraded", "detail": "graph_query is UNREACHABLE."}',
    b'HTTP/1.1 200 OK\r\n\r\n{"status": "ready"}',
]


async def test_the_http_probe_retries_until_the_gateway_and_all_services_are_ready() -> None:
    remaining = list(ANSWERS)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.readline():  # not a connection that only checks whether the port is open
            writer.write(remaining.pop(0))
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server, asyncio.timeout(20):
        port = server.sockets[0].getsockname()[1]
        await http_ready(f"127.0.0.1:{port}")
    assert remaining == []
