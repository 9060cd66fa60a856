"""One relevance scale for all searches: scores of 0 to 1, comparable between queries, and what is relevant on it.

Measured with questions on subjects that a space does not have. The best hit scores up to .26 (all-MiniLM-L6-v2) and .48
(bge-small-en-v1.5) in spaces of some 50 chunks; in a space of 1,900 chunks 90 % score below .66 (bge).
The score does not separate them from the questions that a space answers: their best hits begin at .33 (MiniLM) and .50.
The score and the cross-encoder's logit together do: see `Relevance.accepts`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

DEFAULT_TEXT_WEIGHT = 0.15
"""The share of words in a chunk's score unless a request sets another.

Chosen on two multi-hop sets: the cosines of bge-small-en-v1.5 lie close together, and a larger share hides them.
"""
_KNEE = 0.8
_FLOOR_SPACE = 100
_FLOOR_PER_DECADE = 0.03
_LISTED_BELOW = 0.05
# A score this far above the floor is clear without reading, and needs to be higher in larger spaces.
_CLEAR_ABOVE = 0.09
_CLEAR_PER_DECADE = 0.055
# In doubt, a tenth of the logit is added to the score. In a space of 40 chunks the sums of unknown questions end at
# -.5, those of answered ones begin at -.2 (bge); in one of 1,900 chunks 90 % of the unknown end at .07, and the
# answered begin at .27.
_LOGIT_SHARE = 0.1
_READ_BELOW = 0.79
_READ_PER_DECADE = 0.30
_MAX_DECADES = 2.0
# The weight of words at which floors are measured, and the score that words add by chance.
_TEXT_WEIGHT = 0.3
_CHANCE_WORDS = 0.2


def bend(total: float) -> float:
    """Maps a sum of parts to a score below 1, keeping the order: unchanged up to 0.8, above it compressed towards 1.

    The SQL function `relevance` is the same.
    """
    if total <= _KNEE:
        return max(total, 0.0)
    return 1 - (1 - _KNEE) * math.exp(max(-700.0, (_KNEE - total) / (1 - _KNEE)))


def unbend(score: float) -> float:
    """Inverts `bend`: returns the sum of a score."""
    if score <= _KNEE:
        return score
    return _KNEE - (1 - _KNEE) * math.log(max((1 - score) / (1 - _KNEE), 1e-300))


@dataclass(frozen=True, slots=True)
class Relevance:
    """The meaning of an embedding model's scores.

    chunk: the best chunk's score below which a small space has no match. fact: a fact's score below which it is not
    listed. support: the cosine of question and fact from which a fact supports the passages that state it.
    """

    chunk: float
    fact: float
    support: float

    def match_floor(self, chunks: int, text_weight: float = _TEXT_WEIGHT) -> float:
        """Returns the minimum score of the best hit among `chunks` chunks; larger spaces have better chance hits.

        0 if the model's scale is unknown, or if only words are compared: common words score as high as rare ones.
        """
        floor = self._floor(text_weight)
        if not floor:
            return 0.0
        return floor + _FLOOR_PER_DECADE * _decades(chunks)

    def clear_floor(self, chunks: int, text_weight: float = _TEXT_WEIGHT) -> float:
        """Returns the score from which the best hit among `chunks` chunks is a match without being read; 0 as above."""
        floor = self._floor(text_weight)
        if not floor:
            return 0.0
        decades = min(_decades(chunks), _MAX_DECADES)
        return floor + _CLEAR_ABOVE + _CLEAR_PER_DECADE * decades

    def accepts(
        self, score: float, logit: float, chunks: int, text_weight: float = _TEXT_WEIGHT
    ) -> bool:
        """Returns whether a hit of doubtful score is a match, given the cross-encoder's logit.

        A high score outweighs a low logit and the reverse: neither decides alone.
        """
        return _accepts(self._floor(text_weight), score, logit, chunks)

    def accepts_fact(self, score: float, logit: float, facts: int) -> bool:
        """Returns whether a fact of doubtful score, one of `facts`, is a match; as `accepts`."""
        return _accepts(self.fact, score, logit, facts)

    def list_floor(self, text_weight: float = _TEXT_WEIGHT) -> float:
        """Returns the minimum score of the other hits."""
        return max(self._floor(text_weight) - _LISTED_BELOW, 0.0)

    def _floor(self, text_weight: float) -> float:
        if not self.chunk or text_weight >= 1:
            return 0.0
        cosine = (self.chunk - _TEXT_WEIGHT * _CHANCE_WORDS) / (1 - _TEXT_WEIGHT)
        return (1 - text_weight) * cosine + text_weight * _CHANCE_WORDS


def with_logit(score: float, logit: float) -> float:
    """Returns a score and the cross-encoder's logit as one number: in this order, neither decides alone."""
    return unbend(score) + _LOGIT_SHARE * logit


def _accepts(floor: float, score: float, logit: float, items: int) -> bool:
    decades = min(_decades(items), _MAX_DECADES)
    return with_logit(score, logit) >= floor - _READ_BELOW + _READ_PER_DECADE * decades


def _decades(chunks: int) -> float:
    """Returns by how many factors of ten a space exceeds the one at which floors are measured."""
    return math.log10(max(chunks, _FLOOR_SPACE) / _FLOOR_SPACE)


UNCALIBRATED = Relevance(chunk=0.0, fact=0.0, support=0.45)
"""Of a model that nothing is known of: everything is listed."""

KNOWN: Mapping[str, Relevance] = MappingProxyType(
    {
        "all-MiniLM-L6-v2": Relevance(chunk=0.30, fact=0.38, support=0.45),
        "bge-small-en-v1.5": Relevance(chunk=0.44, fact=0.47, support=0.565),
    }
)


def calibrated(chance: float) -> Relevance:
    """Returns the scale of a model whose best cosine for questions about other subjects is about `chance`.

    It reproduces the values measured on all-MiniLM-L6-v2, whose chance is 0.27 to 0.30.
    """
    chance = min(max(chance, 0.0), 0.99)
    chunk = 0.7 * (chance + 0.1 * (1 - chance)) + 0.06
    return Relevance(chunk=chunk, fact=chunk + 0.08, support=chance + 0.25 * (1 - chance))
