"""Embeds texts for jobs in parts that take a few seconds, however slow the machine or the provider is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from services.agent_orchestrator.jobs.adaptive_batch import AdaptiveBatch
from services.agent_orchestrator.jobs.retries import Retries
from services.agent_orchestrator.jobs.time_slice import WaitingError
from services.models.embedding.embedder import Embedder
from services.models.embedding.vectors import Matrix

# Large enough to use all cores; the embedder splits it into its own batches.
MAX_TEXTS = 256
SLOW_SECONDS = 5.0
# A part that takes longer is given up and divided.
PART_SECONDS = 60.0
# A single text cannot be divided: an embedder that takes longer for it is stuck.
TEXT_SECONDS = 600.0
_AGAIN_SECONDS = 5.0


class _TooSlowError(Exception):
    """A part of several texts took too long."""


class EmbeddingPace:
    """Adapts the number of texts that are embedded together to the speed of each model, from one text upwards."""

    def __init__(
        self,
        retries: Retries,
        *,
        part_seconds: float = PART_SECONDS,
        text_seconds: float = TEXT_SECONDS,
    ) -> None:
        """`retries` bridges short outages of the embedder."""
        self._retries = retries
        self._part_seconds = part_seconds
        self._text_seconds = text_seconds
        self._sizes: dict[str, AdaptiveBatch] = {}

    def size(self, embedder: Embedder) -> int:
        """Returns how many texts are embedded together next."""
        batch = self._sizes.get(embedder.model)
        return batch.size if batch else 1

    def is_known(self, embedder: Embedder) -> bool:
        """Whether the model has embedded anything yet."""
        return embedder.model in self._sizes

    async def embed_next(self, embedder: Embedder, texts: Sequence[str]) -> Matrix:
        """Returns the vectors of the first texts, at least of one: what the caller then keeps is never lost.

        Raises WaitingError if a single text takes too long, and the embedder's errors.
        """
        while True:
            part = texts[: self.size(embedder)]
            try:
                return await self._retries.run(lambda: self._attempt(embedder, part))  # noqa: B023
            except _TooSlowError:
                if len(part) == 1:
                    reason = f"embedding one text has taken more than {self._text_seconds:.0f} s"
                    raise WaitingError(reason, _AGAIN_SECONDS) from None

    async def _attempt(self, embedder: Embedder, part: Sequence[str]) -> Matrix:
        seconds = self._part_seconds if len(part) > 1 else self._text_seconds
        batch = self._batch(embedder)
        with batch.measured(full=len(part) == batch.size):
            try:
                async with asyncio.timeout(seconds) as limit:
                    return await embedder.embed(part)
            except TimeoutError:
                if not limit.expired():
                    raise
                raise _TooSlowError from None

    def _batch(self, embedder: Embedder) -> AdaptiveBatch:
        batch = self._sizes.get(embedder.model)
        if batch is None:
            batch = AdaptiveBatch(MAX_TEXTS, first=1, slow_seconds=SLOW_SECONDS)
            self._sizes[embedder.model] = batch
        return batch
