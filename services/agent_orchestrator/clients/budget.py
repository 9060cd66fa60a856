"""A time budget that the calls of one search share."""

from __future__ import annotations

import asyncio


class Budget:
    """A time budget for calls, counted from now."""

    def __init__(self, seconds: float) -> None:
        self._until = asyncio.get_running_loop().time() + seconds

    def left(self) -> float:
        """Returns the seconds left, at least 1 ms: a call needs a timeout above 0 to be reported as timed out."""
        return max(self._until - asyncio.get_running_loop().time(), 0.001)

    def part(self, seconds: float) -> Budget:
        """Returns a budget of at most `seconds` within this one."""
        return Budget(min(seconds, self.left()))
