"""Reorders the best results of a list with a model. If the model fails, the list stays as it is.

The displayed scores stay on the relevance scale and decrease along the list, as after an expansion: the first result
shows the best score of those reordered, the second the second best. The difference is the step's share.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from braid.agent.v1 import search_pb2
from braid.common.v1 import legs_pb2, reranking_pb2
from services.models.embedding.relevance import with_logit
from services.models.errors import RerankerUnavailable
from services.models.reranking.reading import probability
from services.runtime.errors import DeadlineError, WrongStateError
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from services.agent_orchestrator.clients.budget import Budget
    from services.models.reranking.reranker import Reranker

Mode: TypeAlias = reranking_pb2.RerankMode.ValueType

MAX_RERANKED = 30
# Share of the remaining time, so that an expansion after it has some left.
_SHARE = 0.6
OFF = frozenset({reranking_pb2.RERANK_MODE_UNSPECIFIED, reranking_pb2.RERANK_MODE_NONE})


class Reranking:
    """Rerankers by mode, and the default mode."""

    def __init__(self, rerankers: Mapping[Mode, Reranker], default: Mode) -> None:
        self._rerankers = dict(rerankers)
        self._default = default

    def has(self, mode: Mode) -> bool:
        """Returns whether the mode's model is configured."""
        return mode in self._rerankers

    def mode(self, asked: Mode) -> Mode:
        """Returns the requested or default mode. Raises WrongStateError if its model is not configured."""
        mode = self._default if asked == reranking_pb2.RERANK_MODE_UNSPECIFIED else asked
        if mode not in OFF and mode not in self._rerankers:
            name = reranking_pb2.RerankMode.Name(mode).removeprefix("RERANK_MODE_")
            raise WrongStateError(f"No model is configured for reranking by {name}.")
        return mode

    async def rerank(
        self,
        mode: Mode,
        query: str,
        results: Sequence[search_pb2.SearchResult],
        budget: Budget,
    ) -> tuple[list[search_pb2.SearchResult], search_pb2.RerankReport]:
        """Returns the results with the best of them reordered, and a report."""
        report = search_pb2.RerankReport(mode=mode, status=legs_pb2.LEG_STATUS_OK)
        best, rest = list(results[:MAX_RERANKED]), list(results[MAX_RERANKED:])
        if not best:
            report.status = legs_pb2.LEG_STATUS_NO_MATCH
            return rest, report
        texts = [f"{one.title}\n{one.content}" if one.title else one.content for one in best]
        try:
            async with asyncio.timeout(budget.left() * _SHARE):
                scores = await self._rerankers[mode].score(query, texts)
        except (RerankerUnavailable, DeadlineError, TimeoutError) as error:
            get_logger("search").warning("not reranked", cause=type(error).__name__)
            report.status = legs_pb2.LEG_STATUS_DEGRADED
            report.reason = legs_pb2.LEG_REASON_RERANKER_UNAVAILABLE
            return [*best, *rest], report
        if mode == reranking_pb2.RERANK_MODE_LOCAL:
            # The model misses paraphrases and phrases, so a passage's own score counts too.
            keys = [with_logit(one.score, logit) for one, logit in zip(best, scores, strict=True)]
            scores = [probability(logit) for logit in scores]
        else:
            keys = scores
        return [*reordered(best, scores, keys), *rest], report

    async def close(self) -> None:
        """Closes the models' connections."""
        for reranker in self._rerankers.values():
            await reranker.close()


def reordered(
    results: Sequence[search_pb2.SearchResult], scores: Sequence[float], keys: Sequence[float]
) -> list[search_pb2.SearchResult]:
    """Returns the results by these keys, highest first; results with equal keys keep their order.

    `scores` are the model's, for the contributions.
    """
    shown = sorted((one.score for one in results), reverse=True)
    order = sorted(range(len(results)), key=lambda place: -keys[place])
    moved = []
    for rank, (place, score) in enumerate(zip(order, shown, strict=True), 1):
        result = results[place]
        result.contributions.append(
            search_pb2.Contribution(
                leg=legs_pb2.LEG_RERANK, rank=rank, score=scores[place], share=score - result.score
            )
        )
        result.score = score
        moved.append(result)
    return moved
