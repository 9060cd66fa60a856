"""A provider's client: built in a thread when first needed, once for all callers, and closed with its owner."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Connection(Generic[T]):
    """One client, however many callers come first. Safe to share between tasks of one event loop."""

    def __init__(
        self, connect: Callable[[], T], disconnect: Callable[[T], Awaitable[None]]
    ) -> None:
        """`connect` runs in a thread, as loading a library and reading certificates would hold up the event loop; it
        is tried again after a failure. `disconnect` closes what it made.
        """
        self._connect = connect
        self._disconnect = disconnect
        self._making: asyncio.Task[T] | None = None
        self._closed = False

    async def client(self) -> T | None:
        """The client; None once closed. Raises what `connect` raises."""
        if self._closed:
            return None
        if self._making is None or _failed(self._making):
            self._making = asyncio.create_task(asyncio.to_thread(self._connect))
        # Shielded: a thread cannot be stopped, and what it makes for a caller that gave up is for the next one.
        client = await asyncio.shield(self._making)
        return None if self._closed else client

    async def close(self) -> None:
        """Closes the client, also one that is being built."""
        self._closed = True
        making, self._making = self._making, None
        if making is None:
            return
        await asyncio.wait([making])
        if not _failed(making):
            await self._disconnect(making.result())


def _failed(making: asyncio.Task[T]) -> bool:
    return making.done() and (making.cancelled() or making.exception() is not None)
