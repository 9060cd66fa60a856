"""Rate limits for each API key and each space.

Each process counts separately: n replicas admit up to n times as much.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from limits.aio.storage import MemoryStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from services.runtime.errors import RateLimitedError
from services.runtime.instruments import RATE_LIMIT_REFUSALS, counter
from services.runtime.limit_settings import parse_rates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from limits import RateLimitItem
    from opentelemetry.metrics import Meter

    from services.runtime.identity import Identity

ADMITTED = "braid-admitted"
"""Metadata of calls between Braid's processes: the caller's request was counted where it came in."""
_MIN_RETRY_SECONDS = 0.05


class RateLimits:
    """Counts calls in sliding windows."""

    def __init__(
        self, *, per_key: str = "", per_space: str = "", meter: Meter | None = None
    ) -> None:
        """Limits in the format of `parse_rates`; an empty text sets none."""
        self._per_key = parse_rates(per_key)
        self._per_space = parse_rates(per_space)
        self._refusals = counter(RATE_LIMIT_REFUSALS, meter)
        self._windows = SlidingWindowCounterRateLimiter(MemoryStorage())

    async def check(self, identity: Identity, metadata: Mapping[str, str]) -> None:
        """Counts a call. Raises RateLimitedError, with the time to wait, if the limit is exceeded.

        A call that another Braid process has counted is not counted again. This mark is accepted only from a key with
        the scope `delegate`, or from a caller on this machine if no keys are used.
        """
        if not (self._per_key or self._per_space):
            return
        delegated = "delegate" in identity.scopes
        if ADMITTED in metadata and (delegated or not identity.key_id):
            return
        # A delegating key carries the calls of many users, so each call counts for the space it names.
        if identity.key_id and not delegated:
            await self._count(self._per_key, "key", identity.key_id)
        await self._count(self._per_space, "space", identity.space)

    async def _count(self, limits: Sequence[RateLimitItem], kind: str, name: str) -> None:
        for limit in limits:
            if not await self._windows.hit(limit, kind, name):
                self._refusals.add(1, {"limit": kind})
                stats = await self._windows.get_window_stats(limit, kind, name)
                wait = max(_MIN_RETRY_SECONDS, stats.reset_time - time.time())
                raise RateLimitedError(kind, str(limit), wait)
