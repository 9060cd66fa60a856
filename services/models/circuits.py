"""Circuit breakers by endpoint: what fails for one model of a provider is left alone by its others too."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.models.breaker import Breaker


class Circuits:
    """One circuit an endpoint, for all embedders that these are handed to. Safe to share between threads."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """`clock` tells how long circuits have been open."""
        self._clock = clock
        # Clients are made in threads, each in one of its own.
        self._making = threading.Lock()
        self._made: dict[str, Breaker] = {}

    def of(self, endpoint: str) -> Breaker:
        """The endpoint's circuit."""
        # Here, so that a process that asks no provider never pays for the library.
        from services.models.breaker import Breaker  # noqa: PLC0415

        with self._making:
            if endpoint not in self._made:
                self._made[endpoint] = Breaker("openai", clock=self._clock)
            return self._made[endpoint]
