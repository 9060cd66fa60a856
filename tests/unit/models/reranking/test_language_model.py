"""Reranking by the scores of a language model."""

from __future__ import annotations

import pytest

from services.models.errors import RerankerUnavailable
from services.models.language.model import Completion, Prompt
from services.models.reranking.language_model import LanguageReranker


class FixedAnswer:
    """A language model with a fixed answer."""

    model = "answering"

    def __init__(self, text: str) -> None:
        self._text = text

    async def complete(self, prompt: Prompt) -> Completion:
        return Completion(self._text)

    async def close(self) -> None:
        pass


async def test_scores_of_a_language_model_are_scaled_from_ten_to_one() -> None:
    reranker = LanguageReranker(FixedAnswer('{"scores": [10, 2.5, 99]}'))
    assert await reranker.score("q", ["a", "b", "c"]) == [1.0, 0.25, 1.0]


@pytest.mark.parametrize("text", ["", "[]", '{"scores": [1]}', '{"scores": ["x", "y"]}', "{}"])
async def test_an_answer_without_a_score_for_each_passage_is_unavailable(text: str) -> None:
    with pytest.raises(RerankerUnavailable):
        await LanguageReranker(FixedAnswer(text)).score("q", ["a", "b"])
