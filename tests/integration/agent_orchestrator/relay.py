"""A way to a tier that can be blocked: what is sent either way stays where it is, as with a process that is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

_CHUNK = 65_536


class Relay:
    """Carries bytes between whoever connects and one address, until it is blocked; its connections stay open then."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._open = asyncio.Event()
        self._open.set()
        self._carrying: set[asyncio.Task[None]] = set()

    def block(self) -> None:
        """Nothing passes any more."""
        self._open.clear()

    def unblock(self) -> None:
        """What was sent meanwhile arrives, and everything after it."""
        self._open.set()

    @asynccontextmanager
    async def listening(self, port: int) -> AsyncIterator[None]:
        """Carries what comes to the port."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        try:
            yield
        finally:
            server.close()
            for task in self._carrying:
                task.cancel()
            await asyncio.gather(*self._carrying, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._carrying.add(task)
        try:
            await self._join(reader, writer)
        finally:
            self._carrying.discard(task)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        try:
            with suppress(ConnectionError):
                await asyncio.gather(self._carry(reader, back), self._carry(there, writer))
        finally:
            writer.close()
            back.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(_CHUNK):
            await self._open.wait()
            writer.write(data)
            await writer.drain()
        writer.close()
