"""Shared by all turns: their time limit, the context of their calls, errors worth waiting for, and stage priority."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from services.agent_orchestrator.jobs.queue import Turn, TurnLostError
from services.agent_orchestrator.jobs.retries import is_transient, reason_of
from services.runtime.context import CallContext
from services.runtime.errors import BraidError, DeadlineError

MAX_DELAY = 60.0


@dataclass(eq=False, slots=True)
class TimeSlice:
    """A turn's time: over immediately when the worker stops, otherwise after `seconds` if other turns wait."""

    seconds: float
    stop: asyncio.Event
    began: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    @property
    def used(self) -> bool:
        """Whether the time is used, so that the turn ends if others wait."""
        return asyncio.get_running_loop().time() - self.began >= self.seconds


class WaitingError(Exception):
    """The turn cannot continue now; the message is the reason, `delay` the seconds until a retry, if known."""

    def __init__(self, reason: str, delay: float | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.delay = delay


def call_of(turn: Turn, space: str) -> CallContext:
    """Returns the context of a turn's calls to the tiers. It has no deadline, because no caller waits."""
    return CallContext(
        request_id=f"{turn.stage}-{turn.id}",
        method="worker",
        space=space,
        user="",
        scopes=frozenset({"read", "write"}),
    )


def waiting(error: BaseException) -> WaitingError | None:
    """Returns the failure as a reason to wait; None if waiting does not help. Re-raises TurnLostError."""
    found: WaitingError | None = None
    for leaf in leaf_exceptions(error):
        if isinstance(leaf, TurnLostError):
            raise leaf
        if isinstance(leaf, WaitingError):
            return leaf
        if is_transient(leaf):
            found = found or _waiting(leaf)
    return found


def leaf_exceptions(error: BaseException) -> Iterator[BaseException]:
    """Yields the single exceptions of a group."""
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for inner in error.exceptions:
        yield from leaf_exceptions(inner)


def _waiting(error: BaseException) -> WaitingError:
    known = error if isinstance(error, BraidError) else DeadlineError()
    asked = known.retry_after
    return WaitingError(reason_of(known), None if asked is None else min(asked, MAX_DELAY))


MAX_SECONDS = 8.0


class StagePriority:
    """Gives the search stage of a worker priority over its graph stage."""

    def __init__(self, seconds: float = MAX_SECONDS) -> None:
        self._seconds = seconds
        self._first = 0
        self._free = asyncio.Event()
        self._free.set()

    @contextmanager
    def search_runs(self) -> Iterator[None]:
        """Gives the search stage priority for the duration of the block."""
        self._first += 1
        self._free.clear()
        try:
            yield
        finally:
            self._first -= 1
            if not self._first:
                self._free.set()

    async def yield_to_search(self, stop: asyncio.Event) -> None:
        """Waits until no search stage runs, for a maximum time, or until `stop` is set."""
        if self._free.is_set():
            return
        waits = [asyncio.ensure_future(event.wait()) for event in (self._free, stop)]
        await asyncio.wait(waits, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
