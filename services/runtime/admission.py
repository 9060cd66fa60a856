"""Admission control: a limited number of slots with a short queue; calls beyond the queue are refused.

Used in front of connection pools and of RPCs (`Service.queues`).
"""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from services.runtime.context import current_call_or_none, remaining
from services.runtime.errors import OverloadedError

_OVERLOADED_SECONDS = 0.125  # of `queue_seconds`
_OVERLOADED_WAITING = 0.25  # of `size`
_MIN_OVERLOAD, _MAX_OVERLOAD = 1.0, 16.0


@dataclass(frozen=True, slots=True)
class AdmissionLimits:
    """Number of slots, length of the queue and the longest wait in it.

    A refused caller gets a retry delay of `queue_seconds`, or of `retry_seconds` ± 50 % at random, so that callers
    refused together do not return together.

    With `adaptive`, a caller whose wait timed out indicates a lasting overload, not a burst. For some seconds fewer
    callers may wait, and for less time: admitted calls stay fast, refusals are cheap, and a freed slot still finds a
    waiting caller.
    """

    size: int = 10
    queue_size: int = 100
    queue_seconds: float = 2.0
    retry_seconds: float | None = None
    adaptive: bool = False


class AdmissionQueue:
    """Slots in first-come order. A task with a slot must not request another from the same queue: that can deadlock.

    A pool has one slot for each connection and takes the slot first, so a wait for the connection itself is for
    connecting.
    """

    def __init__(self, limits: AdmissionLimits) -> None:
        self._limits = limits
        self._free = asyncio.Semaphore(limits.size)
        self._active = 0
        self._waiting: Counter[int] = Counter()
        self._overload = _Overload(limits)

    @property
    def capacity(self) -> int:
        """Returns the maximum number of calls with a slot or waiting."""
        return self._limits.size + self._limits.queue_size

    @property
    def active(self) -> int:
        """Returns the number of slots in use."""
        return self._active

    @property
    def waiting(self) -> int:
        """Returns the number of waiting calls. A call that waits for several slots, as a search does, counts once."""
        return len(self._waiting)

    def refuse_early(self) -> None:
        """Raises OverloadedError if a call arriving now would be refused without a wait."""
        if self._free.locked() and len(self._waiting) >= self._overload.queue_size:
            raise self._refusal()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Takes a slot.

        Raises OverloadedError if the queue is full or the wait was too long, DeadlineError past the caller's deadline.
        """
        if self._free.locked():
            await self._wait()
        else:
            await self._free.acquire()  # immediate
            self._overload.note_free()
        self._active += 1
        try:
            yield
        finally:
            self._active -= 1
            self._free.release()

    async def _wait(self) -> None:
        # Outside of a call, each wait counts separately.
        caller = current_call_or_none() or object()
        key = id(caller)
        if key not in self._waiting and len(self._waiting) >= self._overload.queue_size:
            raise self._refusal()
        self._overload.note_wait()
        patience = self._overload.queue_seconds
        self._waiting[key] += 1
        try:
            async with asyncio.timeout(remaining(patience)):
                await self._free.acquire()
        except TimeoutError:
            remaining(patience)
            self._overload.note_refusal()
            raise self._refusal() from None
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key]

    def _refusal(self) -> OverloadedError:
        if self._limits.retry_seconds is None:
            return OverloadedError(self._limits.queue_seconds)
        return OverloadedError(self._limits.retry_seconds * random.uniform(0.5, 1.5))  # noqa: S311 - no secret


class _Overload:
    """Distinguishes a lasting overload from a burst, and limits who may wait, and for how long, in either case.

    An overload lasts a second from a timed-out wait; one that follows immediately lasts twice as long. It ends early
    when as many calls in a row as there are slots find a free one.
    """

    def __init__(self, limits: AdmissionLimits) -> None:
        self._limits = limits
        self._until = 0.0
        self._seconds = _MIN_OVERLOAD
        self._free_in_a_row = 0

    @property
    def queue_size(self) -> int:
        """Returns how many callers may wait now."""
        if not self._is_on():
            return self._limits.queue_size
        return min(self._limits.queue_size, math.ceil(self._limits.size * _OVERLOADED_WAITING))

    @property
    def queue_seconds(self) -> float:
        """Returns how long a caller may wait now, in seconds."""
        return self._limits.queue_seconds * (_OVERLOADED_SECONDS if self._is_on() else 1)

    def note_free(self) -> None:
        """Records a call that found a free slot."""
        self._free_in_a_row += 1
        if self._free_in_a_row >= self._limits.size:
            self._until = 0.0

    def note_wait(self) -> None:
        """Records a call that found no free slot."""
        self._free_in_a_row = 0

    def note_refusal(self) -> None:
        """Records a call whose wait timed out."""
        now = asyncio.get_running_loop().time()
        if not self._limits.adaptive or now < self._until:
            return
        follows = now - self._until < _MIN_OVERLOAD
        self._seconds = min(2 * self._seconds, _MAX_OVERLOAD) if follows else _MIN_OVERLOAD
        self._until = now + self._seconds

    def _is_on(self) -> bool:
        return self._until > 0 and asyncio.get_running_loop().time() < self._until
