"""Fuses chunks and facts into one ranked list with one relevance scale. Pure: no I/O, no clock.

The score of a passage is that of its chunk (0 to 1, from the vector tier) plus the support of the best fact citing it:

    score = bend(unbend(chunk's score) + support)

`bend` keeps sums up to 0.8 unchanged and maps larger ones to values below 1, in the same order. A fact's support is its
closeness to the question; local facts (two names in one sentence) give none: full text has scored their words already.
A passage that was not valid at the requested time gets no support either: its score is multiplied by `NOT_IN_FORCE`.

One result per chunk: facts are listed with each found chunk that they cite. A fact whose chunks are unknown (it has no
document, its chunk is not stored, or the vector tier has not answered) is a separate result with its own score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from braid.agent.v1 import search_pb2
from braid.common.v1 import legs_pb2
from braid.graph.v1 import facts_pb2
from services.models.embedding.relevance import bend, unbend

if TYPE_CHECKING:
    from braid.common.v1 import retrieval_pb2
    from braid.vector.v1 import chunks_pb2

NOT_IN_FORCE = 0.7


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A chunk, its score, and its rank among the hits of the vector leg; 0 if only facts cite it.

    `reading` is the local reranking model's judgment, if the tier has read it.
    `in_force` is false if no version of its document contained it at the requested time: a later text describes that
    time, or an earlier one is superseded.
    """

    chunk: chunks_pb2.Chunk
    score: float
    rank: int = 0
    in_force: bool = True
    reading: float | None = None


@dataclass(frozen=True, slots=True)
class Passages:
    """The vector tier's answer: chunks by id, and ids of chunks that it does not have.

    `answered` is true if it answered: chunks in neither set are less relevant than those listed. A chunk that only
    facts cite, without support, needs a score of `floor`, and the best hit of all must have been relevant (`matched`).
    """

    chunks: Mapping[str, ScoredChunk]
    missing: frozenset[str] = frozenset()
    answered: bool = True
    floor: float = 0.0
    matched: bool = True


@dataclass(slots=True)
class _Candidate:
    """A result while the legs are combined."""

    id: str
    chunk: ScoredChunk | None = None
    citation: retrieval_pb2.Citation | None = None
    best_rank: int = 0
    best: facts_pb2.FactHit | None = None
    facts: list[facts_pb2.Fact] = field(default_factory=list)

    def add(self, hit: facts_pb2.FactHit, rank: int) -> None:
        """Adds the next best fact. Without a chunk the first one counts, with one the first with the most support."""
        self.facts.append(hit.fact)
        more = self.best is not None and hit.scores.support > self.best.scores.support
        if self.best is None or (more and self.chunk is not None):
            self.best, self.best_rank = hit, rank

    def own_score(self) -> float:
        if self.chunk is None:
            return 0.0
        return self.chunk.score * (1.0 if self.chunk.in_force else NOT_IN_FORCE)

    def is_relevant(self, passages: Passages) -> bool:
        if self.chunk is None or self.chunk.rank > 0:
            return True
        supported = self.best is not None and bool(self.best.scores.support)
        return supported or (passages.matched and self.own_score() >= passages.floor)

    def score(self) -> float:
        if self.chunk is None:
            return self.best.score if self.best is not None else 0.0
        if self.best is None or not self.best.scores.support or not self.chunk.in_force:
            return self.own_score()
        return bend(unbend(self.chunk.score) + self.best.scores.support)


def ranked_chunks(hits: Iterable[chunks_pb2.ChunkHit]) -> dict[str, ScoredChunk]:
    """Returns the vector leg's hits by chunk id."""
    found: dict[str, ScoredChunk] = {}
    for rank, hit in enumerate(hits, 1):
        reading = hit.scores.reading if hit.scores.HasField("reading") else None
        found.setdefault(hit.chunk.id, ScoredChunk(hit.chunk, hit.score, rank, reading=reading))
    return found


def nearest_results(hits: Iterable[chunks_pb2.ChunkHit]) -> list[search_pb2.SearchResult]:
    """Returns the vector leg's nearest chunks, which are not relevant, as entries of a list."""
    return [_result(_Candidate(key, chunk=chunk)) for key, chunk in ranked_chunks(hits).items()]


