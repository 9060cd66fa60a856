"""Work that goes on beside the calls, and must not end because it failed once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager

from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger


@asynccontextmanager
async def beside(work: Coroutine[object, object, None], name: str) -> AsyncIterator[None]:
    """Runs `work` for as long as the block runs."""
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def put_off(name: str, error: Exception) -> None:
    """Logs why it did not go on for now: an outage in a word, what nobody expects whole."""
    log = get_logger(name)
    if isinstance(error, BraidError | TimeoutError):
        log.warning("put off", error=type(error).__name__)
    else:
        log.error("failed", exc_info=error)
