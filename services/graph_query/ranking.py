"""One ranking of facts from several: weighted reciprocal ranks, sentences below stated facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.graph_query.domain import Fact
from services.graph_query.names import link_key, name_key
from services.graph_query.store import ScoredFact, WordHits

_K = 60
_TEXT, _VECTOR, _ENTITY, _SENTENCE = 1.0, 1.0, 0.7, 0.5


@dataclass(slots=True)
class RankedFact:
    """A fact with its fused score and the parts of it; parts that did not find it are None."""

    fact: Fact
    score: float = 0.0
    text: float | None = None
    text_rank: int | None = None
    vector: float | None = None
    vector_rank: int | None = None


def fuse(
    words: WordHits,
    vectors: Sequence[ScoredFact],
    *,
    terms: Sequence[str],
    entity_key: str,
    limit: int,
) -> list[RankedFact]:
    """The best facts of all lists, best first, equal scores by uuid."""
    found: dict[str, RankedFact] = {}
    for rank, hit in enumerate(words.text, 1):
        ranked = _add(found, hit.fact, _TEXT, rank)
        ranked.text, ranked.text_rank = hit.score, rank
    for rank, hit in enumerate(vectors, 1):
        ranked = _add(found, hit.fact, _VECTOR, rank)
        ranked.vector, ranked.vector_rank = hit.score, rank
    for rank, hit in enumerate(words.entity, 1):
        _add(found, hit.fact, _ENTITY, rank)
    for rank, (facts, score) in enumerate(words.sentences, 1):
        fact = _shown(facts, terms, entity_key)
        if fact is not None:
            ranked = _add(found, fact, _SENTENCE, rank)
            ranked.text, ranked.text_rank = score, rank
    return sorted(found.values(), key=lambda one: (-one.score, one.fact.uuid))[:limit]


def _add(found: dict[str, RankedFact], fact: Fact, weight: float, rank: int) -> RankedFact:
    ranked = found.setdefault(fact.uuid, RankedFact(fact))
    ranked.score += weight / (_K + rank)
    return ranked


def _shown(facts: Sequence[Fact], terms: Sequence[str], entity_key: str) -> Fact | None:
    """The co-occurrence that stands for its sentence: of the filter's entity, nearest to the question."""
    asked = set(terms)
    fitting = [fact for fact in facts if not entity_key or entity_key in _ends(fact)]
    return max(
        fitting,
        key=lambda fact: (len(asked.intersection(link_key(fact.target.name).split())), fact.uuid),
        default=None,
    )


def _ends(fact: Fact) -> set[str]:
    return {name_key(fact.source.name), name_key(fact.target.name)}