def unscored_chunks(
    found: Mapping[str, ScoredChunk], facts: Iterable[facts_pb2.FactHit], limit: int
) -> list[str]:
    """Returns ids of chunks that stated facts cite and that the vector leg did not find, at most `limit`.

    Chunks with support from facts come first; of a fact without support, only the first chunk.
    """
    stated = [hit for hit in facts if hit.fact.origin != facts_pb2.FACT_ORIGIN_LOCAL]
    supported = [_cited(hit.fact) for hit in stated if hit.scores.support]
    others = [_cited(hit.fact)[:1] for hit in stated if not hit.scores.support]
    wanted = dict.fromkeys(one for ids in (*supported, *others) for one in ids if one not in found)
    return list(wanted)[:limit]


def facts_by_chunk(facts: Iterable[facts_pb2.FactHit]) -> dict[str, list[facts_pb2.Fact]]:
    """Returns the found facts by the chunks that they cite, best first."""
    found: dict[str, list[facts_pb2.Fact]] = {}
    for hit in facts:
        for chunk_id in _cited(hit.fact):
            found.setdefault(chunk_id, []).append(hit.fact)
    return found


def fuse(
    passages: Passages, facts: Sequence[facts_pb2.FactHit], limit: int
) -> list[search_pb2.SearchResult]:
    """Returns the best `limit` results, ordered by descending score, then id."""
    found = {key: _Candidate(key, chunk=chunk) for key, chunk in passages.chunks.items()}
    for rank, hit in enumerate(facts, start=1):
        for candidate in _stating(hit, found, passages):
            candidate.add(hit, rank)
    kept = (one for one in found.values() if one.is_relevant(passages))
    best = sorted(kept, key=lambda one: (-one.score(), one.id))[:limit]
    return [_result(candidate) for candidate in best]


def _stating(
    hit: facts_pb2.FactHit, found: dict[str, _Candidate], passages: Passages
) -> list[_Candidate]:
    """Returns the results that a fact belongs to: known chunks that it cites, otherwise a new one."""
    fact = hit.fact
    cited = _cited(fact)
    known = [found[chunk_id] for chunk_id in cited if chunk_id in found]
    if known or (passages.answered and cited and passages.missing.isdisjoint(cited)):
        return known
    sources = fact.sources
    citation = next((c for c in sources if c.chunk_id), sources[0] if sources else None)
    key = (citation.chunk_id if citation is not None else "") or fact.id
    made = found[key] = _Candidate(key, citation=citation)
    return [made]


def _cited(fact: facts_pb2.Fact) -> list[str]:
    """Returns ids of the chunks that a fact cites, without duplicates."""
    return list(dict.fromkeys(one.chunk_id for one in fact.sources if one.chunk_id))


def _result(candidate: _Candidate) -> search_pb2.SearchResult:
    if candidate.chunk is None:
        return _from_fact(candidate)
    chunk = candidate.chunk.chunk
    return search_pb2.SearchResult(
        id=candidate.id,
        document_id=chunk.document_id,
        title=chunk.document_title,
        source=chunk.source,
        content=chunk.content,
        score=candidate.score(),
        contributions=_contributions(candidate),
        facts=candidate.facts,
        # Hits of the vector leg contain their metadata already.
        metadata=None if candidate.chunk.rank else chunk.metadata,
    )


def _contributions(candidate: _Candidate) -> list[search_pb2.Contribution]:
    """Returns each leg's contribution; the shares add up to the score."""
    results = []
    score, own = candidate.score(), 0.0
    if candidate.chunk is not None:
        own = candidate.own_score()
        results.append(
            search_pb2.Contribution(
                leg=legs_pb2.LEG_VECTOR,
                rank=candidate.chunk.rank,
                score=candidate.chunk.score,
                share=own,
            )
        )
        if candidate.chunk.reading is not None:
            reading = candidate.chunk.reading
            results.append(search_pb2.Contribution(leg=legs_pb2.LEG_READING, score=reading))
    if candidate.best is not None:
        results.append(
            search_pb2.Contribution(
                leg=legs_pb2.LEG_GRAPH,
                rank=candidate.best_rank,
                score=candidate.best.score,
                share=score - own,
            )
        )
    return results


def _from_fact(candidate: _Candidate) -> search_pb2.SearchResult:
    fact, citation = candidate.facts[0], candidate.citation
    quote = citation.quote if citation is not None else ""
    local = fact.origin == facts_pb2.FACT_ORIGIN_LOCAL
    return search_pb2.SearchResult(
        id=candidate.id,
        document_id=citation.document_id if citation is not None else "",
        title=citation.document_title if citation is not None else "",
        source=citation.source if citation is not None else "",
        content=(quote if local else fact.statement) or fact.statement or quote,
        score=candidate.score(),
        contributions=_contributions(candidate),
        facts=candidate.facts,
    )
