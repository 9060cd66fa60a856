"""Progress output of long operations."""

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.status import Status
from rich.text import Text

LINE_SECONDS = 30.0
"""Seconds between two lines about a start that is not shown on a terminal."""


class StartProgress(Protocol):
    """Receives notes and numbers of bytes, from the event loop and from worker threads."""

    def note(self, text: str) -> None:
        """Report one sentence."""
        ...

    def amount(self, task: str, done: int, total: int) -> None:
        """Report how many of a task's bytes are done."""
        ...

    def waits(self, waits: Sequence[str]) -> None:
        """Report what a start waits for now, once a second; nothing when it has ended."""
        ...


class Silent:
    """Reports nothing."""

    def note(self, text: str) -> None:
        """Drop the sentence."""

    def amount(self, task: str, done: int, total: int) -> None:
        """Drop the amount."""

    def waits(self, waits: Sequence[str]) -> None:
        """Drop the waits."""


class ConsoleProgress:
    """Prints notes as lines and downloads as a bar, by default on standard error."""

    def __init__(
        self, console: Console | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._console = console or Console(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=self._console,
        )
        self._tasks: dict[str, TaskID] = {}
        self._status: Status | None = None
        self._next_line = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._tasks:
            self._bars.stop()
        self._stop_waits()

    def waits(self, waits: Sequence[str]) -> None:
        """Show what a start waits for: in one updating line on a terminal, else in a line every half minute."""
        text = f"Waiting for {', '.join(waits)} …"
        if not waits:
            self._stop_waits()
        elif self._console.is_terminal:
            self._show_waits(Text(text))
        elif not self._next_line:
            self._next_line = self._clock() + LINE_SECONDS
        elif self._clock() >= self._next_line:
            self._next_line = self._clock() + LINE_SECONDS
            self.note(text)

    def _show_waits(self, text: Text) -> None:
        if self._status is None:
            self._status = self._console.status(text)
            self._status.start()
        self._status.update(text)

    def _stop_waits(self) -> None:
        self._next_line = 0.0
        if self._status is not None:
            self._status.stop()
            self._status = None

    def note(self, text: str) -> None:
        """Print one line."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def amount(self, task: str, done: int, total: int) -> None:
        """Move the task's bar, showing it on its first call and closing it when it is full."""
        if task not in self._tasks:
            self._bars.start()
            self._tasks[task] = self._bars.add_task(task, total=total)
        self._bars.update(self._tasks[task], completed=done, total=total)
        if done >= total:
            self._bars.stop()
