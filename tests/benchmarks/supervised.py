"""`python -m tests.benchmarks.supervised DATA`: the stack under its own supervisor, as `braid up` runs it.

Writes `ready` to standard output once everything is healthy, and stops everything on SIGTERM.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from deploy.local.stack import LocalStack
from deploy.local.stores import LocalStores


async def keep(data: Path) -> None:
    """Runs the stack until SIGTERM or SIGINT."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    stores = LocalStores(data, record=True)
    async with LocalStack(data, ports="free", stores=stores):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await stopped.wait()
    await stores.create_aot_cache()


if __name__ == "__main__":
    asyncio.run(keep(Path(sys.argv[1])))
