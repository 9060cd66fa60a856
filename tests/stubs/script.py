"""What a stubbed tier is told to do before it answers, and what it saw."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from services.runtime.context import CallContext, current_call
from services.runtime.errors import StoreUnavailableError

Act = Callable[[Any], Awaitable[None]]


async def hang(_request: object) -> None:
    """An act that never ends by itself."""
    await asyncio.Event().wait()


def fail(error: Exception) -> Act:
    """An act that raises."""

    async def act(_request: object) -> None:
        raise error

    return act


def wait(seconds: float) -> Act:
    """An act that takes its time."""

    async def act(_request: object) -> None:
        await asyncio.sleep(seconds)

    return act


@dataclass
class Script:
    """What a tier saw, and what it does before it answers: `acts` by method name, for as long as they stand there."""

    acts: dict[str, Act] = field(default_factory=dict)
    requests: dict[str, list[Any]] = field(default_factory=dict)
    calls: list[CallContext] = field(default_factory=list)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    seen: asyncio.Event = field(default_factory=asyncio.Event)

    async def note(self, method: str, request: Any) -> None:
        """Records a call and does what was scripted for it."""
        self.requests.setdefault(method, []).append(request)
        self.calls.append(current_call())
        self.seen.set()
        act = self.acts.get(method)
        if act is None:
            return
        try:
            await act(request)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    def count(self, method: str) -> int:
        """How often a method was called."""
        return len(self.requests.get(method, []))

    def fail_times(self, method: str, times: int, error: Exception | None = None) -> None:
        """Lets the next `times` calls of a method fail, as a store that is away does unless told otherwise."""
        failure = error or StoreUnavailableError("store", retry_after=0.01)
        left = times

        async def act(_request: object) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                self.acts.pop(method, None)
                return
            raise failure

        self.acts[method] = act
