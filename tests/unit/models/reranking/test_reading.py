"""Reading passages within a budget, and the judgment as a number from 0 to 1."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from services.models.errors import RerankerUnavailable
from services.models.reranking.reading import MAX_READ, Reader, probability
from services.runtime.context import CallContext, call_scope


class Scripted:
    """A cross-encoder with a fixed score, which can be slow or unavailable."""

    model = "scripted"

    def __init__(self, *, seconds: float = 0.0, away: bool = False) -> None:
        self.texts: list[str] = []
        self._seconds = seconds
        self._away = away

    async def score(self, _query: str, passages: Sequence[str]) -> list[float]:
        await asyncio.sleep(self._seconds)
        if self._away:
            raise RerankerUnavailable("scripted")
        self.texts += passages
        return [-float(len(one)) for one in passages]

    async def close(self) -> None:
        """Does nothing."""


async def test_only_the_first_passages_are_read_each_in_part() -> None:
    model = Scripted()
    logits = await Reader(model).read("q", ["a" * 50_000, *"bcdefgh"])
    assert logits == [-2_000.0, -1.0, -1.0, -1.0]
    assert len(model.texts) == MAX_READ


async def test_an_unavailable_model_gives_no_judgment() -> None:
    assert await Reader(Scripted(away=True)).read("q", ["a"]) is None


async def test_reading_leaves_the_caller_time_for_the_rest() -> None:
    deadline = asyncio.get_running_loop().time() + 0.2
    with call_scope(CallContext("r", "m", "s", "u", frozenset(), deadline)):
        assert await Reader(Scripted(seconds=5)).read("q", ["a"]) is None
        assert asyncio.get_running_loop().time() < deadline


@pytest.mark.parametrize(("logit", "expected"), [(0.0, 0.5), (1e9, 1.0), (-1e9, 0.0)])
def test_a_logit_becomes_a_probability(logit: float, expected: float) -> None:
    assert probability(logit) == pytest.approx(expected)
