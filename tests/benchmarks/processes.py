"""Helper processes of a measurement: started with one line to wait for, and stopped whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator

from tests.benchmarks.command import MeasureError

_LIMIT = 300.0


@contextlib.asynccontextmanager
async def started(module: str, *arguments: str) -> AsyncIterator[tuple[int, str]]:
    """`python -m module arguments…`: its process id and its first line. MeasureError when it has none."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *arguments),
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C reaches it through us, once
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
