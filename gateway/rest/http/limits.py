"""Limits of requests that apply before any route."""

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
    """Rates of keys and spaces, and the maximum of concurrent data requests. Probes and pages are exempt."""

    def __init__(self, rates: RateLimits, max_requests: int) -> None:
        self._rates = rates
        self._max_requests = max_requests
        self._running = 0
        self._refusals = counter(RATE_LIMIT_REFUSALS)

    @classmethod
    def of(cls, settings: RuntimeSettings) -> RequestLimits:
        """Creates the limits from the settings of the process."""
        rates = RateLimits(
            per_key=settings.rate_limit_per_key, per_space=settings.rate_limit_per_space
        )
        return cls(rates, settings.max_concurrent_calls)

    async def count(self, identity: Identity) -> None:
        """Counts a request. Raises RateLimitedError if its key or its space exceeds its rate."""
        await self._rates.check(identity, {})

    @contextmanager
    def request(self) -> Iterator[None]:
        """Limits concurrency for the duration of a request. Raises OverloadedError if too many are running."""
        if self._running >= self._max_requests:
            self._refusals.add(1, {"limit": "concurrency"})
            raise OverloadedError(_RETRY_SECONDS)
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
