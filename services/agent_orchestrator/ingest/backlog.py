"""Limits the jobs and bytes that wait: checked before an upload's bytes are read, across all spaces and processes.

No space can block another. A space that has jobs waiting may add one only while it holds at most four times as much as
is still free then; a space that has none may use any free capacity. So a single busy space holds at most four fifths
of the backlog, two hold four ninths each, and some capacity is always left for another space.

The waiting jobs are counted in the database, at most 0.5 s ago; the uploads that this process is receiving are added.
Uploads that other processes are receiving are not counted: the limits may be exceeded by that much, never by more.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from services.agent_orchestrator.jobs.store import Waiting
from services.runtime.errors import OverloadedError

RETRY_AFTER = 1.0
FRESH_SECONDS = 0.5
FRESHEST_SECONDS = 0.05
# What a space may hold as a multiple of the free jobs or bytes.
SHARE_OF_FREE = 4


class Counter(Protocol):
    """Counts the jobs that wait or run."""

    async def backlog(self) -> Mapping[str, Waiting]:
        """Returns the jobs and bytes that wait or run now, by space; spaces without any may be missing."""
        ...


@dataclass(eq=False, slots=True)
class _Usage:
    """A space's waiting jobs and bytes, and the uploads that this process is receiving for it."""

    jobs: int = 0
    bytes: int = 0
    receiving: int = 0
    received: int = 0


class Backlog:
    """The capacity for waiting jobs and their bytes."""

    def __init__(self, jobs: Counter, *, max_jobs: int, max_bytes: int) -> None:
        self._store = jobs
        self._max_jobs = max_jobs
        self._max_bytes = max_bytes
        self._spaces: defaultdict[str, _Usage] = defaultdict(_Usage)
        self._total = _Usage()
        self._counted = float("-inf")
        self._counting = asyncio.Lock()

    async def check(self, space: str, size: int = 0) -> None:
        """Raises OverloadedError unless there is capacity for a job of `size` bytes of the space."""
        await self._count(FRESH_SECONDS)
        try:
            self._check(space, size)
        except OverloadedError:
            # Jobs may have ended since the last count: count again before refusing.
            await self._count(FRESHEST_SECONDS)
            self._check(space, size)

    async def enter(self, space: str) -> Place:
        """Reserves capacity for one more job. Raises OverloadedError if there is none; nothing has been read then."""
        await self.check(space)
        for held in self._of(space):
            held.receiving += 1
        return Place(self, space)

    def hold(self, space: str, count: int) -> None:
        """Counts further bytes of an upload. Raises OverloadedError if the limit is exceeded."""
        self._check_bytes(space, count, alone=self._jobs(space) <= 1)
        for held in self._of(space):
            held.received += count

    def accepted(self, space: str, waiting: Waiting) -> None:
        """Counts accepted jobs until the next count in the database includes them."""
        for held in self._of(space):
            held.jobs += waiting.jobs
            held.bytes += waiting.bytes

    def release(self, space: str, count: int) -> None:
        """Ends the reservation of an upload that was received or abandoned."""
        for held in self._of(space):
            held.receiving -= 1
            held.received -= count

    def _check(self, space: str, size: int) -> None:
        jobs = self._jobs(space)
        self._check_bytes(space, size, alone=jobs == 0)
        free = self._max_jobs - self._total.jobs - self._total.receiving - 1
        _refuse_unless(free >= 0 and (jobs == 0 or jobs + 1 <= SHARE_OF_FREE * free))

    def _check_bytes(self, space: str, count: int, *, alone: bool) -> None:
        """Raises OverloadedError for too many bytes. `alone` is true if the space has no other job."""
        held = self._total.bytes + self._total.received
        free = self._max_bytes - held - count
        _refuse_unless(free >= 0 and held < self._max_bytes)
        own = self._spaces.get(space, _Usage())
        _refuse_unless(alone or own.bytes + own.received + count <= SHARE_OF_FREE * free)

    def _jobs(self, space: str) -> int:
        one = self._spaces.get(space, _Usage())
        return one.jobs + one.receiving

    def _of(self, space: str) -> tuple[_Usage, _Usage]:
        return self._spaces[space], self._total

    async def _count(self, age: float) -> None:
        async with self._counting:
            now = asyncio.get_running_loop().time()
            if now - self._counted >= age:
                self._take(await self._store.backlog())
                self._counted = now

    def _take(self, waiting: Mapping[str, Waiting]) -> None:
        for space in [one for one, held in self._spaces.items() if not held.receiving]:
            del self._spaces[space]
        self._total.jobs = self._total.bytes = 0
        for held in self._spaces.values():
            held.jobs = held.bytes = 0
        for space, count in waiting.items():
            self.accepted(space, count)


class Place:
    """The reservation of one upload while it is received."""

    def __init__(self, backlog: Backlog, space: str) -> None:
        self._backlog = backlog
        self._space = space
        self._reserved = 0
        self._left = False

    def hold(self, count: int) -> None:
        """Counts `count` more bytes of the upload. Raises OverloadedError if the backlog is full."""
        self._backlog.hold(self._space, count)
        self._reserved += count

    def accepted(self) -> None:
        """Records that the upload has become a job, and ends the reservation."""
        self._backlog.accepted(self._space, Waiting(1, self._reserved))
        self.leave()

    def leave(self) -> None:
        """Ends the reservation. Further calls have no effect."""
        if not self._left:
            self._left = True
            self._backlog.release(self._space, self._reserved)


def _refuse_unless(fits: bool) -> None:
    if not fits:
        raise OverloadedError(RETRY_AFTER)
