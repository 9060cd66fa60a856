"""How relevant found facts are to a question: 0 to 1, comparable between questions and with the scores of chunks.

A stated fact with a vector scores as a chunk does: by its cosine and the share of the question's words that it has.
Facts of an entity and a relation that the question both names lead; ended ones come after current ones. A fact without
a vector and a local one (two names in one sentence) have their words alone, and score less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from Stemmer import Stemmer

from services.graph_query.domain import Fact, Origin
from services.graph_query.lucene import query_terms
from services.graph_query.names import WORD, link_token
from services.graph_query.ranking import FoundFact
from services.models.relevance import Relevance, bend

_WORDS = 0.3
_LEADS = 0.15
_ENDED = 0.05
_WORDS_ALONE = 0.7
_LOCAL = 0.5
# Of the question's words, where words are all that is known: a third for a stated fact, a local one is a weaker hint.
_LEAST_WORDS = 0.33
_LEAST_WORDS_LOCAL = 0.4
# How much a fact by words alone may support a passage.
_SUPPORT_BY_WORDS = 0.5


@dataclass(frozen=True, slots=True)
class Question:
    """A question as facts are compared with it: the stems of its words, and the facts of entities that it names.

    `farthest` is the cosine that no fact beyond the list by vectors exceeds; None where that list has every fact.
    """

    stems: frozenset[str]
    of_named: frozenset[str]
    farthest: float | None
    now: datetime


def question_stems(text: str) -> frozenset[str]:
    """The stems of the words of a question that are worth looking for."""
    return frozenset(_stem(link_token(term)) for term in query_terms(text))


def by_relevance(
    found: Sequence[FoundFact], question: Question, scale: Relevance, min_score: float | None
) -> list[FoundFact]:
    """The facts that are relevant, best first, equal scores by uuid. `min_score` 0 keeps all."""
    scored = [_scored(one, question, scale) for one in found]
    kept = [one for one in scored if _is_listed(one, question, scale, min_score)]
    return sorted(kept, key=lambda one: (-one.scores.fused, one.fact.uuid))


def _scored(one: FoundFact, question: Question, scale: Relevance) -> FoundFact:
    fact, scores = one.fact, one.scores
    words = _words_share(fact, question)
    if fact.origin is Origin.LOCAL:
        return FoundFact(fact, replace(scores, fused=_LOCAL * words, words=words, support=0.0))
    cosine = scores.vector if scores.vector is not None else question.farthest
    if cosine is None:
        total = _WORDS_ALONE * words
        support = _SUPPORT_BY_WORDS * max(0.0, 2 * words - 1)
    else:
        total = (1 - _WORDS) * max(cosine, 0.0) + _WORDS * words
        support = max(0.0, cosine - scale.support) / (1 - scale.support) * words
    total += _lead(fact, question)
    return FoundFact(fact, replace(scores, fused=bend(total), words=words, support=support))


def _lead(fact: Fact, question: Question) -> float:
    """What a fact gains whose entity and relation the question both names."""
    named = fact.uuid in question.of_named and _stems(fact.relation) & question.stems
    if not named:
        return 0.0
    ended = fact.invalid_at is not None and fact.invalid_at <= question.now
    return _LEADS - _ENDED if ended else _LEADS


def _is_listed(
    one: FoundFact, question: Question, scale: Relevance, min_score: float | None
) -> bool:
    scores = one.scores
    if min_score is not None:
        return scores.fused >= min_score
    if not question.stems:
        return True
    words = scores.words or 0.0
    if one.fact.origin is Origin.LOCAL:
        return words >= _LEAST_WORDS_LOCAL
    if scores.vector is None and question.farthest is None:
        return words >= _LEAST_WORDS
    return scores.fused >= scale.fact


def _words_share(fact: Fact, question: Question) -> float:
    if not question.stems:
        return 0.0
    stems = _stems(fact.fact) | _stems(fact.relation)
    return len(stems & question.stems) / len(question.stems)


def _stems(text: str) -> set[str]:
    return {
        _stem(link_token(word))
        for match in WORD.finditer(text)
        for word in match.group().split("_")
    }


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    stem: str = Stemmer("english").stemWord(word)
    return stem
