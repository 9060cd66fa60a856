"""Locks by space: writers queue here before they take a connection, so that a waiting writer blocks no other call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from services.runtime.context import remaining
from services.runtime.errors import DeadlineError


class SpaceLocks:
    """A lock for each space, within one process; writers of other processes wait at the space's node."""

    def __init__(self, limit: float) -> None:
        """`limit` in seconds bounds a wait; the caller's deadline may end it sooner."""
        self._limit = limit
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, space: str) -> AsyncIterator[None]:
        """Holds the space's lock during the block. Raises DeadlineError if it is not free in time."""
        lock = self._locks.setdefault(space, asyncio.Lock())
        try:
            async with asyncio.timeout(remaining(self._limit)):
                await lock.acquire()
        except TimeoutError:
            raise DeadlineError from None
        try:
            yield
        finally:
            lock.release()
