"""Vectors of questions by the local embedder, with which the local planner chooses tools."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from services.models.embedding.embedder import Embedder
from services.runtime.context import remaining
from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger

# A question takes some 5 ms on an idle core.
_SECONDS: Final = 3.0


class QuestionVectors:
    """Embeds questions; without an embedder none has a vector."""

    def __init__(self, embedder: Embedder | None) -> None:
        """`embedder` has the model that the choice of tools was trained with."""
        self._embedder = embedder

    async def vector_of(self, text: str) -> Sequence[float] | None:
        """Returns the vector of a question; None if it cannot be embedded now."""
        if self._embedder is None:
            return None
        try:
            async with asyncio.timeout(remaining(_SECONDS)):
                [vector] = await self._embedder.embed_queries([text])
        except (BraidError, TimeoutError) as error:
            get_logger("agent").warning(
                "documents are searched, as no tool can be chosen", cause=type(error).__name__
            )
            return None
        values: list[float] = vector.tolist()
        return values
