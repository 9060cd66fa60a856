"""Fuses candidates from several lists by reciprocal rank, and scores how relevant each is to the question.

A stated fact with a vector is scored as a chunk is: by its cosine and the share of the question's words that it has.
Facts whose entity and relation the question both names rank first; ended ones come after current ones. A fact without a
vector and a local one (two names in one sentence) are scored by words alone, and lower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from services.graph_query.core.domain import Fact, Origin
from services.graph_query.core.full_text import names_relation, text_stems
from services.graph_query.core.names import link_key, name_key
from services.graph_query.core.store import Hit, WordHits
from services.models.embedding.relevance import Relevance, bend, unbend

_K = 60


_TEXT, _VECTOR, _ENTITY, _SENTENCE = 1.0, 1.0, 0.7, 0.5


@dataclass(slots=True)
class Scores:
    """A fact's score and its parts; None for parts that did not find the fact.

    `words` is the share of the question's words that the fact has; `support` is what it adds to passages that state it.
    `reading` is the cross-encoder's judgment, 0 to 1.
    """

    fused: float = 0.0
    text: float | None = None
    text_rank: int | None = None
    vector: float | None = None
    vector_rank: int | None = None
    rerank: float | None = None
    words: float | None = None
    support: float = 0.0
    reading: float | None = None


class FoundFact(NamedTuple):
    """A fact with its scores."""

    fact: Fact
    scores: Scores


class Ranked(NamedTuple):
    """A ranked fact; `local` is the co-occurrence itself, None for a stated fact.

    `statement` and `relation` are those of a stated fact, "" if no list had them; `embedded` is whether it has a
    vector.
    """

    uuid: str
    scores: Scores
    local: Fact | None
    statement: str = ""
    relation: str = ""
    embedded: bool = True


def fuse(
    words: WordHits,
    vectors: Sequence[Hit],
    *,
    terms: Sequence[str],
    entity_key: str,
    limit: int,
) -> list[Ranked]:
    """Returns the facts with the highest fused rank over all lists, best first, equal sums by uuid."""
    found: dict[str, Scores] = {}
    local: dict[str, Fact] = {}
    for rank, hit in enumerate(words.text, 1):
        scores = _add(found, hit.uuid, _TEXT, rank)
        scores.text, scores.text_rank = hit.score, rank
    for rank, hit in enumerate(vectors, 1):
        scores = _add(found, hit.uuid, _VECTOR, rank)
        scores.vector, scores.vector_rank = hit.score, rank
    for rank, hit in enumerate(words.entity, 1):
        _add(found, hit.uuid, _ENTITY, rank)
    for rank, (facts, score) in enumerate(words.sentences, 1):
        fact = _shown(facts, terms, entity_key)
        if fact is not None:
            local[fact.uuid] = fact
            scores = _add(found, fact.uuid, _SENTENCE, rank)
            scores.text, scores.text_rank = score, rank
    said = {hit.uuid: hit[2:] for hits in (words.text, vectors, words.entity) for hit in hits}
    best = sorted(found.items(), key=lambda one: (-one[1].fused, one[0]))[:limit]
    return [
        Ranked(uuid, scores, local.get(uuid), *said.get(uuid, ("", ""))) for uuid, scores in best
    ]


def _add(found: dict[str, Scores], uuid: str, weight: float, rank: int) -> Scores:
    scores = found.setdefault(uuid, Scores())
    scores.fused += weight / (_K + rank)
    return scores


def _shown(facts: Sequence[Fact], terms: Sequence[str], entity_key: str) -> Fact | None:
    """Returns the co-occurrence that represents its sentence: of the filter's entity, nearest to the question."""
    asked = set(terms)
    fitting = [fact for fact in facts if not entity_key or entity_key in _ends(fact)]
    return max(
        fitting,
        key=lambda fact: (len(asked.intersection(link_key(fact.target.name).split())), fact.uuid),
        default=None,
    )


