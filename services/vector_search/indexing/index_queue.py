"""Vectors of large spaces enter the index when there is time.

A write is answered before: searches compare what waits one by one, beside the index. So a space is searched in full
from the first moment, and loading many documents does not wait for what costs PostgreSQL the most.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from services.runtime.errors import OverloadedError, StoreUnavailableError
from services.vector_search.background import beside, put_off

AT_ONCE = 100
"""Vectors of one transaction: a writer of the same documents waits for it."""
SOON = 8_000
"""With so many waiting, comparing them takes some milliseconds of each search: writes need not pause any more."""
FULL = 16_000
"""With so many, those who write help."""
PAUSE_SECONDS = 5.0
"""The stages that follow a write, such as the graph's, come first."""
PATIENCE_SECONDS = 30.0
"""So long a space that is written to without a pause is left alone."""
ROUND_SECONDS = 60.0
HELP_SECONDS = 1.0
"""A writer helps for no longer: what it wrote is stored, and its caller waits for the answer."""
LONG_AGO = float("-inf")
_NAME = "indexing"


class IndexStore(Protocol):
    """Raises StoreUnavailableError, OverloadedError or DeadlineError when it cannot answer."""

    async def unindexed_count(self, space: str, most: int) -> int:
        """How many vectors of the space are to enter the index, counted up to `most`; 0 of a small space."""
        ...

    async def spaces_to_index(self) -> list[str]:
        """The spaces that have some."""
        ...

    async def index_vectors(self, space: str, most: int) -> int:
        """Brings in at most so many; how many. 0 also when others hold what is left."""
        ...


@dataclass(slots=True)
class _Waiting:
    """Since when vectors of a space wait, and when it was last written to, in seconds of the monotonic clock."""

    since: float
    written: float


class Indexing:
    """Of one process; several do not disturb each other."""

    def __init__(
        self,
        store: IndexStore,
        *,
        pause_seconds: float = PAUSE_SECONDS,
        patience_seconds: float = PATIENCE_SECONDS,
        soon: int = SOON,
        full: int = FULL,
    ) -> None:
        """A space has its turn once nothing was written to it for `pause_seconds`, or `soon` vectors wait, or some have
        waited for `patience_seconds`.
        """
        self._store = store
        self._pause = pause_seconds
        self._patience = patience_seconds
        self._soon = soon
        self._full = full
        self._spaces: dict[str, _Waiting] = {}
        self._news = asyncio.Event()

    async def written(self, space: str, vectors: int) -> None:
        """After a write that stored so many. It brings in as many itself where very many wait; it never fails."""
        if not vectors:
            return
        try:
            waiting = await self._store.unindexed_count(space, self._full)
            if not waiting:
                return
            self._note(space)
            if waiting >= self._full:
                await self._bring_in(space, vectors)
        except Exception as error:  # noqa: BLE001 - what was written stays, and is found: the answer must say so
            self._note(space)
            put_off(_NAME, error)

    def _note(self, space: str) -> None:
        now = time.monotonic()
        self._spaces.setdefault(space, _Waiting(now, now)).written = now
        self._news.set()

    def running(self) -> AbstractAsyncContextManager[None]:
        """Brings vectors in for as long as the block runs."""
        return beside(self._run(), _NAME)

    async def round(self) -> None:
        """Looks for what others left, such as a process that ended, and sees to all spaces that wait.

        StoreUnavailableError, OverloadedError, or DeadlineError of the looking.
        """
        for space in await self._store.spaces_to_index():
            self._spaces.setdefault(space, _Waiting(LONG_AGO, LONG_AGO))
        await self.turn()

    async def turn(self) -> None:
        """Sees to the spaces that are known to wait and have time for it, all of them side by side, for up to a round.

        StoreUnavailableError, OverloadedError. A space that fails by itself is left until the next round.
        """
        until = time.monotonic() + ROUND_SECONDS
        going_on = True
        while going_on and time.monotonic() < until:
            going_on = False
            for space, waiting in list(self._spaces.items()):
                going_on |= await self._try(space, waiting)

    async def _run(self) -> None:
        looked = LONG_AGO
        while True:
            try:
                if time.monotonic() - looked > ROUND_SECONDS:
                    await self.round()
                    looked = time.monotonic()
                else:
                    await self.turn()
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not end what keeps searches fast
                put_off(_NAME, error)
            await self._rest()

    async def _rest(self) -> None:
        """Until a write tells of vectors; a pause where some are known to wait."""
        if self._spaces:
            await asyncio.sleep(self._pause / 2)
            return
        self._news.clear()
        try:
            async with asyncio.timeout(ROUND_SECONDS):
                await self._news.wait()
        except TimeoutError:
            return

    async def _try(self, space: str, waiting: _Waiting) -> bool:
        """As `_see_to`; False of a space that fails by itself, which others' vectors must not wait for."""
        try:
            return await self._see_to(space, waiting)
        except (StoreUnavailableError, OverloadedError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is
            del self._spaces[space]
            put_off(_NAME, error)
            return False

    async def _see_to(self, space: str, waiting: _Waiting) -> bool:
        """Whether some were brought in and there may be more."""
        if not await self._has_time(space, waiting):
            return False
        known = waiting.written
        if await self._store.index_vectors(space, AT_ONCE):
            return True
        # Nothing is left, or others hold it: they tell of it again when they have written, perhaps just now.
        waiting.since = waiting.written
        if waiting.written == known:
            del self._spaces[space]
        return False

    async def _has_time(self, space: str, waiting: _Waiting) -> bool:
        now = time.monotonic()
        if now - waiting.written >= self._pause or now - waiting.since >= self._patience:
            return True
        return await self._store.unindexed_count(space, self._soon) >= self._soon

    async def _bring_in(self, space: str, vectors: int) -> None:
        until = time.monotonic() + HELP_SECONDS
        while vectors > 0 and time.monotonic() < until:
            moved = await self._store.index_vectors(space, min(vectors, AT_ONCE))
            if not moved:
                return
            vectors -= moved
