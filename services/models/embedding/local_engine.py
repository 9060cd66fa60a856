"""The local embedding models: pooled states of a BERT encoder, called from worker threads. Importing it is slow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tokenizers import Encoding

from services.models.batching import by_length
from services.models.embedding.local_models import LocalModel
from services.models.embedding.vectors import Matrix, unit_rows
from services.models.local.encoder import BertEncoder

Tokens = list[Encoding]


class Engine:
    """Embeds with one model. Its methods block; many threads may call them."""

    def __init__(self, encoder: BertEncoder, *, mean: bool) -> None:
        """`mean`: the vector is the mean of all tokens' states; otherwise the first token's state."""
        self._encoder = encoder
        self._mean = mean

    @classmethod
    def load(cls, model: LocalModel, folder: Path, *, threads: int) -> Engine:
        """Reads a model; see `BertEncoder.load`."""
        encoder = BertEncoder.load(
            model.files, folder, threads=threads, max_tokens=model.max_tokens
        )
        return cls(encoder, mean=model.mean)

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """Returns the tokens of each text."""
        return self._encoder.tokens(texts)

    def vectors(self, tokens: Tokens) -> Matrix:
        """Runs one batch through the model, and scales each text's vector to length 1."""
        states = self._encoder.states(tokens)
        if not self._mean:
            return unit_rows(states[:, 0])
        lengths = map(len, tokens)
        return unit_rows([row[:n].mean(axis=0) for row, n in zip(states, lengths, strict=True)])

    def embed(self, texts: Sequence[str], budget: int) -> Matrix:
        """Embeds a few texts, with at most `budget` padded tokens in a batch."""
        tokens = self.tokens(texts)
        batches = list(by_length([len(ids) for ids in tokens], budget))
        rows = np.concatenate([self.vectors([tokens[i] for i in batch]) for batch in batches])
        ordered = np.empty_like(rows)
        ordered[np.concatenate(batches)] = rows
        return ordered
