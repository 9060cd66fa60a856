"""Progress output of long operations."""

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


class StartProgress(Protocol):
    """Receives notes and numbers of bytes, from the event loop and from worker threads."""

    def note(self, text: str) -> None:
        """Report one sentence."""
        ...

    def amount(self, task: str, done: int, total: int) -> None:
        """Report how many of a task's bytes are done."""
        ...


class Silent:
    """Reports nothing."""

    def note(self, text: str) -> None:
        """Drop the sentence."""

    def amount(self, task: str, done: int, total: int) -> None:
        """Drop the amount."""


class ConsoleProgress:
    """Prints notes as lines and downloads as a bar, by default on standard error."""

    def __init__(self, console: Console | None = None) -> None:
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def note(self, text: str) -> None:
        """Print one line."""
        self._console.print(text, highlight=False, markup=False)

    def amount(self, task: str, done: int, total: int) -> None:
        """Move the task's bar, showing it on its first call and closing it when it is full."""
        if task not in self._tasks:
            self._bars.start()
            self._tasks[task] = self._bars.add_task(task, total=total)
        self._bars.update(self._tasks[task], completed=done, total=total)
        if done >= total:
            self._bars.stop()
