"""Seconds that the calls of one search may take together."""

from __future__ import annotations

import asyncio


class Budget:
    """Seconds that calls may take, counted from now."""

    def __init__(self, seconds: float) -> None:
        self._until = asyncio.get_running_loop().time() + seconds

    def left(self) -> float:
        """Seconds left, never none: a call must have a limit to be reported as late."""
        return max(self._until - asyncio.get_running_loop().time(), 0.001)

    def part(self, seconds: float) -> Budget:
        """A budget of so many seconds at most within this one."""
        return Budget(min(seconds, self.left()))
