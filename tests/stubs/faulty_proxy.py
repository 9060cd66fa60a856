"""A TCP proxy that simulates broken networks and hung processes in front of a dependency.

proxy = FaultyProxy(Endpoint("127.0.0.1", 7687))
async with proxy.listening(Endpoint("127.0.0.1", 0)):
    await proxy.break_as(Fault.BLACKHOLE)
    ...
    await proxy.heal()
"""

from __future__ import annotations

import asyncio
import enum
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

_CHUNK = 65_536
_SLOW_SECONDS = 0.1


class Fault(enum.Enum):
    """The fault that clients of a dependency experience.

    SLOW delays every chunk of bytes in both directions. REFUSE closes all connections and accepts none. CUT resets a
    connection in the middle of the dependency's response. BLACKHOLE keeps connections open and forwards nothing.
    """

    SLOW = "slow"
    REFUSE = "refusing"
    CUT = "cut"
    BLACKHOLE = "hanging"


class Endpoint(NamedTuple):
    """A TCP address, or a Unix socket if `path` is set."""

    host: str = ""
    port: int = 0
    path: str = ""


class FaultyProxy:
    """Forwards bytes between clients and `target`; a callable is called for each connection.

    `at` is the address on which it listens.
    """

    def __init__(
        self,
        target: Endpoint | Callable[[], Endpoint],
        *,
        slow_seconds: float = _SLOW_SECONDS,
    ) -> None:
        self._target = target if callable(target) else lambda: target
        self._slow_seconds = slow_seconds
        self._fault: Fault | None = None
        self._open = asyncio.Event()
        self._open.set()
        self.at = Endpoint()
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], list[asyncio.StreamWriter]] = {}

    @property
    def address(self) -> str:
        """Returns its own address as host:port."""
        return f"{self.at.host}:{self.at.port}"

    async def break_as(self, fault: Fault) -> None:
        """Injects a fault."""
        self._fault = fault
        if fault is Fault.BLACKHOLE:
            self._open.clear()
        if fault is Fault.REFUSE:
            await self._close()

    async def heal(self) -> None:
        """Removes the fault; delayed bytes are delivered."""
        self._fault = None
        self._open.set()
        if self._server is None:
            await self._listen()

    @asynccontextmanager
    async def listening(self, at: Endpoint) -> AsyncIterator[FaultyProxy]:
        """Listens on an address while the block runs; port 0 is a free one."""
        self.at = at
        await self._listen()
        try:
            yield self
        finally:
            await self._close()
            tasks = list(self._connections)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self) -> None:
        if self.at.path:
            self._server = await asyncio.start_unix_server(self._accept, self.at.path)
            # Clients may run as another user than the proxy.
            os.chmod(self.at.path, 0o777)  # noqa: PTH101, S103 - at once
            return
        self._server = await asyncio.start_server(self._accept, self.at.host, self.at.port)
        self.at = self.at._replace(port=self._server.sockets[0].getsockname()[1])

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        if self.at.path:
            with suppress(FileNotFoundError):
                os.unlink(self.at.path)  # noqa: PTH108 - at once
        for writers in self._connections.values():
            _abort(writers)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = [writer]
        try:
            await self._open.wait()
            target = self._target()
            if target.path:
                target_reader, target_writer = await asyncio.open_unix_connection(target.path)
            else:
                target_reader, target_writer = await asyncio.open_connection(
                    target.host, target.port
                )
            self._connections[task].append(target_writer)
            await self._forward_both(reader, writer, target_reader, target_writer)
        except OSError:
            pass  # the client sees a closed connection, as with an unavailable dependency
        finally:
            _abort(self._connections.pop(task))

    async def _forward_both(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        target_reader: asyncio.StreamReader,
        target_writer: asyncio.StreamWriter,
    ) -> None:
        directions = [
            asyncio.create_task(self._forward(reader, target_writer)),
            asyncio.create_task(self._forward(target_reader, writer, responses=True)),
        ]
        try:
            # The first end suffices, because none of the forwarded protocols uses half-closed connections.
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for direction in directions:
                direction.cancel()
            await asyncio.gather(*directions, return_exceptions=True)

    async def _forward(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, responses: bool = False
    ) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(_CHUNK):
                await self._open.wait()
                if self._fault is Fault.SLOW:
                    await asyncio.sleep(self._slow_seconds)
                if self._fault is Fault.CUT and responses:
                    writer.write(data[: len(data) // 2])
                    await writer.drain()
                    return
                writer.write(data)
                await writer.drain()


def _abort(writers: list[asyncio.StreamWriter]) -> None:
    for writer in writers:
        writer.transport.abort()
