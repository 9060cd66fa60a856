"""Stub embedders: vectors derived from the text's digest, and scripted failures."""

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
    """Returns deterministic vectors; `away` makes every call fail, `stuck` makes it hang until it is cancelled.

    `failures` is the number of next calls that fail. Texts that contain `refused` are refused.
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
        """Returns one row for each text."""
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            await self._fail_as_scripted()
        finally:
            self.running -= 1
        if self.refused is not None and any(self.refused in text for text in texts):
            raise TextsRefused("scripted")
        self.texts.extend(texts)
        self.batches.append(list(texts))
        return unit_rows(np.array([self.vector(text) for text in texts]))

    async def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """Embeds queries like texts."""
        return await self.embed(queries)

    def vector(self, text: str) -> list[float]:
        """Returns a text's vector before normalization."""
        return [1.0 + byte for byte in sha256(text.encode()).digest()[: self.dimension]]

    async def close(self) -> None:
        """Does nothing."""

    async def _fail_as_scripted(self) -> None:
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
    """The configured model and other available models."""

    others: Sequence[StubEmbedder] = ()

    def named(self, model: str, dimension: int | None = None) -> StubEmbedder | None:
        """Returns a model's embedder: the one with that name and dimension, else the first with that name, or None."""
        found = [one for one in (self, *self.others) if one.model == model]
        return next((one for one in found if one.dimension == dimension), next(iter(found), None))
