"""Waits until a leg searches again after a fault."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import grpc

from tests.benchmarks.command import MeasureError
from tests.benchmarks.legs import Searches, has_searched

_LIMIT = 60.0
_PAUSE = 0.02


async def until_recovered(doors: Searches, queries: Iterator[str], leg: str) -> float:
    """Returns when, by `time.perf_counter`, `leg` first searched again. Raises MeasureError after a minute."""
    limit = time.perf_counter() + _LIMIT
    while time.perf_counter() < limit:
        try:
            reports = await doors.comprehensive(next(queries), 2.0)
        except grpc.aio.AioRpcError:
            reports = {}
        if has_searched(reports, leg):
            return time.perf_counter()
        await asyncio.sleep(_PAUSE)
    raise MeasureError(f"the leg {leg} did not look again within {_LIMIT:.0f} s")
