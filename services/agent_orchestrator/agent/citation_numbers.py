"""What the tools of a run have found, numbered so that an answer can name it as `[n]`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from services.agent_orchestrator.agent.results import Citation, ResultItem, ToolResult


@dataclass(slots=True)
class Evidence:
    """The results of a run in the order they came. Each item has one number for the whole run, from 1."""

    results: list[ToolResult] = field(default_factory=list)
    _items: list[ResultItem] = field(default_factory=list)

    def add(self, items: Iterable[ResultItem]) -> int:
        """Numbers the items of one result; the number of the first."""
        first = len(self._items) + 1
        self._items.extend(items)
        return first

    def renumber(self, items: Iterable[ResultItem]) -> None:
        """Numbers other items in place of those there are: what an answer cites, in its own order."""
        self._items = list(items)

    def record(self, result: ToolResult) -> None:
        """Keeps a result whose items have their numbers."""
        self.results.append(result)

    def citations(self, number: int) -> Sequence[Citation]:
        """The sources of the item with that number; none for a number that was never given."""
        if not 1 <= number <= len(self._items):
            return ()
        return self._items[number - 1].citations

    @property
    def unavailable(self) -> tuple[str, ...]:
        """The parts that could not be asked by some tool of the run."""
        return tuple(dict.fromkeys(part for result in self.results for part in result.unavailable))

    @property
    def texts(self) -> Iterable[str]:
        """The text of every item, as the documents have it."""
        return (item.text for item in self._items)
