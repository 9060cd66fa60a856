"""Measures how late an event loop runs what is due: whatever blocks it delays all calls of the process alike."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from services.runtime.instruments import EVENT_LOOP_LAG, histogram
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter

INTERVAL = 0.1
STALL_SECONDS = 0.25
"""A later run is logged. No text that a caller sends may cause one."""


async def measure_lag(meter: Meter | None = None) -> None:
    """Records the lag of the running loop ten times a second until cancelled."""
    lags = histogram(EVENT_LOOP_LAG, meter)
    clock = asyncio.get_running_loop().time
    while True:
        due = clock() + INTERVAL
        await asyncio.sleep(INTERVAL)
        lag = max(0.0, clock() - due)
        lags.record(lag)
        if lag > STALL_SECONDS:
            get_logger("event_loop").warning("stalled", seconds=round(lag, 3))
