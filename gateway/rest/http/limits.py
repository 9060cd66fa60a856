"""What requests are counted and bounded by before any route sees them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from services.runtime.errors import OverloadedError
from services.runtime.instruments import RATE_LIMIT_REFUSALS, counter
from services.runtime.rate_limits import RateLimits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.runtime.identity import Identity
    from services.runtime.settings import RuntimeSettings

_RETRY_SECONDS = 1.0


class RequestLimits:
    """Rates of keys and spaces, and how many requests about data are answered at once. Probes and pages are free."""

    def __init__(self, rates: RateLimits, max_requests: int) -> None:
        self._rates = rates
        self._max_requests = max_requests
        self._running = 0
        self._refusals = counter(RATE_LIMIT_REFUSALS)

    @classmethod
    def of(cls, settings: RuntimeSettings) -> RequestLimits:
        """As the settings of the process have them."""
        rates = RateLimits(
            per_key=settings.rate_limit_per_key, per_space=settings.rate_limit_per_space
        )
        return cls(rates, settings.max_concurrent_calls)

    async def count(self, identity: Identity) -> None:
        """Counts a request. RateLimitedError when its key or its space has made too many."""
        await self._rates.check(identity, {})

    @contextmanager
    def request(self) -> Iterator[None]:
        """For the time of a request. OverloadedError when too many are being answered."""
        if self._running >= self._max_requests:
            self._refusals.add(1, {"limit": "concurrency"})
            raise OverloadedError(_RETRY_SECONDS)
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
