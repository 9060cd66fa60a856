"""An embedder for tests with a direction for each known word, which can be made unavailable or hang."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from services.models.embedding.vectors import Matrix
from services.models.errors import EmbedderUnavailable

_DIRECTIONS = {"north": 0, "east": 1, "up": 2}


class CompassEmbedder:
    """Embeds the words north, east and up as directions; other words point slightly in every direction."""

    def __init__(self, model: str = "compass", dimension: int = 3) -> None:
        self.model = model
        self.dimension = dimension
        self.down = False
        self.stuck = False
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Returns one row per text."""
        if self.down:
            raise EmbedderUnavailable("switched off")
        if self.stuck:
            await asyncio.Event().wait()
        self.texts += texts
        return np.array([self._vector(text) for text in texts], dtype=np.float32)

    async def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """Embeds queries like texts."""
        return await self.embed(queries)

    async def close(self) -> None:
        """Does nothing."""

    def _vector(self, text: str) -> Matrix:
        vector = np.full(self.dimension, 0.01, dtype=np.float32)
        for word in text.lower().split():
            if word in _DIRECTIONS:
                vector[_DIRECTIONS[word]] += 1
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


class Unlisted:
    """An embedder whose dimension is unknown before its first answer."""

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

    async def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """Embeds queries like texts."""
        return await self.embed(queries)

    async def close(self) -> None:
        await self.inner.close()
