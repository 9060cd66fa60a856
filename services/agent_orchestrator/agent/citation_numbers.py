"""Numbers the results of a run's tools, so that an answer can cite them as `[n]`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.agent_orchestrator.agent.results import Citation, ResultItem, ToolResult

RERANKER: Final = "reranker"


@dataclass(slots=True)
class Evidence:
    """The results of a run in order of arrival. Each item has one number for the whole run, starting at 1."""

    results: list[ToolResult] = field(default_factory=list)
    is_unread: bool = False
    """Whether statements were chosen by their words alone, as the model that reads them was unavailable."""
    _items: list[ResultItem] = field(default_factory=list)

    def add(self, items: Iterable[ResultItem]) -> int:
        """Numbers the items of one result; returns the number of the first."""
        first = len(self._items) + 1
        self._items.extend(items)
        return first

    def renumber(self, items: Iterable[ResultItem]) -> None:
        """Replaces the numbered items: used for the items that an answer cites, in the answer's own order."""
        self._items = list(items)

    def record(self, result: ToolResult) -> None:
        """Stores a result whose items are already numbered."""
        self.results.append(result)

    def citations(self, number: int) -> Sequence[Citation]:
        """Returns the sources of the item with that number; empty for an unknown number."""
        if not 1 <= number <= len(self._items):
            return ()
        return self._items[number - 1].citations

    @property
    def unavailable(self) -> tuple[str, ...]:
        """Parts of the system that the run could not use."""
        parts = [part for result in self.results for part in result.unavailable]
        return tuple(dict.fromkeys([*parts, RERANKER] if self.is_unread else parts))

    @property
    def texts(self) -> Iterable[str]:
        """Yields the text of every item, as it stands in the documents."""
        return (item.text for item in self._items)
