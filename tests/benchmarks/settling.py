"""Waits until the index has the vectors that were written: searches are measured as they are from then on.

What loading leaves for later is not lost sight of: how fast it is done is a figure of its own (`upsert`).
"""

from __future__ import annotations

import asyncio
import time

import asyncpg

from deploy.local.stack import LocalStack
from tests.benchmarks.command import MeasureError
from tests.benchmarks.credentials import LOCAL_SPACE

_WAITING = "select unindexed_count($1, 1000000000)"
_EVERY = 0.1
_MOST = 1_800.0


async def waiting(stack: LocalStack, space: str = LOCAL_SPACE) -> int:
    """How many vectors of a large space are not in the index yet; 0 of a small one."""
    connection = await asyncpg.connect(stack.stores.postgres.dsn("braid_reader"))
    try:
        return int(await connection.fetchval(_WAITING, space))
    finally:
        await connection.close()


async def settled(stack: LocalStack, space: str = LOCAL_SPACE) -> float:
    """Seconds until none waits. MeasureError after half an hour."""
    began = time.perf_counter()
    while await waiting(stack, space):
        if time.perf_counter() - began > _MOST:
            raise MeasureError(f"vectors of {space} still wait for the index")
        await asyncio.sleep(_EVERY)
    return time.perf_counter() - began
