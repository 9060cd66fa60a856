"""Waiting for what happens in other processes."""

import asyncio
from collections.abc import Callable

import psutil

DEADLINE = 20.0


async def eventually(holds: Callable[[], bool]) -> None:
    """Returns once it holds. TimeoutError when that takes too long."""
    async with asyncio.timeout(DEADLINE):
        while not holds():  # noqa: ASYNC110 (what is waited for happens in another process)
            await asyncio.sleep(0.01)


def alive(process: psutil.Process) -> bool:
    """Whether it still runs; one that only waits for its parent's notice does not."""
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
