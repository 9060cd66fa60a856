"""CPU work in a thread while a store works."""

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
    """Runs `work` in a thread while the block goes on, which awaits its result; the block's end waits for it.

    A cancelled wait leaves the thread to end by itself: `work` is of the processor alone, and short.
    """
    running = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        yield running
    finally:
        # A thread cannot be cancelled: wait for it even when the block failed.
        await asyncio.gather(running, return_exceptions=True)
