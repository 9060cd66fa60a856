"""Throttles the attempts to call one provider: rates, concurrency, its circuit breaker, and its requested waits.

Each user of a provider has a share of its own, so that background work never delays people's questions. The circuit
breaker and the waits are common: a 429 to one user slows all.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from aiolimiter import AsyncLimiter

from services.models.breaker import Breaker, CircuitOpen

# The wait in seconds if a provider refuses for its rate limit without saying for how long.
_DEFAULT_PAUSE = 1.0


class Rates(Protocol):
    """Rate limits of a share."""

    @property
    def requests_per_minute(self) -> int: ...
    @property
    def tokens_per_minute(self) -> int: ...
    @property
    def max_concurrent(self) -> int: ...


@dataclass(slots=True)
class Pause:
    """The end of the wait that a provider has requested, on the event loop's clock."""

    until: float = field(default=0.0)

    def extend(self, seconds: float | None) -> None:
        """Waits for that long from now, unless the current wait is longer."""
        wait = _DEFAULT_PAUSE if seconds is None else seconds
        self.until = max(self.until, asyncio.get_running_loop().time() + wait)

    def left(self) -> float:
        """Returns the seconds left; zero or less when calls are allowed."""
        return self.until - asyncio.get_running_loop().time()


class Throttle:
    """One share of a provider. Safe to share between tasks of one event loop."""

    def __init__(
        self,
        rates: Rates,
        *,
        clock: Callable[[], float] = time.time,
        breaker: Breaker | None = None,
        pause: Pause | None = None,
    ) -> None:
        """`breaker` and `pause` are those of another share of the same provider, if any."""
        self.breaker = breaker or Breaker("language_model", clock=clock)
        self.pause = pause or Pause()
        self._tokens_per_minute = rates.tokens_per_minute
        self._requests = AsyncLimiter(rates.requests_per_minute)
        self._tokens = AsyncLimiter(rates.tokens_per_minute)
        self._slots = asyncio.Semaphore(rates.max_concurrent)

    def share(self, rates: Rates) -> Throttle:
        """Returns another share of the same provider, with rates of its own."""
        return Throttle(rates, breaker=self.breaker, pause=self.pause)

    @asynccontextmanager
    async def attempt(
        self,
        tokens: int,
        is_providers: Callable[[Exception], bool],
        *,
        max_wait: float = float("inf"),
    ) -> AsyncIterator[None]:
        """Wraps one attempt of about `tokens` tokens; `is_providers` tells whether a failure is the provider's own.

        Raises CircuitOpen while the circuit is open, and if the provider has requested a longer wait than `max_wait`.
        """
        await self._wait(max_wait)
        await self._requests.acquire()
        await self._tokens.acquire(min(tokens, self._tokens_per_minute))
        async with self._slots, self.breaker.guard(is_providers):
            yield

    async def _wait(self, max_wait: float) -> None:
        while (left := self.pause.left()) > 0:
            if left > max_wait:
                raise CircuitOpen(left)
            await asyncio.sleep(left)
