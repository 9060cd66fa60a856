"""Helper processes of a measurement, which print one line when ready and are always stopped."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator

from tests.benchmarks.command import MeasureError

_LIMIT = 300.0


@contextlib.asynccontextmanager
async def started(module: str, *arguments: str) -> AsyncIterator[tuple[int, str]]:
    """Runs `python -m module arguments…`; yields its process id and first line. Raises MeasureError without one."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *arguments),
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C reaches it only through this process
    )
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), _LIMIT)
        if not line:
            raise MeasureError(f"{module} did not start; see above")
        yield process.pid, line.decode().strip()
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.shield(process.wait())
