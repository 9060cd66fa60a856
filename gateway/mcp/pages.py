"""Paged lists of the tiers: as many items as fit, and the cursor after the last one shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from gateway.mcp.cursors import Cursor, Position
from gateway.mcp.results import Result, fit

Item = TypeVar("Item", bound=BaseModel)
# (the items shown, the sentence about them, the cursor after them)
Build = Callable[[Sequence[Item], str, str | None], Result]


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """A page of the tier: its items, its position, and the tier's token of the next page."""

    items: Sequence[Item]
    begin: Position
    next_token: str
    cursor: Cursor
    what: str

    def result(self, build: Build[Item, Result]) -> Result:
        """Returns the result with the items that fit."""
        left = self.items[self.begin.shown :]
        return fit(left, lambda shown: build(shown, *self._around(len(shown), len(left))))

    def _around(self, shown: int, left: int) -> tuple[str, str | None]:
        if shown < left:
            position = Position(self.begin.page_token, self.begin.shown + shown)
        elif self.next_token:
            position = Position(self.next_token)
        else:
            return self._words(shown, more=False), None
        return self._words(shown, more=True), self.cursor.write(position)

    def _words(self, shown: int, *, more: bool) -> str:
        if more:
            known = "" if self.next_token else f" of {len(self.items)}"
            return (
                f"Showing {shown}{known} {self.what}; there are more: call again with `cursor`, "
                "or narrow the query."
            )
        if self.begin == Position():
            return f"Found {shown} {self.what}; this is all."
        return f"Showing the last {shown} {self.what}."
