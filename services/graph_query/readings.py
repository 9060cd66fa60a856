"""What is asked of a store that keeps what language models read in episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from services.graph_query.domain import EpisodeCounts, Passage
from services.graph_query.extracted import Reading


class ReadingStore(Protocol):
    """Episodes with what was read in them. Raises what `GraphStore` says."""

    async def unread(self, space: str, passages: Sequence[Passage]) -> list[Passage]:
        """Those that no model has read as they are. InvalidFieldError for uuids of another space."""

    async def add_reading(
        self, space: str, passage: Passage, reading: Reading, model: str
    ) -> EpisodeCounts:
        """Adds a passage with what was read in it, in one transaction; one that is read already changes nothing.

        `model` made the vectors: WrongStateError when the space has vectors of another, OverloadedError while it
        changes over.
        """
