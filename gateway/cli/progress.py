"""Progress bars of an ingestion: searchable, graph-ready, and facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID


class IngestProgress:
    """Bars on a console; they end with the block."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<12}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
        )
        self._tasks: dict[str, TaskID] = {}
        self._waiting: TaskID | None = None

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def documents(self, total: int, searchable: int, graph_ready: int) -> None:
        """Moves the bars of documents."""
        self._move("searchable", total, searchable)
        self._move("graph-ready", total, graph_ready)

    def facts(self, total: int, done: int) -> None:
        """Moves the bar of facts."""
        self._move("facts", total, done)

    def full(self, waits: bool) -> None:
        """Shows that uploads wait for capacity, while they do."""
        if self._waiting is not None:
            self._progress.remove_task(self._waiting)
            self._waiting = None
        if waits:
            description = "waits: the gateway takes no more now"
            self._waiting = self._progress.add_task(description, total=None)

    def _move(self, name: str, total: int, done: int) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=total)
        self._progress.update(self._tasks[name], total=total, completed=done)
