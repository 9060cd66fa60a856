"""The size of the next batch, from the time that the last ones took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from braid.common.v1 import errors_pb2
from services.runtime.errors import BraidError

QUICK_SECONDS = 2.0
SLOW_SECONDS = 15.0
# With batches of up to 512, a failing document is sent alone after three failures.
FAILED_SHARE = 8
MAX_PATIENCE = 16


class AdaptiveBatch:
    """A batch's size, from 1 to `max_size`: /8 after a failure, /2 after a slow call, *2 after a fast one.

    `patience` is a factor for the deadline of a call: it doubles whenever even a batch of 1 has exceeded its deadline.
    """

    def __init__(
        self, max_size: int, *, first: int | None = None, slow_seconds: float = SLOW_SECONDS
    ) -> None:
        """`first` is the first size, by default the maximum; a call longer than `slow_seconds` is slow."""
        self._max_size = max_size
        self._slow_seconds = slow_seconds
        self.size = first or max_size
        self.patience = 1

    @property
    def is_full(self) -> bool:
        """Whether the size is at its maximum."""
        return self.size == self._max_size

    @contextmanager
    def measured(self, *, full: bool = True) -> Iterator[None]:
        """Adapts the size to the duration of the block; a batch that was not `full` says nothing about larger ones."""
        began = time.monotonic()
        try:
            yield
        except Exception as error:  # any failure makes the next batch smaller
            if self.size == 1 and _is_deadline(error):
                self.patience = min(self.patience * 2, MAX_PATIENCE)
            self.size = max(1, self.size // FAILED_SHARE)
            raise
        took = time.monotonic() - began
        if took > self._slow_seconds:
            self.size = max(1, self.size // 2)
        elif took < QUICK_SECONDS and full:
            self.size = min(self._max_size, self.size * 2)
            self.patience = 1


def _is_deadline(error: Exception) -> bool:
    if isinstance(error, BraidError):
        return error.reason == errors_pb2.ERROR_REASON_DEADLINE
    return isinstance(error, TimeoutError)
