"""Reads the first passages of a list with the cross-encoder where their scores leave their relevance in doubt."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from services.models.errors import RerankerUnavailable
from services.models.reranking.reranker import Reranker
from services.runtime.context import share_of_remaining
from services.runtime.errors import DeadlineError
from services.runtime.telemetry import get_logger

MAX_READ = 4
"""How many passages are read: enough to tell whether the list has a match; each takes 10 to 60 ms on one core."""
_SECONDS = 2.0
_SHARE = 0.6
_MAX_CHARACTERS = 2_000


class Reader:
    """Judges passages within a budget: `MAX_READ` passages, two seconds, and most of the caller's remaining time."""

    def __init__(self, cross_encoder: Reranker) -> None:
        self._cross_encoder = cross_encoder

    async def read(self, query: str, passages: Sequence[str]) -> list[float] | None:
        """Returns the logits of the first `MAX_READ` passages, in order; None if the model does not answer in time."""
        texts = [passage[:_MAX_CHARACTERS] for passage in passages[:MAX_READ]]
        try:
            async with asyncio.timeout(min(_SECONDS, share_of_remaining(_SHARE) or _SECONDS)):
                return await self._cross_encoder.score(query, texts)
        except (RerankerUnavailable, DeadlineError, TimeoutError) as error:
            get_logger("models").warning("passages not read", cause=type(error).__name__)
            return None


def probability(logit: float) -> float:
    """Returns a logit as a number from 0 to 1, in the same order."""
    return 1 / (1 + math.exp(-max(-60.0, logit)))
