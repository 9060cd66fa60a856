"""Admission control: a bounded number of slots with a short queue; calls beyond the queue are refused.

Used in front of connection pools and of RPCs (`Service.queues`).
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

_OVERLOADED_SHARE = 0.125


@dataclass(frozen=True, slots=True)
class AdmissionLimits:
    """Number of slots, length of the queue and the longest wait in it.

    A refused caller gets a retry delay of `queue_seconds`, or of `retry_seconds` ± 50 % at random, so that callers
    refused together do not return together.

    `adaptive`: once there has been a queue for all of `queue_seconds`, this is no burst. Callers that come then wait an
    eighth of it: those admitted stay fast, and there is still always one waiting when a slot is free.
    """

    size: int = 10
    queue_size: int = 100
    queue_seconds: float = 2.0
    retry_seconds: float | None = None
    adaptive: bool = False


class AdmissionQueue:
    """Slots in first-come order. A task with a slot must not ask the same queue for another: that can deadlock.

    A pool has one slot for each connection and takes it first: a wait for the connection itself is then connecting.
    """

    def __init__(self, limits: AdmissionLimits) -> None:
        self._limits = limits
        self._free = asyncio.Semaphore(limits.size)
        self._active = 0
        self._waiting: Counter[int] = Counter()
        self._queued_since = 0.0

    @property
    def capacity(self) -> int:
        """How many calls there may be in all, with a slot or waiting."""
        return self._limits.size + self._limits.queue_size

    @property
    def active(self) -> int:
        """Slots in use."""
        return self._active

    @property
    def waiting(self) -> int:
        """Calls that wait. One that waits for several, as a search does for its lists, is one."""
        return len(self._waiting)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """A slot. OverloadedError: queue full or waited too long. DeadlineError: past the caller's deadline."""
        if self._free.locked():
            await self._wait()
        else:
            await self._free.acquire()  # at once
        self._active += 1
        try:
            yield
        finally:
            self._active -= 1
            self._free.release()

    async def _wait(self) -> None:
        # Outside of a call each wait is one of its own.
        caller = current_call_or_none() or object()
        key = id(caller)
        if key not in self._waiting and len(self._waiting) >= self._limits.queue_size:
            raise self._refusal()
        patience = self._patience()
        self._waiting[key] += 1
        try:
            async with asyncio.timeout(remaining(patience)):
                await self._free.acquire()
        except TimeoutError:
            remaining(patience)
            raise self._refusal() from None
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key]

    def _patience(self) -> float:
        now = asyncio.get_running_loop().time()
        if not self._waiting:
            self._queued_since = now
        limit = self._limits.queue_seconds
        overloaded = self._limits.adaptive and now - self._queued_since > limit
        return limit * _OVERLOADED_SHARE if overloaded else limit

    def _refusal(self) -> OverloadedError:
        if self._limits.retry_seconds is None:
            return OverloadedError(self._limits.queue_seconds)
        return OverloadedError(self._limits.retry_seconds * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
