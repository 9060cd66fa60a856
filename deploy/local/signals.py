"""Signals that stop the stack."""

import asyncio
import signal


def end_on_termination() -> None:
    """Cancel the current task on SIGINT or SIGTERM, so that it stops everything that it has started."""
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        if task is not None:
            loop.add_signal_handler(number, task.cancel)


async def until_signalled() -> None:
    """Wait for SIGINT or SIGTERM."""
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, over.set)
    await over.wait()
