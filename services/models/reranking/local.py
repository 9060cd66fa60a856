"""Relevance without a reranking model: the similarity of the passage's best sentence, by the embedding model."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from services.models.embedding.embedder import Embedder
from services.models.errors import EmbedderUnavailable, RerankerUnavailable

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
# Sentences of one passage; the rest of a longer one is compared as one piece.
_MAX_SENTENCES = 12
_MAX_CHARACTERS = 600


class SentenceReranker:
    """Embeds each passage's sentences. A sentence takes some milliseconds: passages must be few."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def model(self) -> str:
        """See `Reranker`."""
        return self._embedder.model

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """See `Reranker`: cosines."""
        if not passages:
            return []
        parts = [sentences(passage) for passage in passages]
        try:
            rows = await self._embedder.embed([query, *(one for part in parts for one in part)])
        except EmbedderUnavailable as error:
            raise RerankerUnavailable(error.cause) from None
        cosines = rows[1:] @ rows[0]
        ends = np.cumsum([len(part) for part in parts])
        return [
            float(cosines[end - len(part) : end].max())
            for part, end in zip(parts, ends, strict=True)
        ]

    async def close(self) -> None:
        """See `Reranker`: the embedder's owner closes it."""


def sentences(text: str) -> list[str]:
    """Returns a passage's sentences, at least one."""
    found = [one.strip() for one in _SENTENCE.split(text) if one and one.strip()]
    if len(found) > _MAX_SENTENCES:
        found[_MAX_SENTENCES - 1 :] = [" ".join(found[_MAX_SENTENCES - 1 :])]
    return [one[:_MAX_CHARACTERS] for one in found] or [text[:_MAX_CHARACTERS]]
