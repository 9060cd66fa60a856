"""Runs CPU work in a thread concurrently with calls to the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")


Result = TypeVar("Result")


@asynccontextmanager
async def run_in_thread(
    work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
) -> AsyncIterator[asyncio.Future[Result]]:
    """Runs `work` in a thread during the block, which awaits its result; leaving the block waits for the thread.

    After a cancelled wait the thread ends by itself: `work` must be short and only use the CPU.
    """
    running = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        yield running
    finally:
        # A thread cannot be cancelled: wait for it even if the block failed.
        await asyncio.gather(running, return_exceptions=True)
