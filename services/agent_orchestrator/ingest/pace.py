"""How much to send at once to a side whose speed is not known before."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

QUICK_SECONDS = 2.0
SLOW_SECONDS = 15.0
# A document that is to blame is alone after three failures.
FAILED_SHARE = 8


class Pace:
    """A batch's size, from 1 to `most`: an eighth after a failure, half after a slow one, double after a quick one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.size = most

    @property
    def is_full(self) -> bool:
        """Whether nothing has slowed it down."""
        return self.size == self._most

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Learns from the time that the block takes."""
        began = time.monotonic()
        try:
            yield
        except Exception:  # whatever it was, it goes on to the caller: less is sent next time
            self.size = max(1, self.size // FAILED_SHARE)
            raise
        took = time.monotonic() - began
        if took > SLOW_SECONDS:
            self.size = max(1, self.size // 2)
        elif took < QUICK_SECONDS:
            self.size = min(self._most, self.size * 2)
