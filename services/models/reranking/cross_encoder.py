"""The local cross-encoder: ms-marco-MiniLM-L-12-v2 on the CPU, off the event loop."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from services.models.batching import by_length
from services.models.errors import RerankerUnavailable
from services.models.local.model_files import MS_MARCO_MINILM, ModelFilesInvalid
from services.models.task_groups import first_failure
from services.models.usage import ModelUsage

if TYPE_CHECKING:
    from tokenizers import Encoding

    from services.models.local.encoder import BertEncoder

MAX_TOKENS = 512
"""The model's window, for a question and a passage together; the longer one is cut first."""
# Padded tokens of one batch: it takes some 50 ms, and ends before a cancellation takes effect.
_BUDGET = 512

T = TypeVar("T")


class CrossEncoder:
    """Reads a question and a passage together, without key or network; nothing loads before the first use.

    Its scores are logits: a passage that answers the question has about 0 to 10, one on another subject about -11. It
    reads English. Concurrent calls share `workers` threads evenly.
    """

    def __init__(self, folder: Path, *, workers: int) -> None:
        """`folder` stores the converted model (35 MB); `workers` is the number of cores."""
        self._folder = folder
        self._workers = workers
        self._usage = ModelUsage("rerank", MS_MARCO_MINILM.model)
        self._loading = threading.Lock()
        self._encoder: BertEncoder | None = None
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="rerank")

    @property
    def model(self) -> str:
        """See `Reranker`."""
        return MS_MARCO_MINILM.model

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """See `Reranker`: logits."""
        return await self.score_pairs([(query, passage) for passage in passages])

    async def score_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Returns the score of each question with its passage, in order.

        A pair of 40 tokens takes 4 ms on one core, one of 256 tokens 40 ms. A canceled call ends after its running
        batches. Raises RerankerUnavailable if the model cannot be read, or after `close`.
        """
        if not pairs:
            return []
        with self._usage.call(), first_failure():
            return await self._score(pairs)

    async def close(self) -> None:
        """See `Reranker`. Waits for running batches, some 50 ms."""
        await asyncio.to_thread(self._pool.shutdown)
        self._encoder = None

    async def _score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        tokens: list[Encoding] = await self._run(methodcaller("tokens", pairs))
        scores = [0.0] * len(pairs)
        lengths = [len(one) for one in tokens]
        # Few pairs are shared out among the workers too.
        batches = by_length(lengths, min(_BUDGET, math.ceil(sum(lengths) / self._workers)))
        # Each call has one batch per worker in the queue, so that calls alternate and a canceled one stops soon.
        async with asyncio.TaskGroup() as group:
            for _ in range(self._workers):
                group.create_task(self._drain(batches, tokens, scores))
        return scores

    async def _drain(
        self, batches: Iterator[list[int]], tokens: Sequence[Encoding], scores: list[float]
    ) -> None:
        for batch in batches:
            found = await self._run(methodcaller("classify", [tokens[n] for n in batch]))
            for position, score in zip(batch, found, strict=True):
                scores[position] = score

    async def _run(self, work: Callable[[BertEncoder], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._pool, lambda: work(self._loaded())
            )
        except ModelFilesInvalid as error:
            raise RerankerUnavailable(str(error)) from None
        except (OSError, RuntimeError, ValueError, KeyError, ImportError) as error:
            # Closed, or the weights cannot be read.
            raise RerankerUnavailable(f"local model: {type(error).__name__}") from None

    def _loaded(self) -> BertEncoder:
        with self._loading:
            if self._encoder is None:
                # Imported here, so that a process that reranks nothing does not load it.
                from services.models.local.encoder import BertEncoder  # noqa: PLC0415

                self._encoder = BertEncoder.load(
                    MS_MARCO_MINILM, self._folder, threads=self._workers, max_tokens=MAX_TOKENS
                )
            return self._encoder
