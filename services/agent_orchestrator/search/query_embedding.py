"""A search's query as a vector: made once for both legs, in limited time, or not at all."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from braid.common.v1 import retrieval_pb2
from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from services.models.embedder import Embedder


class QueryEmbeddings:
    """Embeds queries, at most `at_once` at a time: a burst waits here, and whoever waits too long searches by words."""

    def __init__(self, embedder: Embedder, *, at_once: int, seconds: float) -> None:
        self._embedder = embedder
        self._turns = asyncio.Semaphore(at_once)
        self._seconds = seconds

    async def embed(self, query: str, budget: float) -> retrieval_pb2.QueryEmbedding | None:
        """The query's vector and its model; None when the embedder fails or takes over half of `budget` seconds."""
        try:
            async with asyncio.timeout(min(self._seconds, budget / 2)), self._turns:
                rows = await self._embedder.embed([query])
        except (BraidError, TimeoutError) as error:
            get_logger("search").warning("query not embedded", error=type(error).__name__)
            return None
        return retrieval_pb2.QueryEmbedding(model=self._embedder.model, values=rows[0].tolist())
