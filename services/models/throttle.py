"""What every attempt to ask one provider passes: rates, a number at once, its circuit, and the waits it asks for.

A provider's users each have a share of their own, so that background work never holds up people's questions. The
circuit and the waits are common: a 429 to one slows all.
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

# A provider that refuses for its rate and does not say for how long is left alone for so many seconds.
_DEFAULT_PAUSE = 1.0


class Rates(Protocol):
    """How much a share may ask for."""

    @property
    def requests_per_minute(self) -> int: ...
    @property
    def tokens_per_minute(self) -> int: ...
    @property
    def max_concurrent(self) -> int: ...


@dataclass(slots=True)
class Pause:
    """Until when a provider has asked to be left alone, on the event loop's clock."""

    until: float = field(default=0.0)

    def extend(self, seconds: float | None) -> None:
        """Leaves it alone for so long from now, unless it is left alone for longer already."""
        wait = _DEFAULT_PAUSE if seconds is None else seconds
        self.until = max(self.until, asyncio.get_running_loop().time() + wait)

    def left(self) -> float:
        """Seconds left; none or less when it may be asked."""
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
        """`breaker` and `pause` are those of another share of the same provider, if there is one."""
        self.breaker = breaker or Breaker("language_model", clock=clock)
        self.pause = pause or Pause()
        self._tokens_per_minute = rates.tokens_per_minute
        self._requests = AsyncLimiter(rates.requests_per_minute)
        self._tokens = AsyncLimiter(rates.tokens_per_minute)
        self._slots = asyncio.Semaphore(rates.max_concurrent)

    def share(self, rates: Rates) -> Throttle:
        """Another share of the same provider, with rates of its own."""
        return Throttle(rates, breaker=self.breaker, pause=self.pause)

    @asynccontextmanager
    async def attempt(
        self,
        tokens: int,
        is_providers: Callable[[Exception], bool],
        *,
        max_wait: float = float("inf"),
    ) -> AsyncIterator[None]:
        """Around one attempt of about so many tokens; `is_providers` says whether a failure is the provider's own.

        CircuitOpen while the circuit is open, and where the provider has asked for a longer wait than `max_wait`.
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
