"""How much may wait: asked before an upload's bytes are read, over all spaces and all processes that accept uploads.

What waits is counted in the database, at most a moment ago; what this process is receiving now is added to it. Other
processes' uploads under way are not: the limits may be passed by as much, never by more.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from services.agent_orchestrator.jobs.store import Waiting
from services.runtime.errors import OverloadedError

RETRY_AFTER = 1.0
FRESH_SECONDS = 0.5
FRESHEST_SECONDS = 0.05


class Counter(Protocol):
    """Who counts what waits."""

    async def backlog(self) -> Waiting:
        """How much waits or runs now, over all spaces."""
        ...


class Backlog:
    """Places for jobs and for their bytes."""

    def __init__(self, jobs: Counter, *, max_jobs: int, max_bytes: int) -> None:
        self._store = jobs
        self._max_jobs = max_jobs
        self._max_bytes = max_bytes
        self._receiving = 0
        self._held = 0
        self._waiting = Waiting(0, 0)
        self._counted = float("-inf")
        self._counting = asyncio.Lock()

    async def check(self, size: int = 0) -> None:
        """OverloadedError unless there is a place for a job of `size` bytes."""
        await self._count(FRESH_SECONDS)
        try:
            self._check(size)
        except OverloadedError:
            # Something may have ended since: a refusal is worth a look.
            await self._count(FRESHEST_SECONDS)
            self._check(size)

    async def enter(self) -> Place:
        """A place for one more job. OverloadedError when there is none; nothing was read then."""
        await self.check()
        self._receiving += 1
        return Place(self)

    def hold(self, count: int) -> None:
        """Counts bytes in. OverloadedError when they are too many."""
        self._check_bytes(count)
        self._held += count

    def accepted(self, size: int) -> None:
        """One more job waits: counted here until it is counted in the database."""
        self._waiting = Waiting(self._waiting.jobs + 1, self._waiting.bytes + size)

    def release(self, count: int) -> None:
        """An upload has been received, or given up."""
        self._receiving -= 1
        self._held -= count

    def _check(self, size: int) -> None:
        self._check_bytes(size)
        if self._waiting.jobs + self._receiving >= self._max_jobs:
            raise OverloadedError(RETRY_AFTER)

    def _check_bytes(self, count: int) -> None:
        held = self._waiting.bytes + self._held
        if held >= self._max_bytes or held + count > self._max_bytes:
            raise OverloadedError(RETRY_AFTER)

    async def _count(self, age: float) -> None:
        async with self._counting:
            now = asyncio.get_running_loop().time()
            if now - self._counted >= age:
                self._waiting = await self._store.backlog()
                self._counted = now


class Place:
    """One upload's place while it is received."""

    def __init__(self, backlog: Backlog) -> None:
        self._backlog = backlog
        self._held = 0
        self._left = False

    def hold(self, count: int) -> None:
        """`count` more bytes of it are held. OverloadedError when the backlog is full."""
        self._backlog.hold(count)
        self._held += count

    def accepted(self) -> None:
        """It has become a job."""
        self._backlog.accepted(self._held)
        self.leave()

    def leave(self) -> None:
        """It is received no more. Leaving twice is leaving once."""
        if not self._left:
            self._left = True
            self._backlog.release(self._held)
