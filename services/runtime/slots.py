"""A bounded number of things at a time, and a short queue in front: what is beyond it is refused.

In front of a pool of connections, and in front of RPCs (`Service.queues`).
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from services.runtime.context import current_call_or_none, remaining
from services.runtime.errors import OverloadedError


@dataclass(frozen=True, slots=True)
class SlotLimits:
    """How many slots, how many calls may wait for one and how long.

    A refused caller is told to come back after `queue_seconds`, or after about `retry_seconds`: spread over half as
    much more or less, so that callers who were refused together do not come back together.
    """

    size: int = 10
    queue_size: int = 100
    queue_seconds: float = 2.0
    retry_seconds: float | None = None


class Slots:
    """Taken in the order of asking. Whoever holds one must not ask the same slots for another: those who all do would
    wait for each other.

    A pool has one for each connection, taken before the connection is: waiting for that is then connecting, no load.
    """

    def __init__(self, limits: SlotLimits) -> None:
        self._limits = limits
        self._free = asyncio.Semaphore(limits.size)
        self._held = 0
        self._waiting: Counter[int] = Counter()

    @property
    def capacity(self) -> int:
        """How many calls there may be in all, with a slot or waiting."""
        return self._limits.size + self._limits.queue_size

    @property
    def held(self) -> int:
        """How many are taken."""
        return self._held

    @property
    def waiting(self) -> int:
        """Calls that wait. One that waits for several, as a search does for its lists, is one."""
        return len(self._waiting)

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """A slot. OverloadedError when too many wait already or none comes in time, DeadlineError past the caller's."""
        if self._free.locked():
            await self._wait()
        else:
            await self._free.acquire()  # at once
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            self._free.release()

    async def _wait(self) -> None:
        # Outside of a call each wait is one of its own.
        caller = current_call_or_none() or object()
        key = id(caller)
        if key not in self._waiting and len(self._waiting) >= self._limits.queue_size:
            raise self._refusal()
        self._waiting[key] += 1
        try:
            async with asyncio.timeout(remaining(self._limits.queue_seconds)):
                await self._free.acquire()
        except TimeoutError:
            remaining(self._limits.queue_seconds)
            raise self._refusal() from None
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key]

    def _refusal(self) -> OverloadedError:
        if self._limits.retry_seconds is None:
            return OverloadedError(self._limits.queue_seconds)
        return OverloadedError(self._limits.retry_seconds * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
