"""TLS termination in front of a store without TLS: each connection is decrypted and forwarded.

async with TlsTerminator(context, open_upstream, postgres=True) as terminator:
    url = f"postgresql://user:password@127.0.0.1:{terminator.port}/db?sslmode=verify-full&sslrootcert=…"
"""

from __future__ import annotations

import asyncio
import ssl
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Self

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
_SSL_REQUEST = struct.pack("!ii", 8, 80877103)


class TlsTerminator:
    """The server on a free loopback port; with `postgres`, clients first request TLS as in PostgreSQL's protocol."""

    def __init__(
        self,
        context: ssl.SSLContext,
        upstream: Callable[[], Awaitable[Streams]],
        *,
        postgres: bool = False,
    ) -> None:
        self._context = context
        self._upstream = upstream
        self._postgres = postgres
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.encrypted = 0
        self.plain = 0

    @property
    def port(self) -> int:
        """Returns its port."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def __aenter__(self) -> Self:
        tls = None if self._postgres else self._context
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=tls)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._forward(reader, writer)
        finally:
            self._connections.discard(task)
            writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._postgres:
            if await reader.readexactly(len(_SSL_REQUEST)) != _SSL_REQUEST:
                self.plain += 1
                return
            writer.write(b"S")
            await writer.drain()
            await writer.start_tls(self._context)
        self.encrypted += 1
        upstream_reader, upstream_writer = await self._upstream()
        try:
            await _first_ended(_copy(reader, upstream_writer), _copy(upstream_reader, writer))
        finally:
            upstream_writer.close()


async def _first_ended(*work: Awaitable[None]) -> None:
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
