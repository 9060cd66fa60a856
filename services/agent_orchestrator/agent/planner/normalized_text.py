"""A text prepared for relevance scoring: case-folded text, words and stems."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from services.agent_orchestrator.agent.planner.language import (
    FUNCTION_WORDS,
    fold,
    stem,
    word_list,
)

Pairs = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Wording:
    """A text with its words and their stems."""

    text: str = ""
    folded: str = ""
    words: tuple[str, ...] = ()
    stems: frozenset[str] = frozenset()

    @property
    def pairs(self) -> Pairs:
        """Adjacent words, skipping pairs of two function words."""
        return word_pairs(self.words)


def wording(text: str) -> Wording:
    """Normalizes a text. Parts of a hyphenated word count as words too."""
    words = tuple(word_list(text))
    parts = [part for word in words if "-" in word for part in word.split("-")]
    return Wording(text, fold(text), words, frozenset(stem(word) for word in (*words, *parts)))


def word_pairs(words: tuple[str, ...]) -> Pairs:
    """Returns adjacent words, skipping pairs of two function words."""
    return frozenset(pair for pair in pairwise(words) if not FUNCTION_WORDS.issuperset(pair))
