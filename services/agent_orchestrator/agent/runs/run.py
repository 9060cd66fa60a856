"""One run in this process: its events as they happen, and its followers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from services.agent_orchestrator.agent.runs.event_log import Owner
from services.agent_orchestrator.agent.runs.events import Event, Happening
from services.runtime.times import utc_now


class Run:
    """Numbered events, kept until the run is removed. `abandoned` is called when the last follower has left.

    Only of a run that is `kept` anything is saved: its turn, and what it says about the user.
    """

    def __init__(
        self,
        run_id: str,
        owner: Owner,
        conversation_id: str,
        abandoned: Callable[[Run], None],
        *,
        kept: bool = True,
    ) -> None:
        self.id = run_id
        self.kept = kept
        self.owner = owner
        self.conversation_id = conversation_id
        self.task: asyncio.Task[None] | None = None
        self._abandoned = abandoned
        self._events: list[Event] = []
        self._changed = asyncio.Event()
        self._followers = 0

    @property
    def followers(self) -> int:
        """Number of current followers."""
        return self._followers

    @property
    def ended(self) -> bool:
        """Whether the last event was published."""
        return bool(self._events) and self._events[-1].is_last

    def next_event(self, what: Happening) -> Event:
        """Returns what the next event would be, without publishing it."""
        return Event(len(self._events) + 1, utc_now(), what)

    def publish(self, what: Happening | Event) -> None:
        """Adds an event and wakes the followers. Events after the last one are ignored."""
        if self.ended:
            return
        self._events.append(what if isinstance(what, Event) else self.next_event(what))
        self._changed.set()
        self._changed = asyncio.Event()

    def events_after(self, number: int) -> Sequence[Event]:
        """Returns the events so far after a number."""
        return self._events[number:]

    async def follow(self, after: int) -> AsyncIterator[Event]:
        """Yields events after a number, including future ones, until the last."""
        self._followers += 1
        try:
            position = after
            while True:
                changed = self._changed
                for event in self._events[position:]:
                    position = event.number
                    yield event
                    if event.is_last:
                        return
                if self.ended and position >= len(self._events):
                    return
                if self._changed is changed:
                    await changed.wait()
        finally:
            self._followers -= 1
            if not self._followers and not self.ended:
                self._abandoned(self)

    def cancel(self) -> None:
        """Cancels the run and its running tools."""
        if self.task is not None:
            self.task.cancel()
