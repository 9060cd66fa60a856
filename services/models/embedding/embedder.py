"""What turns text into vectors, whichever provider does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from services.models.embedding.vectors import Matrix


class Embedder(Protocol):
    """Text to vectors of one model. Safe to share between tasks of one event loop."""

    @property
    def model(self) -> str:
        """Stable name, stored with the vectors: vectors of different names are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Values in each vector. EmbedderUnavailable while an unlisted model has not answered yet."""
        ...

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """One row for each text, in order: float32 of shape (n, dimension), rows of length 1.

        No texts give an empty (0, dimension). Text beyond the model's window is ignored.
        EmbedderUnavailable when there is no complete answer, TextsRefused when there never will be;
        DeadlineError when the call is over.
        """
        ...

    async def close(self) -> None:
        """Frees connections, threads and weights; calling `embed` after it is EmbedderUnavailable."""
        ...
