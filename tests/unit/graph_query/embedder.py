"""An embedder that counts its calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from services.models.embedding.vectors import Matrix
from services.models.errors import EmbedderUnavailable
from tests.store_suite.graph.builders import DIMENSION, unit


class CountingEmbedder:
    """Embeds every text as the unit vector of the first axis, or fails."""

    model = "model"
    dimension = DIMENSION

    def __init__(self, *, away: bool = False) -> None:
        self.calls = 0
        self._unavailable = away

    async def embed(self, texts: Sequence[str]) -> Matrix:
        self.calls += 1
        if self._unavailable:
            raise EmbedderUnavailable("away")
        return np.array([unit(1) for _ in texts], dtype=np.float32)

    async def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """Embeds queries like texts."""
        return await self.embed(queries)

    async def close(self) -> None:
        """Does nothing: there are no resources."""
