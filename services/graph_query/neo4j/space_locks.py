"""Writers of one space take turns before they take a connection: those that wait hold none that others need."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from services.runtime.context import remaining
from services.runtime.errors import DeadlineError


class Turns:
    """A queue for each space, within one process: writers of other processes queue at the space's node."""

    def __init__(self, limit: float) -> None:
        """`limit` in seconds bounds a wait; the caller's deadline may end it sooner."""
        self._limit = limit
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, space: str) -> AsyncIterator[None]:
        """One's turn. DeadlineError when it does not come in time."""
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
