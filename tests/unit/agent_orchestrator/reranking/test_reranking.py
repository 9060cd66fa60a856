"""Reranking of a result list: order, displayed scores, and missing or failing models."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from braid.agent.v1 import search_pb2
from braid.common.v1 import legs_pb2, reranking_pb2
from services.agent_orchestrator.clients.budget import Budget
from services.agent_orchestrator.reranking.reranking import MAX_RERANKED, Reranking
from services.models.errors import RerankerUnavailable
from services.runtime.errors import WrongStateError

LOCAL = reranking_pb2.RERANK_MODE_LOCAL
CROSS_ENCODER = reranking_pb2.RERANK_MODE_CROSS_ENCODER
NONE = reranking_pb2.RERANK_MODE_NONE


class Shortest:
    """Prefers short passages, or fails."""

    model = "shortest"

    def __init__(self, *, fails: bool = False) -> None:
        self._fails = fails

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        if self._fails:
            raise RerankerUnavailable("away")
        return [1 / len(passage) for passage in passages]

    async def close(self) -> None:
        pass


def results(*texts: str) -> list[search_pb2.SearchResult]:
    made = []
    for place, text in enumerate(texts):
        score = 0.9 - place / 100
        part = search_pb2.Contribution(leg=legs_pb2.LEG_VECTOR, share=score)
        made.append(
            search_pb2.SearchResult(id=text, content=text, score=score, contributions=[part])
        )
    return made


async def test_the_model_determines_the_order_and_scores_decrease_along_it() -> None:
    reranking = Reranking({CROSS_ENCODER: Shortest()}, NONE)
    found, report = await reranking.rerank(CROSS_ENCODER, "q", results("ccc", "a", "bb"), Budget(5))
    assert [one.id for one in found] == ["a", "bb", "ccc"]
    assert [round(one.score, 2) for one in found] == [0.9, 0.89, 0.88]
    assert report.status == legs_pb2.LEG_STATUS_OK
    step = found[0].contributions[-1]
    assert (step.leg, step.rank, step.score) == (legs_pb2.LEG_RERANK, 1, 1.0)
    assert sum(part.share for part in found[0].contributions) == pytest.approx(found[0].score)


async def test_only_the_best_results_are_reranked() -> None:
    texts = ["x" * (MAX_RERANKED + 9 - number) for number in range(MAX_RERANKED + 2)]
    found, _ = await Reranking({CROSS_ENCODER: Shortest()}, NONE).rerank(
        CROSS_ENCODER, "q", results(*texts), Budget(5)
    )
    assert [one.id for one in found[-2:]] == texts[-2:]
    assert found[0].id == texts[MAX_RERANKED - 1]


async def test_a_failing_model_leaves_the_list_unchanged() -> None:
    reranking = Reranking({LOCAL: Shortest(fails=True)}, NONE)
    found, report = await reranking.rerank(LOCAL, "q", results("ccc", "a"), Budget(5))
    assert [one.id for one in found] == ["ccc", "a"]
    assert report.status == legs_pb2.LEG_STATUS_DEGRADED
    assert report.reason == legs_pb2.LEG_REASON_RERANKER_UNAVAILABLE


async def test_the_local_model_and_a_passages_own_score_order_the_list_together() -> None:
    """A much better reading moves a passage, a slightly better one does not."""

    class Logits(Shortest):
        async def score(self, query: str, passages: Sequence[str]) -> list[float]:
            return [
                {"low": -11.0, "first": 0.0, "close": 0.1, "last": 9.0}[one] for one in passages
            ]

    found, _ = await Reranking({LOCAL: Logits()}, NONE).rerank(
        LOCAL, "q", results("low", "first", "close", "last"), Budget(5)
    )
    assert [one.id for one in found] == ["last", "first", "close", "low"]
    assert all(0 <= one.contributions[-1].score <= 1 for one in found)


def test_a_mode_without_a_model_is_rejected_and_the_setting_is_the_default() -> None:
    reranking = Reranking({LOCAL: Shortest()}, LOCAL)
    assert reranking.mode(reranking_pb2.RERANK_MODE_UNSPECIFIED) == LOCAL
    assert reranking.mode(NONE) == NONE
    with pytest.raises(WrongStateError, match="CROSS_ENCODER"):
        reranking.mode(reranking_pb2.RERANK_MODE_CROSS_ENCODER)