def _ends(fact: Fact) -> set[str]:
    return {name_key(fact.source.name), name_key(fact.target.name)}


_WORDS = 0.3


_LEADS = 0.15


_ENDED = 0.05


_WORDS_ALONE = 0.7


_LOCAL = 0.5


# The minimum share of the question's words if only words are known: a third for a stated fact, more for a local one,
# which is weaker evidence.
_MIN_WORDS = 0.33


_MIN_WORDS_LOCAL = 0.4


# How much a fact may add to a passage. Chosen on MuSiQue with its triples as facts: a larger value moves the right
# passage down as often as up. Half of it by words alone.
_SUPPORT = 0.5


_SUPPORT_BY_WORDS = 0.25


# The least that a current or ended fact adds whose entity and relation the question names: it is about the answer
# whatever the model's cosine of two short texts is.
_SUPPORT_OF_LEADING = 0.08


@dataclass(frozen=True, slots=True)
class Question:
    """A question in comparable form: the stems of its words, and the facts of entities that it names.

    `farthest` is the highest possible cosine of facts that are not in the list by vectors; None if that list has every
    fact. `until` is the end of the time asked about, in epoch seconds.
    """

    stems: frozenset[str]
    of_named: frozenset[str]
    farthest: float | None
    until: float


def relevant(
    ranked: Sequence[Ranked], question: Question, scale: Relevance, min_score: float | None
) -> list[Ranked]:
    """Returns the facts relevant by their statement, best first, equal scores by uuid, each with its score.

    `min_score` 0 keeps all. Without one, a question of stop words alone keeps facts with a near vector, or all if the
    model's scale is unknown.
    """
    scored = [_scored(one, question, scale) for one in ranked]
    kept = [one for one in scored if _is_listed(one, question, scale, min_score)]
    return sorted(kept, key=lambda one: (-one.scores.fused, one.uuid))


def nearest_stated(
    ranked: Sequence[Ranked], question: Question, scale: Relevance, count: int
) -> list[Ranked]:
    """Returns the stated facts with the highest scores, at most `count`, each with its score."""
    stated = [_scored(one, question, scale) for one in ranked if one.local is None]
    said = (one for one in stated if one.statement)
    return sorted(said, key=lambda one: (-one.scores.fused, one.uuid))[:count]


def current_first(found: Sequence[FoundFact], question: Question) -> list[FoundFact]:
    """Orders the facts again, with a lower score for leading facts that ended by the end of the time asked about."""
    scored = [_lowered(one) if _leads_ended(one, question) else one for one in found]
    return sorted(scored, key=lambda one: (-one.scores.fused, one.fact.uuid))


def _scored(one: Ranked, question: Question, scale: Relevance) -> Ranked:
    said = (one.local.fact, one.local.relation) if one.local else (one.statement, one.relation)
    words = _word_share(said, question)
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
        support = max(support, _SUPPORT_OF_LEADING)
    return _with(one, bend(total), words, support)


def _cosine(one: Ranked, question: Question) -> float | None:
    """Returns the fact's cosine, or its upper bound; None without a comparable vector."""
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
        return words >= _MIN_WORDS_LOCAL
    if _cosine(one, question) is None:
        return words >= _MIN_WORDS
    return scores.fused >= scale.fact


def _leads_ended(one: FoundFact, question: Question) -> bool:
    fact = one.fact
    ended = fact.invalid_at is not None and fact.invalid_at.timestamp() <= question.until
    leads = fact.uuid in question.of_named and names_relation(question.stems, fact.relation)
    return ended and leads and fact.origin is not Origin.LOCAL


def _lowered(one: FoundFact) -> FoundFact:
    score = bend(unbend(one.scores.fused) - _ENDED)
    return FoundFact(one.fact, replace(one.scores, fused=score))


def _word_share(said: Sequence[str], question: Question) -> float:
    if not question.stems:
        return 0.0
    stems = {stem for text in said for stem in text_stems(text)}
    return len(stems & question.stems) / len(question.stems)
