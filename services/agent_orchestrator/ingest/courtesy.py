"""Search first: the graph's stage gives way while uploads are being read and embedded on the same machine.

Both want all cores. A document is of use once it is searchable, so the graph waits; not for ever, since uploads may
come without end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_SECONDS = 8.0


class Courtesy:
    """Between the stages of one worker."""

    def __init__(self, seconds: float = LONGEST_SECONDS) -> None:
        self._seconds = seconds
        self._first = 0
        self._free = asyncio.Event()
        self._free.set()

    @contextmanager
    def goes_first(self) -> Iterator[None]:
        """The time of the block is the first stage's."""
        self._first += 1
        self._free.clear()
        try:
            yield
        finally:
            self._first -= 1
            if not self._first:
                self._free.set()

    async def give_way(self, stop: asyncio.Event) -> None:
        """Waits until nobody goes first, or long enough, or `stop` is set."""
        if self._free.is_set():
            return
        waits = [asyncio.ensure_future(event.wait()) for event in (self._free, stop)]
        await asyncio.wait(waits, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
