"""Reranking by the best sentence, and by the scores of a language model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from services.models.errors import RerankerUnavailable
from services.models.language.model import Completion, Prompt
from services.models.reranking.language_model import LanguageReranker
from services.models.reranking.local import SentenceReranker, sentences


class WordEmbedder:
    """Embeds in two dimensions: texts that contain "cat", and all others."""

    model = "words"
    dimension = 2

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [[1.0, 0.0] if "cat" in text else [0.0, 1.0] for text in texts]
        return np.array(rows, dtype=np.float32)

    async def close(self) -> None:
        pass


class FixedAnswer:
    """A language model with a fixed answer."""

    model = "answering"

    def __init__(self, text: str) -> None:
        self._text = text

    async def complete(self, prompt: Prompt) -> Completion:
        return Completion(self._text)

    async def close(self) -> None:
        pass


async def test_a_passage_is_scored_by_its_best_sentence() -> None:
    reranker = SentenceReranker(WordEmbedder())
    scores = await reranker.score("the cat", ["A dog. A bird.", "A dog. My cat sleeps. A bird."])
    assert scores == pytest.approx([0.0, 1.0])
    assert await reranker.score("the cat", []) == []


def test_a_passage_has_at_least_one_sentence_and_a_bounded_number() -> None:
    assert sentences("") == [""]
    assert sentences("One. Two!\nThree") == ["One.", "Two!", "Three"]
    assert len(sentences("A. " * 100)) == 12


async def test_scores_of_a_language_model_are_scaled_from_ten_to_one() -> None:
    reranker = LanguageReranker(FixedAnswer('{"scores": [10, 2.5, 99]}'))
    assert await reranker.score("q", ["a", "b", "c"]) == [1.0, 0.25, 1.0]


@pytest.mark.parametrize("text", ["", "[]", '{"scores": [1]}', '{"scores": ["x", "y"]}', "{}"])
async def test_an_answer_without_a_score_for_each_passage_is_unavailable(text: str) -> None:
    with pytest.raises(RerankerUnavailable):
        await LanguageReranker(FixedAnswer(text)).score("q", ["a", "b"])
