"""Reranking by the best sentence, and by a language model's scores."""

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
    """Two dimensions: whether a text names a cat, and everything else."""

    model = "words"
    dimension = 2

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [[1.0, 0.0] if "cat" in text else [0.0, 1.0] for text in texts]
        return np.array(rows, dtype=np.float32)

    async def close(self) -> None:
        pass


class Answering:
    """A language model with one answer."""

    model = "answering"

    def __init__(self, text: str) -> None:
        self._text = text

    async def complete(self, prompt: Prompt) -> Completion:
        return Completion(self._text)

    async def close(self) -> None:
        pass


async def test_one_sentence_that_answers_is_enough() -> None:
    reranker = SentenceReranker(WordEmbedder())
    scores = await reranker.score("the cat", ["A dog. A bird.", "A dog. My cat sleeps. A bird."])
    assert scores == pytest.approx([0.0, 1.0])
    assert await reranker.score("the cat", []) == []


def test_a_passage_has_at_least_one_sentence_and_a_bounded_number() -> None:
    assert sentences("") == [""]
    assert sentences("One. Two!\nThree") == ["One.", "Two!", "Three"]
    assert len(sentences("A. " * 100)) == 12


async def test_a_language_models_scores_are_shares_of_ten() -> None:
    reranker = LanguageReranker(Answering('{"scores": [10, 2.5, 99]}'))
    assert await reranker.score("q", ["a", "b", "c"]) == [1.0, 0.25, 1.0]


@pytest.mark.parametrize("text", ["", "[]", '{"scores": [1]}', '{"scores": ["x", "y"]}', "{}"])
async def test_an_answer_without_a_score_for_each_passage_is_none(text: str) -> None:
    with pytest.raises(RerankerUnavailable):
        await LanguageReranker(Answering(text)).score("q", ["a", "b"])
