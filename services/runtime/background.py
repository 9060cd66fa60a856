"""Background tasks that run concurrently with calls, survive their own failures, and never end silently."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from services.runtime.errors import BraidError
from services.runtime.instruments import BACKGROUND_RESTARTS, counter
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from opentelemetry.metrics import Meter

    Work = Callable[[], Awaitable[None]]

FIRST_DELAY = 0.5
MAX_DELAY = 30.0
STEADY_SECONDS = 60.0
"""A task that ran for so long before it failed is restarted after the first delay again."""


@asynccontextmanager
async def in_background(name: str, work: Work) -> AsyncIterator[None]:
    """Runs `work` for as long as the block runs, see `keep_running`."""
    task = asyncio.create_task(keep_running(name, work), name=name)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def keep_running(
    name: str, work: Work, *, first_delay: float = FIRST_DELAY, meter: Meter | None = None
) -> None:
    """Runs `work` until it returns; when it fails, logs and counts that, and starts it again after a delay.

    Each failure doubles the delay, up to a maximum.
    """
    restarts = counter(BACKGROUND_RESTARTS, meter)
    restarts.add(0, {"task": name})
    clock = asyncio.get_running_loop().time
    delay = first_delay
    while True:
        began = clock()
        try:
            return await work()
        except Exception as error:  # noqa: BLE001 - any failure of the work
            log_failure(name, error)
        if clock() - began >= STEADY_SECONDS:
            delay = first_delay
        await asyncio.sleep(delay)
        restarts.add(1, {"task": name})
        delay = min(delay * 2, MAX_DELAY)


def log_failure(name: str, error: Exception) -> None:
    """Logs a failure that will be retried: an outage by its name, an unexpected error with its traceback."""
    log = get_logger(name)
    if isinstance(error, BraidError | TimeoutError):
        log.warning("will be retried", error=type(error).__name__)
    else:
        log.error("failed", exc_info=error)
