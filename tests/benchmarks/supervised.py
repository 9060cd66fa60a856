"""`python -m tests.benchmarks.supervised DATA`: the stack under a supervisor of its own, as `braid up` runs it.

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
    """Runs the stack until told to stop."""
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, over.set)
    stores = LocalStores(data, record=True)
    async with LocalStack(data, ports="free", stores=stores):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await over.wait()
    await stores.create_aot_cache()


if __name__ == "__main__":
    asyncio.run(keep(Path(sys.argv[1])))
