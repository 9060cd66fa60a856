"""A provider's client: created in a thread on first use, shared by all callers, and closed with its owner."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Connection(Generic[T]):
    """Creates one client, however many callers need it first. Safe to share between tasks of one event loop."""

    def __init__(
        self, connect: Callable[[], T], disconnect: Callable[[T], Awaitable[None]]
    ) -> None:
        """`connect` runs in a thread, as loading a library and reading certificates would block the event loop.

        It is called again after a failure. `disconnect` closes the client.
        """
        self._connect = connect
        self._disconnect = disconnect
        self._making: asyncio.Task[T] | None = None
        self._closed = False

    async def client(self) -> T | None:
        """Returns the client; None once closed. Raises what `connect` raises."""
        if self._closed:
            return None
        if self._making is None or _failed(self._making):
            self._making = asyncio.create_task(asyncio.to_thread(self._connect))
        # Shielded: a thread cannot be stopped, and a client created for a canceled caller serves the next one.
        client = await asyncio.shield(self._making)
        return None if self._closed else client

    async def close(self) -> None:
        """Closes the client, even one that is still being created."""
        self._closed = True
        making, self._making = self._making, None
        if making is None:
            return
        await asyncio.wait([making])
        if not _failed(making):
            await self._disconnect(making.result())


def _failed(making: asyncio.Task[T]) -> bool:
    return making.done() and (making.cancelled() or making.exception() is not None)
