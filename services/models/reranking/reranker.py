"""What reads a question and a passage together and says how well they fit: a cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Passages' relevance to a question by one model. Safe to share between tasks of one event loop."""

    @property
    def model(self) -> str:
        """The provider's name of it."""
        ...

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Each passage's relevance, in their order; the higher the better, of no fixed scale.

        No passages give an empty list without a call. RerankerUnavailable when there is no complete answer;
        DeadlineError when the call is over.
        """
        ...

    async def close(self) -> None:
        """Frees connections; calling `score` after it is RerankerUnavailable."""
        ...
