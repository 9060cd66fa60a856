"""Candidates among the facts of several lists: the best by the sum of weighted reciprocal ranks.

The order in which facts are shown is that of `relevance`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from services.graph_query.domain import Fact
from services.graph_query.names import link_key, name_key
from services.graph_query.store import Hit, WordHits

_K = 60
_TEXT, _VECTOR, _ENTITY, _SENTENCE = 1.0, 1.0, 0.7, 0.5


@dataclass(slots=True)
class Scores:
    """The score and the parts of it; parts that did not find the fact are None.

    `words` is the share of the question's words that the fact has; `support` what it adds to passages that state it.
    """

    fused: float = 0.0
    text: float | None = None
    text_rank: int | None = None
    vector: float | None = None
    vector_rank: int | None = None
    rerank: float | None = None
    words: float | None = None
    support: float = 0.0


class FoundFact(NamedTuple):
    """A fact with its scores."""

    fact: Fact
    scores: Scores


class Ranked(NamedTuple):
    """A fact's place; `local` is the co-occurrence itself, None for a stated fact.

    `statement` and `relation` are what a stated fact says, "" where no list told; `embedded` whether it has a vector.
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
    """The facts of all lists that stand highest in them, best first, equal sums by uuid."""
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
