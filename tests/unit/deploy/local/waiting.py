"""Helpers that wait for other processes."""

import asyncio
from collections.abc import Callable

import psutil

DEADLINE = 20.0


async def eventually(holds: Callable[[], bool]) -> None:
    """Returns once the condition holds. Raises TimeoutError after `DEADLINE` seconds."""
    async with asyncio.timeout(DEADLINE):
        while not holds():  # noqa: ASYNC110 (the condition depends on another process)
            await asyncio.sleep(0.01)


def alive(process: psutil.Process) -> bool:
    """Returns whether a process still runs; a zombie does not."""
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
