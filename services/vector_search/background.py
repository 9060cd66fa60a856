"""Background work that runs concurrently with calls and survives its own failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager

from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger


@asynccontextmanager
async def in_background(work: Coroutine[object, object, None], name: str) -> AsyncIterator[None]:
    """Runs `work` for as long as the block runs."""
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def log_failure(name: str, error: Exception) -> None:
    """Logs a failure that will be retried: an outage by its name, an unexpected error with its traceback."""
    log = get_logger(name)
    if isinstance(error, BraidError | TimeoutError):
        log.warning("will be retried", error=type(error).__name__)
    else:
        log.error("failed", exc_info=error)
