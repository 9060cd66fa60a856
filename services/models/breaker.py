"""A circuit breaker: a provider that keeps failing is not called for some seconds, then probed by one call."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from enum import StrEnum

from services.runtime.telemetry import get_logger

# A canceled attempt counts as a failure only after this many seconds (a search waits for up to two), and after twice
# the time of the provider's last answer; else callers with short deadlines would open the circuit of a slow provider.
_MIN_SILENCE_SECONDS = 1.8
_SILENCE_FACTOR = 2
_PROBE_RETRY_SECONDS = 1.0
# Short, so that a recovered provider is used again within five seconds; one probe in three seconds is no burden.
_OPEN_SECONDS = 3.0


class CircuitOpen(Exception):  # noqa: N818 - the state's own name
    """The attempt was not made: the provider failed too often. `retry_after` is in seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("circuit open")
        self.retry_after = retry_after


class State(StrEnum):
    """CLOSED admits every attempt, OPEN none, HALF_OPEN one at a time."""

    CLOSED = "closed"
    OPEN = "opened"
    HALF_OPEN = "half-opened"


class Breaker:
    """One provider's circuit, closed at first: `failures` in a row open it for `seconds`.

    After that one attempt is admitted: its success closes the circuit, its failure opens it again. To be used on one
    event loop.
    """

    def __init__(
        self,
        name: str,
        *,
        failures: int = 5,
        seconds: float = _OPEN_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`clock` returns seconds."""
        self._name = name
        self._max_failures = failures
        self._seconds = seconds
        self._clock = clock
        self._state = State.CLOSED
        self._failures = 0
        self._opened_at = 0.0
        self._probing = False
        self._last_seconds = 0.0

    @asynccontextmanager
    async def guard(
        self, counts: Callable[[Exception], bool] = lambda _: True
    ) -> AsyncIterator[None]:
        """Wraps one attempt. Raises CircuitOpen instead of running it while the circuit is open.

        An exception for which `counts` is true is a failure, and so is a canceled attempt after a long silence of the
        provider; anything else does not change the state.
        """
        probe = self._admit()
        started = self._clock()
        try:
            yield
        except BaseException as error:
            failed = counts(error) if isinstance(error, Exception) else self._is_silent(started)
            if failed:
                self._record_failure()
            raise
        else:
            self._last_seconds = self._clock() - started
            self._record_success()
        finally:
            if probe:
                self._probing = False

    @property
    def is_closed(self) -> bool:
        """Returns whether the circuit is closed, so that the provider is believed to answer."""
        return self._state is State.CLOSED

    def _admit(self) -> bool:
        """Admits an attempt; returns whether it is the probe of a failed provider.

        Raises CircuitOpen if it is not admitted.
        """
        if self._state is State.OPEN:
            left = self._opened_at + self._seconds - self._clock()
            if left > 0:
                raise CircuitOpen(max(left, 0.1))
            self._enter(State.HALF_OPEN)
        if self._state is not State.HALF_OPEN:
            return False
        if self._probing:
            raise CircuitOpen(_PROBE_RETRY_SECONDS)
        self._probing = True
        return True

    def _is_silent(self, started: float) -> bool:
        """Returns whether a call started at that time has been unanswered too long for a merely slow provider."""
        limit = max(_MIN_SILENCE_SECONDS, _SILENCE_FACTOR * self._last_seconds)
        return self._clock() - started >= limit

    def _record_failure(self) -> None:
        self._failures += 1
        if self._state is State.HALF_OPEN or self._failures >= self._max_failures:
            self._opened_at = self._clock()
            self._enter(State.OPEN)

    def _record_success(self) -> None:
        # An attempt from before the circuit opened may still succeed. The circuit stays open, as later attempts failed.
        if self._state is State.OPEN:
            return
        self._failures = 0
        self._enter(State.CLOSED)

    def _enter(self, state: State) -> None:
        if state is not self._state:
            self._state = state
            get_logger("models").warning("circuit", provider=self._name, state=state.value)


class Breakers:
    """One circuit breaker for each endpoint, shared by all of its models. Safe to share between threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` returns seconds."""
        self._clock = clock
        # Clients are created in several threads.
        self._lock = threading.Lock()
        self._breakers: dict[str, Breaker] = {}

    def impairments(self) -> Sequence[str]:
        """Returns a sentence for each impairment of the process; the health status reports them but does not change."""
        with self._lock:
            unavailable = sum(not breaker.is_closed for breaker in self._breakers.values())
        return [
            f"An embedding provider does not answer ({unavailable} of {len(self._breakers)})."
        ] * bool(unavailable)

    def for_endpoint(self, endpoint: str) -> Breaker:
        """Returns the endpoint's circuit breaker."""
        with self._lock:
            if endpoint not in self._breakers:
                self._breakers[endpoint] = Breaker("openai", clock=self._clock)
            return self._breakers[endpoint]
