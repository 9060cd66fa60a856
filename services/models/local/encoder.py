"""A local BERT model: tokenizer and encoder, called from worker threads. Importing it is slow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

import numpy as np
from ctranslate2 import Encoder  # type: ignore[attr-defined]  # compiled, without stubs
from tokenizers import Encoding, Tokenizer

from services.models.embedding.vectors import Matrix
from services.models.local.allocator import keep_freed_memory
from services.models.local.conversion import HEAD, convert
from services.models.local.model_files import TOKENIZER, ModelFiles
from services.models.local.model_folder import built

# Increase when the conversion changes: processes of an older release keep their own copy.
_LAYOUT = 2

Text: TypeAlias = str | tuple[str, str]
"""A text, or two that are read as a pair."""


class BertEncoder:
    """A BERT model by CTranslate2 in int8. Its methods block; many threads may call them."""

    def __init__(
        self, tokenizer: Tokenizer, encoder: Encoder, head: dict[str, Matrix], max_characters: int
    ) -> None:
        """Texts are cut at `max_characters` before the tokenizer cuts them at its own limit."""
        self._tokenizer = tokenizer
        self._encoder = encoder
        self._head = head
        self._max_characters = max_characters

    @classmethod
    def load(cls, files: ModelFiles, folder: Path, *, threads: int, max_tokens: int) -> BertEncoder:
        """Reads a model from `folder`, converting it into the folder if necessary. Raises OSError or RuntimeError.

        `threads` batches are computed concurrently, each on one core. `max_tokens` of a text or pair are read,
        including the special ones; of a pair, the longer text is cut first.
        """
        # Each batch allocates and frees megabytes; a fifth of its time was spent on clearing them again.
        keep_freed_memory()
        source = files.verified()
        tokenizer = Tokenizer.from_file(str(source / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_tokens, strategy="longest_first")
        encoder, head = _open_or_repair(files, source, folder, threads)
        # A word of more than 100 characters is one token; this much text fills the window.
        return cls(tokenizer, encoder, head, 100 * max_tokens)

    def tokens(self, texts: Sequence[Text]) -> list[Encoding]:
        """Returns the tokens of each text or pair."""
        return self._tokenizer.encode_batch([self._clipped(text) for text in texts])

    def states(self, batch: Sequence[Encoding]) -> Matrix:
        """Runs one batch through the model: the last layer's states, of shape (texts, longest, values)."""
        longest = max(map(len, batch))
        types = [one.type_ids + [0] * (longest - len(one)) for one in batch]
        output = self._encoder.forward_batch([one.ids for one in batch], token_type_ids=types)
        return np.asarray(output.last_hidden_state)

    def classify(self, batch: Sequence[Encoding]) -> list[float]:
        """Runs one batch through a classifier of one output: its logits."""
        first = self.states(batch)[:, 0]
        pooled = np.tanh(
            first @ self._head["pooler.dense.weight"].T + self._head["pooler.dense.bias"]
        )
        logits = (
            pooled @ self._head["classifier.weight"].reshape(-1) + self._head["classifier.bias"]
        )
        return [float(logit) for logit in logits]

    def _clipped(self, text: Text) -> Text:
        if isinstance(text, str):
            return text[: self._max_characters]
        return text[0][: self._max_characters], text[1][: self._max_characters]


def _open_or_repair(
    files: ModelFiles, source: Path, folder: Path, threads: int
) -> tuple[Encoder, dict[str, Matrix]]:
    try:
        return _open(files, source, folder, threads, again=False)
    except (OSError, RuntimeError, ValueError):  # A damaged copy: convert again, once.
        return _open(files, source, folder, threads, again=True)


def _open(
    files: ModelFiles, source: Path, folder: Path, threads: int, *, again: bool
) -> tuple[Encoder, dict[str, Matrix]]:
    name = f"{files.model}-int8-{_LAYOUT}-{version('ctranslate2')}"
    with built(folder, name, partial(convert, source, files.weights), again=again) as path:
        encoder = Encoder(str(path), compute_type="int8", inter_threads=threads, intra_threads=1)
        return encoder, _read_head(path / HEAD)


def _read_head(path: Path) -> dict[str, Matrix]:
    if not path.exists():
        return {}
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}
