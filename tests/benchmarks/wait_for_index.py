"""Waits until the index has all written vectors, so that searches are measured in the steady state.

The benchmark `upsert` measures the speed of this deferred indexing.
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
    """Returns how many vectors of a large space are not in the index yet; 0 for a small space."""
    connection = await asyncpg.connect(stack.stores.postgres.dsn("braid_reader"))
    try:
        return int(await connection.fetchval(_WAITING, space))
    finally:
        await connection.close()


async def settled(stack: LocalStack, space: str = LOCAL_SPACE) -> float:
    """Waits until all vectors are indexed; returns the seconds. Raises MeasureError after half an hour."""
    began = time.perf_counter()
    while await waiting(stack, space):
        if time.perf_counter() - began > _MOST:
            raise MeasureError(f"vectors of {space} still wait for the index")
        await asyncio.sleep(_EVERY)
    return time.perf_counter() - began
