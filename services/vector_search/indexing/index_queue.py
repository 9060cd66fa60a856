"""Moves vectors of large spaces into the HNSW index in the background.

Writes skip HNSW maintenance until 16,000 vectors are queued; beyond that each writer spends up to 1 s draining the
queue. Searches compare queued vectors one by one, so every chunk is found from the first moment.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from services.runtime.background import in_background, log_failure
from services.runtime.errors import OverloadedError, StoreUnavailableError

BATCH_SIZE = 100
"""Vectors of one transaction: a writer of the same documents waits for it."""
BUSY_BACKLOG = 8_000
"""With so many queued, comparing them takes milliseconds of each search: they are indexed even while writes go on."""
MAX_BACKLOG = 16_000
"""With so many queued, writers index vectors themselves."""
IDLE_SECONDS = 5.0
"""A space is indexed once it was not written to for so long: the stages that follow a write come first."""
MAX_WAIT_SECONDS = 30.0
"""A space that is written to without a pause is indexed after so long."""
ROUND_SECONDS = 60.0
MAX_HELP_SECONDS = 1.0
"""A writer indexes for no longer: its documents are stored, and its caller waits for the answer."""
LONG_AGO = float("-inf")
_NAME = "indexing"


class IndexStore(Protocol):
    """Indexes vectors. Raises StoreUnavailableError, OverloadedError or DeadlineError if the store cannot answer."""

    async def unindexed_count(self, space: str, limit: int) -> int:
        """Returns how many vectors of a large space are not indexed yet, at most `limit`; 0 for a small space."""
        ...

    async def spaces_to_index(self) -> list[str]:
        """Returns large spaces with vectors that are not indexed yet."""
        ...

    async def index_vectors(self, space: str, limit: int) -> int:
        """Indexes up to `limit` vectors; returns how many. Returns 0 also if other processes have locked the rest."""
        ...


@dataclass(slots=True)
class _Waiting:
    """Since when vectors of a space are queued, and when it was last written to, in seconds of the monotonic clock."""

    since: float
    written: float


class IndexQueue:
    """Indexes vectors in the background; several processes may do so concurrently."""

    def __init__(
        self,
        store: IndexStore,
        *,
        idle_seconds: float = IDLE_SECONDS,
        max_wait_seconds: float = MAX_WAIT_SECONDS,
        busy_backlog: int = BUSY_BACKLOG,
        max_backlog: int = MAX_BACKLOG,
    ) -> None:
        """A space is due after `idle_seconds` without writes, `max_wait_seconds`, or with `busy_backlog` vectors."""
        self._store = store
        self._idle = idle_seconds
        self._max_wait = max_wait_seconds
        self._busy_backlog = busy_backlog
        self._max_backlog = max_backlog
        self._spaces: dict[str, _Waiting] = {}
        self._written = asyncio.Event()

    async def written(self, space: str, vectors: int) -> None:
        """Records a write of `vectors` vectors. If the backlog is full, it indexes as many itself. Never raises."""
        if not vectors:
            return
        try:
            waiting = await self._store.unindexed_count(space, self._max_backlog)
            if not waiting:
                return
            self._enqueue(space)
            if waiting >= self._max_backlog:
                await self._help(space, vectors)
        except Exception as error:  # noqa: BLE001 - the write is stored and must be answered
            self._enqueue(space)
            log_failure(_NAME, error)

    def _enqueue(self, space: str) -> None:
        now = time.monotonic()
        self._spaces.setdefault(space, _Waiting(now, now)).written = now
        self._written.set()

    def running(self) -> AbstractAsyncContextManager[None]:
        """Indexes vectors for as long as the block runs."""
        return in_background(_NAME, self._run)

    async def round(self) -> None:
        """Finds vectors that other processes left, for example after a crash, and indexes all queued spaces.

        Raises StoreUnavailableError, OverloadedError, or DeadlineError if finding them takes too long.
        """
        for space in await self._store.spaces_to_index():
            self._spaces.setdefault(space, _Waiting(LONG_AGO, LONG_AGO))
        await self.turn()

    async def turn(self) -> None:
        """Indexes the known spaces that are due, one batch at a time in turn, for up to a round.

        Raises StoreUnavailableError or OverloadedError. A space that fails is retried in the next round.
        """
        until = time.monotonic() + ROUND_SECONDS
        more = True
        while more and time.monotonic() < until:
            more = False
            for space, waiting in list(self._spaces.items()):
                more |= await self._try(space, waiting)

    async def _run(self) -> None:
        looked = LONG_AGO
        while True:
            try:
                if time.monotonic() - looked > ROUND_SECONDS:
                    await self.round()
                    looked = time.monotonic()
                else:
                    await self.turn()
            except Exception as error:  # noqa: BLE001 - no error may end the loop
                log_failure(_NAME, error)
            await self._rest()

    async def _rest(self) -> None:
        """Waits for a write; only briefly while spaces are queued."""
        if self._spaces:
            await asyncio.sleep(self._idle / 2)
            return
        self._written.clear()
        try:
            async with asyncio.timeout(ROUND_SECONDS):
                await self._written.wait()
        except TimeoutError:
            return

    async def _try(self, space: str, waiting: _Waiting) -> bool:
        """Runs `_index_batch`; returns False for a space that fails, so that other spaces continue."""
        try:
            return await self._index_batch(space, waiting)
        except (StoreUnavailableError, OverloadedError):
            raise
        except Exception as error:  # noqa: BLE001 - other spaces must not be affected
            del self._spaces[space]
            log_failure(_NAME, error)
            return False

    async def _index_batch(self, space: str, waiting: _Waiting) -> bool:
        """Indexes one batch if the space is due; returns whether there may be more."""
        if not await self._is_due(space, waiting):
            return False
        last_write = waiting.written
        if await self._store.index_vectors(space, BATCH_SIZE):
            return True
        # Nothing is left, or other writers have locked the rest: they enqueue the space again, perhaps concurrently.
        waiting.since = waiting.written
        if waiting.written == last_write:
            del self._spaces[space]
        return False

    async def _is_due(self, space: str, waiting: _Waiting) -> bool:
        now = time.monotonic()
        if now - waiting.written >= self._idle or now - waiting.since >= self._max_wait:
            return True
        return await self._store.unindexed_count(space, self._busy_backlog) >= self._busy_backlog

    async def _help(self, space: str, vectors: int) -> None:
        until = time.monotonic() + MAX_HELP_SECONDS
        while vectors > 0 and time.monotonic() < until:
            moved = await self._store.index_vectors(space, min(vectors, BATCH_SIZE))
            if not moved:
                return
            vectors -= moved
