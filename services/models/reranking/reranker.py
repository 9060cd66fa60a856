"""The interface of cross-encoders, which read a question and a passage together and score their match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Scores passages' relevance to a question with one model. Safe to share between tasks of one event loop."""

    @property
    def model(self) -> str:
        """Returns the provider's name of the model."""
        ...

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Returns each passage's relevance, in order; higher is better, without a fixed scale.

        Without passages the result is empty, without a call. Raises RerankerUnavailable without a complete answer,
        DeadlineError past the caller's deadline.
        """
        ...

    async def close(self) -> None:
        """Frees connections; a later call of `score` raises RerankerUnavailable."""
        ...


class PairReranker(Reranker, Protocol):
    """Scores passages of different questions in one call too."""

    async def score_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Returns the relevance of each passage to the question before it, in order, as `score` does."""
        ...
