"""The script of a stubbed tier: actions before it responds, and the calls that it received."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from services.runtime.context import CallContext, current_call
from services.runtime.errors import StoreUnavailableError

Act = Callable[[Any], Awaitable[None]]


async def hang(_request: object) -> None:
    """An action that never ends by itself."""
    await asyncio.Event().wait()


def fail(error: Exception) -> Act:
    """Returns an action that raises."""

    async def act(_request: object) -> None:
        raise error

    return act


def wait(seconds: float) -> Act:
    """Returns an action that waits."""

    async def act(_request: object) -> None:
        await asyncio.sleep(seconds)

    return act


@dataclass
class Script:
    """The calls that a tier received, and the actions before its responses: `acts` by method name."""

    acts: dict[str, Act] = field(default_factory=dict)
    requests: dict[str, list[Any]] = field(default_factory=dict)
    calls: list[CallContext] = field(default_factory=list)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    seen: asyncio.Event = field(default_factory=asyncio.Event)
    _received: defaultdict[str, asyncio.Event] = field(
        default_factory=lambda: defaultdict(asyncio.Event)
    )

    async def received(self, method: str) -> None:
        """Waits for the first call of a method."""
        await self._received[method].wait()

    async def note(self, method: str, request: Any) -> None:
        """Records a call and runs its action."""
        self.requests.setdefault(method, []).append(request)
        self.calls.append(current_call())
        self.seen.set()
        self._received[method].set()
        act = self.acts.get(method)
        if act is None:
            return
        try:
            await act(request)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    def count(self, method: str) -> int:
        """Returns how many times a method was called."""
        return len(self.requests.get(method, []))

    def fail_times(self, method: str, times: int, error: Exception | None = None) -> None:
        """Makes the next `times` calls of a method fail, by default as if the store were unavailable."""
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
