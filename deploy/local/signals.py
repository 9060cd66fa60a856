"""How a person or a service manager ends the stack."""

import asyncio
import signal


def end_on_termination() -> None:
    """Cancel the present task on SIGINT or SIGTERM: whatever it has started is stopped."""
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        if task is not None:
            loop.add_signal_handler(number, task.cancel)


async def until_signalled() -> None:
    """Wait for SIGINT or SIGTERM; the caller then stops what it has started."""
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, over.set)
    await over.wait()
