"""A worker as a separate process."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager


@asynccontextmanager
async def worker_process(
    environment: Mapping[str, str],
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Starts a worker with these settings and a short lease, and kills it at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.agent_orchestrator", "--worker"),
        env={
            **os.environ,
            "BRAID_AGENT_WORKER_LISTEN": "127.0.0.1:0",
            "BRAID_AGENT_LEASE_SECONDS": "1",
            "BRAID_LOG_LEVEL": "error",
            **environment,
        },
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
