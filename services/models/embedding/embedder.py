"""The interface of embedding models, independent of the provider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from services.models.embedding.vectors import Matrix


class Embedder(Protocol):
    """Converts text to vectors of one model. Safe to share between tasks of one event loop."""

    @property
    def model(self) -> str:
        """Returns the model's stable name, stored with the vectors: vectors of different names are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Returns the length of the vectors.

        Raises EmbedderUnavailable while an unlisted model has not answered yet.
        """
        ...

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Embeds texts that are stored: one row for each, in order, float32 of shape (n, dimension), of length 1.

        Without texts the result is an empty (0, dimension). Text beyond the model's window is ignored. Raises
        EmbedderUnavailable without a complete answer, TextsRefused if a retry cannot succeed, DeadlineError past the
        caller's deadline.
        """
        ...

    async def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """Embeds what is asked, to be compared with vectors of `embed`; otherwise like it.

        Some models read a query in another form than a text.
        """
        ...

    async def close(self) -> None:
        """Frees connections, threads and weights; a later call of `embed` raises EmbedderUnavailable."""
        ...
