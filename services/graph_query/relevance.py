"""How relevant found facts are to a question: 0 to 1, comparable between questions and with the scores of chunks.

A stated fact with a vector scores as a chunk does: by its cosine and the share of the question's words that it has.
Facts of an entity and a relation that the question both names lead; ended ones come after current ones. A fact without
a vector and a local one (two names in one sentence) have their words alone, and score less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.graph_query.domain import Origin
from services.graph_query.ranking import FoundFact, Ranked
from services.graph_query.stems import names_relation, text_stems
from services.models.relevance import Relevance, bend, unbend

_WORDS = 0.3
_LEADS = 0.15
_ENDED = 0.05
_WORDS_ALONE = 0.7
_LOCAL = 0.5
# Of the question's words, where words are all that is known: a third for a stated fact, a local one is a weaker hint.
_LEAST_WORDS = 0.33
_LEAST_WORDS_LOCAL = 0.4
# How much a fact may support a passage: chosen on MuSiQue with its triples as facts, where more moves the right passage
# down as often as up; and by words alone.
_SUPPORT = 0.5
_SUPPORT_BY_WORDS = 0.25


@dataclass(frozen=True, slots=True)
class Question:
    """A question as facts are compared with it: the stems of its words, and the facts of entities that it names.

    `farthest` is the cosine that no fact with a vector exceeds beyond the list by vectors; None where that list
    has every fact.
    `until` is the end of the time asked about, in epoch seconds.
    """

    stems: frozenset[str]
    of_named: frozenset[str]
    farthest: float | None
    until: float


def relevant(
    ranked: Sequence[Ranked], question: Question, scale: Relevance, min_score: float | None
) -> list[Ranked]:
    """Those that are relevant by what they say, best first, equal scores by uuid; each with its score.

    `min_score` 0 keeps all. Without one, a question of stop words alone keeps what is near by its vector, and all
    where nothing is known of the model.
    """
    scored = [_scored(one, question, scale) for one in ranked]
    kept = [one for one in scored if _is_listed(one, question, scale, min_score)]
    return sorted(kept, key=lambda one: (-one.scores.fused, one.uuid))


def current_first(found: Sequence[FoundFact], question: Question) -> list[FoundFact]:
    """The same facts, those that lead but have ended by the end of the time asked about a little lower."""
    scored = [_lowered(one) if _leads_ended(one, question) else one for one in found]
    return sorted(scored, key=lambda one: (-one.scores.fused, one.fact.uuid))


def _scored(one: Ranked, question: Question, scale: Relevance) -> Ranked:
    said = (one.local.fact, one.local.relation) if one.local else (one.statement, one.relation)
    words = _words_share(said, question)
    if one.local is not None:
        return _with(one, _LOCAL * words, words, 0.0)
    cosine = _cosine(one, question)
    if cosine is None:
        total = _WORDS_ALONE * words
        support = _SUPPORT_BY_WORDS * max(0.0, 2 * words - 1)
    else:
        total = (1 - _WORDS) * max(cosine, 0.0) + _WORDS * words
        support = _SUPPORT * max(0.0, cosine - scale.support) / (1 - scale.support) * words
    if one.uuid in question.of_named and names_relation(question.stems, one.relation):
        total += _LEADS
    return _with(one, bend(total), words, support)


def _cosine(one: Ranked, question: Question) -> float | None:
    """The fact's cosine, or the most that it can be; None where it has no vector that was compared."""
    if one.scores.vector is not None or not one.embedded:
        return one.scores.vector
    return question.farthest


def _with(one: Ranked, score: float, words: float, support: float) -> Ranked:
    return one._replace(scores=replace(one.scores, fused=score, words=words, support=support))


def _is_listed(one: Ranked, question: Question, scale: Relevance, min_score: float | None) -> bool:
    scores = one.scores
    if min_score is not None:
        return scores.fused >= min_score
    if not question.stems:
        return not scale.fact or (scores.vector is not None and scores.vector >= scale.support)
    words = scores.words or 0.0
    if one.local is not None:
        return words >= _LEAST_WORDS_LOCAL
    if _cosine(one, question) is None:
        return words >= _LEAST_WORDS
    return scores.fused >= scale.fact


def _leads_ended(one: FoundFact, question: Question) -> bool:
    fact = one.fact
    ended = fact.invalid_at is not None and fact.invalid_at.timestamp() <= question.until
    leads = fact.uuid in question.of_named and names_relation(question.stems, fact.relation)
    return ended and leads and fact.origin is not Origin.LOCAL


def _lowered(one: FoundFact) -> FoundFact:
    score = bend(unbend(one.scores.fused) - _ENDED)
    return FoundFact(one.fact, replace(one.scores, fused=score))


def _words_share(said: Sequence[str], question: Question) -> float:
    if not question.stems:
        return 0.0
    stems = {stem for text in said for stem in text_stems(text)}
    return len(stems & question.stems) / len(question.stems)
