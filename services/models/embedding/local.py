"""The local embedder: a small model on the CPU, off the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from services.models.batching import by_length
from services.models.embedding.local_models import LocalModel
from services.models.embedding.vectors import Matrix, empty
from services.models.errors import EmbedderUnavailable
from services.models.local.model_files import ModelFilesInvalid
from services.models.task_groups import first_failure
from services.models.usage import ModelUsage

if TYPE_CHECKING:
    from services.models.embedding.local_engine import Engine, Tokens

# Padded tokens of one batch. Throughput is flat from 64 to 1,024; small batches end soon after a cancellation.
_BUDGET = 512
# Texts tokenized in one call, which cannot be cancelled.
_SLICE = 32

T = TypeVar("T")


class LocalEmbedder:
    """Vectors of one local model, without key or network; nothing loads before the first use.

    Short calls (a query) have a thread of their own, so they never wait for bulk work. Bulk work runs in small batches
    through `workers` other threads, shared evenly between concurrent calls.
    """

    def __init__(self, local: LocalModel, folder: Path, *, workers: int) -> None:
        """`folder` stores converted models (24 to 35 MB each); `workers` is the number of cores for bulk work."""
        self._local = local
        self._folder = folder
        self._workers = workers
        self._usage = ModelUsage("embedding", local.name)
        self._loading = threading.Lock()
        self._engine: Engine | None = None
        self._short = ThreadPoolExecutor(1, thread_name_prefix="embed-short")
        self._bulk = ThreadPoolExecutor(workers, thread_name_prefix="embed-bulk")

    @property
    def model(self) -> str:
        """See `Embedder`."""
        return self._local.name

    @property
    def dimension(self) -> int:
        """See `Embedder`."""
        return self._local.dimension

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`. 100 passages of 90 tokens take about one second on one core."""
        if not texts:
            return empty(self.dimension)
        with self._usage.call():
            return await self._embed(texts)

    async def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """See `Embedder`. A query takes 2 to 4 ms."""
        return await self.embed([self._local.query_prefix + query for query in queries])

    async def close(self) -> None:
        """See `Embedder`. Waits for running batches, some 50 ms."""
        for pool in (self._short, self._bulk):
            await asyncio.to_thread(pool.shutdown)
        self._engine = None

    async def _embed(self, texts: Sequence[str]) -> Matrix:
        # A text of n characters has at most n tokens plus the two special ones.
        if sum(min(len(text) + 2, self._local.max_tokens) for text in texts) <= _BUDGET:
            return await self._run(self._short, methodcaller("embed", texts, _BUDGET))
        with first_failure():
            return await self._embed_bulk(texts)

    async def _embed_bulk(self, texts: Sequence[str]) -> Matrix:
        tokens = await self._tokens(texts)
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        batches = by_length([len(ids) for ids in tokens], _BUDGET)
        # Each call has one batch per worker in the queue, so that calls alternate and a canceled one stops soon.
        async with asyncio.TaskGroup() as group:
            for _ in range(self._workers):
                group.create_task(self._drain(batches, tokens, rows))
        return rows

    async def _tokens(self, texts: Sequence[str]) -> Tokens:
        tokens: Tokens = []
        for start in range(0, len(texts), _SLICE):
            part = texts[start : start + _SLICE]
            tokens += await self._run(self._bulk, methodcaller("tokens", part))
        return tokens

    async def _drain(self, batches: Iterator[list[int]], tokens: Tokens, rows: Matrix) -> None:
        for batch in batches:
            ids = [tokens[position] for position in batch]
            rows[batch] = await self._run(self._bulk, methodcaller("vectors", ids))

    async def _run(self, pool: Executor, work: Callable[[Engine], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(
                pool, lambda: work(self._loaded())
            )
        except ModelFilesInvalid as error:
            raise EmbedderUnavailable(str(error)) from None
        except (OSError, RuntimeError, ValueError, KeyError, ImportError) as error:
            # Closed, or the weights cannot be read.
            raise EmbedderUnavailable(f"local model: {type(error).__name__}") from None

    def _loaded(self) -> Engine:
        with self._loading:
            if self._engine is None:
                # Imported here, so that a process that embeds nothing does not load it.
                from services.models.embedding.local_engine import Engine  # noqa: PLC0415

                self._engine = Engine.load(self._local, self._folder, threads=self._workers + 1)
            return self._engine
