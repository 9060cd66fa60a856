"""Connections that send nothing do not block other calls and are closed after a timeout."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from socket import socket

from tests.unit.runtime.conftest import QUESTION, Start

SILENT = 300


async def test_silent_connections_block_no_calls_and_are_closed(start: Start) -> None:
    harness = await start(handshake_seconds=0.5)
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        silent = [stack.enter_context(socket()) for _ in range(SILENT)]
        for one in silent:
            one.setblocking(False)
            await loop.sock_connect(one, ("127.0.0.1", harness.server.port))
        await harness.search.ComprehensiveSearch(QUESTION, timeout=5)
        async with asyncio.timeout(10):
            for one in silent:
                while await loop.sock_recv(one, 4096):
                    pass
        await harness.search.ComprehensiveSearch(QUESTION, timeout=5)
