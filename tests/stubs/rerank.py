"""Rerankers whose score of a passage is the number of the question's words in it: an HTTP endpoint, and an object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from services.models.errors import RerankerUnavailable
from tests.stubs.openai_server import Reply

PATH = "/v1/rerank"


def shared_words(query: str, text: str) -> float:
    """Returns the number of words that both have."""
    return float(len(set(query.lower().split()) & set(text.lower().split())))


@dataclass
class WordReranker:
    """Implements `PairReranker` without a model; `away` makes every call fail."""

    model: str = "words"
    away: bool = False

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Returns the number of shared words of each passage."""
        return await self.score_pairs([(query, passage) for passage in passages])

    async def score_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Returns the number of shared words of each pair."""
        if self.away:
            raise RerankerUnavailable("scripted")
        return [shared_words(query, passage) for query, passage in pairs]

    async def close(self) -> None:
        """Does nothing."""


def by_words(request: dict[str, Any]) -> Reply:
    """Responds with the scores, best first."""
    scores = [shared_words(request["query"], text) for text in request["documents"]]
    results = [{"index": n, "relevance_score": score} for n, score in enumerate(scores)]
    results.sort(key=lambda item: -item["relevance_score"])
    return Reply(body=json.dumps({"results": results}).encode())
