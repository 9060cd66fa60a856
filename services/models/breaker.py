"""A circuit breaker: a provider that keeps failing is left alone for a while, then tried by one call."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from purgatory import AsyncCircuitBreakerFactory
from purgatory.domain.model import HALF_OPENED, OpenedState

from services.runtime.telemetry import get_logger

# An attempt that is given up tells something of the provider only after so many seconds (a search waits for up to two),
# and after so many times what the provider last took to answer: else callers in a hurry would shut off a slow one.
_FAIR_WAIT = 1.8
_SLOWNESS = 2


class CircuitOpen(Exception):  # noqa: N818 - the state's own name
    """Not tried: the provider failed too often. `retry_after` in seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("circuit open")
        self.retry_after = retry_after


class Breaker:
    """One provider's circuit, closed at first: `failures` in a row open it for `seconds`.

    After that one attempt goes through: its success closes the circuit, its failure opens it again.
    """

    def __init__(
        self,
        name: str,
        *,
        failures: int = 5,
        seconds: float = 15.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`clock` tells seconds since the epoch, as the library reads them."""
        self._name = name
        self._seconds = seconds
        self._clock = clock
        self._probing = False
        self._last_took = 0.0
        self._circuits = AsyncCircuitBreakerFactory(default_threshold=failures, default_ttl=seconds)
        self._circuits.add_listener(_log)

    @asynccontextmanager
    async def guard(
        self, counts: Callable[[Exception], bool] = lambda _: True
    ) -> AsyncIterator[None]:
        """Around one attempt. CircuitOpen instead of it while the circuit is open.

        An exception that `counts` is a failure, and so is an attempt that its caller gave up after the provider had
        been silent for long; anything else says nothing of the provider.
        """
        circuit = await self._circuits.get_breaker(self._name)
        try:
            await circuit.__aenter__()
        except OpenedState as opened:
            left = opened.opened_at + self._seconds - self._clock()
            raise CircuitOpen(max(left, 0.1)) from None
        started = self._clock()
        with self._alone(circuit.context.state):
            try:
                yield
            except BaseException as error:
                failed = counts(error) if isinstance(error, Exception) else self._is_silent(started)
                if failed:
                    await circuit.__aexit__(type(error), error, None)
                raise
            self._last_took = self._clock() - started
            await circuit.__aexit__(None, None, None)

    def _is_silent(self, started: float) -> bool:
        """Whether a provider that was asked then, and has not answered yet, is more than slow."""
        return self._clock() - started >= max(_FAIR_WAIT, _SLOWNESS * self._last_took)

    @contextmanager
    def _alone(self, state: str) -> Iterator[None]:
        """Only one attempt at a time while it is not known whether the provider is back."""
        if state != HALF_OPENED:
            yield
            return
        if self._probing:
            raise CircuitOpen(1.0)
        self._probing = True
        try:
            yield
        finally:
            self._probing = False


def _log(name: str, event: str, change: Any) -> None:
    if event == "state_changed":
        get_logger("models").warning("circuit", provider=name, state=change.state)
