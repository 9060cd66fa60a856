"""An embedder without a model: vectors from the text's digest, and whatever trouble a test needs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from services.models.embedding.vectors import Matrix, unit_rows
from services.models.errors import EmbedderUnavailable, TextsRefused


@dataclass
class StubEmbedder:
    """Deterministic vectors. `away` makes it fail, `stuck` makes it hang until cancelled.

    Texts with the word `refused` it refuses.
    """

    model: str = "stub"
    dimension: int = 4
    away: bool = False
    stuck: bool = False
    failures: int = 0
    refused: str | None = None
    texts: list[str] = field(default_factory=list)
    batches: list[list[str]] = field(default_factory=list)
    running: int = 0
    most_at_once: int = 0

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """One row a text."""
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            await self._trouble()
        finally:
            self.running -= 1
        if self.refused is not None and any(self.refused in text for text in texts):
            raise TextsRefused("scripted")
        self.texts.extend(texts)
        self.batches.append(list(texts))
        return unit_rows(np.array([self.vector(text) for text in texts]))

    def vector(self, text: str) -> list[float]:
        """A text's vector before it is scaled."""
        return [1.0 + byte for byte in sha256(text.encode()).digest()[: self.dimension]]

    async def close(self) -> None:
        """Nothing to free."""

    async def _trouble(self) -> None:
        await asyncio.sleep(0)
        if self.stuck:
            await asyncio.Event().wait()
        if self.failures > 0:
            self.failures -= 1
            raise EmbedderUnavailable("scripted", retry_after=0.01)
        if self.away:
            raise EmbedderUnavailable("scripted")


@dataclass
class StubModels(StubEmbedder):
    """The configured model with others beside it."""

    others: Sequence[StubEmbedder] = ()

    def named(self, model: str, dimension: int | None = None) -> StubEmbedder | None:
        """A model's embedder: the first one of the name, or the one of it that makes so many values."""
        found = [one for one in (self, *self.others) if one.model == model]
        return next((one for one in found if one.dimension == dimension), next(iter(found), None))
