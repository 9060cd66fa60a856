"""An embedder for tests: a direction for each known word, and switches that take it away or make it hang."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from services.models.embedding.vectors import Matrix
from services.models.errors import EmbedderUnavailable

_WAYS = {"north": 0, "east": 1, "up": 2}


class CompassEmbedder:
    """Vectors of the words north, east and up in a text; other words point a little everywhere."""

    def __init__(self, model: str = "compass", dimension: int = 3) -> None:
        self.model = model
        self.dimension = dimension
        self.down = False
        self.stuck = False
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """One row a text."""
        if self.down:
            raise EmbedderUnavailable("switched off")
        if self.stuck:
            await asyncio.Event().wait()
        self.texts += texts
        return np.array([self._vector(text) for text in texts], dtype=np.float32)

    async def close(self) -> None:
        """Nothing to free."""

    def _vector(self, text: str) -> Matrix:
        vector = np.full(self.dimension, 0.01, dtype=np.float32)
        for word in text.lower().split():
            if word in _WAYS:
                vector[_WAYS[word]] += 1
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


class Unlisted:
    """An embedder that tells its dimension from its first answer on."""

    def __init__(self, inner: CompassEmbedder) -> None:
        self.inner = inner
        self.model = inner.model

    @property
    def dimension(self) -> int:
        if not self.inner.texts:
            raise EmbedderUnavailable("not known yet")
        return self.inner.dimension

    async def embed(self, texts: Sequence[str]) -> Matrix:
        return await self.inner.embed(texts)

    async def close(self) -> None:
        await self.inner.close()
