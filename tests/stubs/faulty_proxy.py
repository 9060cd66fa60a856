"""A TCP proxy that behaves as broken networks and stuck processes do, placed in front of a dependency.

proxy = FaultyProxy(Endpoint("127.0.0.1", 7687))
async with proxy.listening(Endpoint("127.0.0.1", 0)):
    proxy.break_as(Fault.BLACKHOLE)
    ...
    proxy.heal()
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
    """How a dependency misbehaves for who connects to it.

    SLOW delays every chunk of bytes either way. REFUSE closes all connections and accepts none. CUT resets a connection
    in the middle of what the dependency sends. BLACKHOLE keeps connections open, and nothing passes.
    """

    SLOW = "slow"
    REFUSE = "refusing"
    CUT = "cut"
    BLACKHOLE = "hanging"


class Endpoint(NamedTuple):
    """A TCP address; a Unix socket where `path` is set."""

    host: str = ""
    port: int = 0
    path: str = ""


class FaultyProxy:
    """Carries bytes between whoever connects and `target`; a callable is asked for it at each connection.

    `at` is where it listens.
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
        """Where it listens, as host:port."""
        return f"{self.at.host}:{self.at.port}"

    async def break_as(self, fault: Fault) -> None:
        """Misbehaves so from now on."""
        self._fault = fault
        if fault is Fault.BLACKHOLE:
            self._open.clear()
        if fault is Fault.REFUSE:
            await self._close()

    async def heal(self) -> None:
        """Carries everything again; what was kept back meanwhile arrives."""
        self._fault = None
        self._open.set()
        if self._server is None:
            await self._listen()

    @asynccontextmanager
    async def listening(self, at: Endpoint) -> AsyncIterator[FaultyProxy]:
        """Carries what comes to an address; port 0 is a free one."""
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
            # Whoever connects may run as another user than the proxy.
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
                there, back = await asyncio.open_unix_connection(target.path)
            else:
                there, back = await asyncio.open_connection(target.host, target.port)
            self._connections[task].append(back)
            await self._carry_both_ways(reader, writer, there, back)
        except OSError:
            pass  # who connects sees a connection that ends, as with a dependency that is away
        finally:
            _abort(self._connections.pop(task))

    async def _carry_both_ways(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        there: asyncio.StreamReader,
        back: asyncio.StreamWriter,
    ) -> None:
        ways = [
            asyncio.create_task(self._carry(reader, back)),
            asyncio.create_task(self._carry(there, writer, answers=True)),
        ]
        try:
            # Either end: a connection that is half closed is of no use to any of the protocols carried here.
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool = False
    ) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(_CHUNK):
                await self._open.wait()
                if self._fault is Fault.SLOW:
                    await asyncio.sleep(self._slow_seconds)
                if self._fault is Fault.CUT and answers:
                    writer.write(data[: len(data) // 2])
                    await writer.drain()
                    return
                writer.write(data)
                await writer.drain()


def _abort(writers: list[asyncio.StreamWriter]) -> None:
    for writer in writers:
        writer.transport.abort()
