"""Chunks and facts as one ranked list, by weighted reciprocal rank. Pure: no I/O, no clock.

Ranks, not scores, because the two legs' scores share no scale: a chunk's is a weighted sum of normalised
parts, a fact's comes from its tier's own fusion. A leg's part in a result is

    share = weight * (K + 1) / (K + rank)

so that first place at full weight is worth 1. The weights say what a leg's word is worth:

- A chunk counts 1.
- A stated fact (given, or extracted by a language model) counts `STATED`, a shade below 1: the n-th fact comes right
  after the n-th chunk, and a chunk that also states a found fact comes before both.
- A local fact (two names in one sentence) counts `LOCAL`: it repeats words that full text has scored already. It can
  settle what is nearly equal (it never takes the first place from a chunk, and lifts one by at most one place within
  the best 20 and two within 50), and a passage that only a local fact brought in comes after every chunk.

One result per chunk: a fact found together with chunks that it cites is one result with each of them. A fact whose
chunks were not found makes one result, for the first chunk it cites (a fact with many sources would flood the list
otherwise), or for itself when it cites none. Several facts of one chunk count once, by the strongest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from braid.agent.v1 import search_pb2
from braid.graph.v1 import facts_pb2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from braid.common.v1 import retrieval_pb2
    from braid.vector.v1 import chunks_pb2

VECTOR_LEG = "vector"
GRAPH_LEG = "graph"
K = 60
CHUNK = 1.0
STATED = 0.99
LOCAL = 0.015


class Part(NamedTuple):
    """A leg's part in a result; messages are made of it at the end, for the results that are told."""

    leg: str
    rank: int
    score: float
    share: float


@dataclass(slots=True)
class _Candidate:
    """What is known of one result while the legs are put together."""

    id: str
    chunk: chunks_pb2.Chunk | None = None
    citation: retrieval_pb2.Citation | None = None
    from_vector: Part | None = None
    from_graph: Part | None = None
    facts: list[facts_pb2.Fact] = field(default_factory=list)

    def add_fact(self, fact: facts_pb2.Fact, part: Part) -> None:
        self.facts.append(fact)
        if self.from_graph is None or part.share > self.from_graph.share:
            self.from_graph = part

    def key(self) -> tuple[float, str]:
        """Sorts the best first, equal ones by id."""
        return -self.score(), self.id

    def score(self) -> float:
        vector, graph = self.from_vector, self.from_graph
        return (vector.share if vector else 0.0) + (graph.share if graph else 0.0)


def fuse(
    chunks: Sequence[chunks_pb2.ChunkHit], facts: Sequence[facts_pb2.FactHit], limit: int
) -> list[search_pb2.SearchResult]:
    """The best `limit` results of both lists (each best first), by score descending, then id."""
    found = _chunk_candidates(chunks)
    for rank, hit in enumerate(facts, start=1):
        fact = hit.fact
        part = _part(GRAPH_LEG, rank, hit.score, _weight(fact))
        for candidate in _stating(fact, found):
            candidate.add_fact(fact, part)
    ranked = sorted(found.values(), key=_Candidate.key)
    return [_result(candidate) for candidate in ranked[:limit]]


def _chunk_candidates(hits: Sequence[chunks_pb2.ChunkHit]) -> dict[str, _Candidate]:
    found: dict[str, _Candidate] = {}
    for rank, hit in enumerate(hits, start=1):
        chunk = hit.chunk
        if chunk.id not in found:
            part = _part(VECTOR_LEG, rank, hit.score, CHUNK)
            found[chunk.id] = _Candidate(chunk.id, chunk=chunk, from_vector=part)
    return found


def _stating(fact: facts_pb2.Fact, found: dict[str, _Candidate]) -> list[_Candidate]:
    """The results that a fact belongs to: found ones that it cites, else one made for it."""
    cited = {citation.chunk_id: citation for citation in reversed(fact.sources)}
    known = [found[chunk_id] for chunk_id in cited if chunk_id in found]
    if known:
        return known
    sources = fact.sources
    citation = next((c for c in sources if c.chunk_id), sources[0] if sources else None)
    key = (citation.chunk_id if citation is not None else "") or fact.uuid
    made = found[key] = _Candidate(key, citation=citation)
    return [made]


def _weight(fact: facts_pb2.Fact) -> float:
    return LOCAL if fact.origin == facts_pb2.FACT_ORIGIN_LOCAL else STATED


def _part(leg: str, rank: int, score: float, weight: float) -> Part:
    return Part(leg, rank, score, weight * (K + 1) / (K + rank))


def _result(candidate: _Candidate) -> search_pb2.SearchResult:
    parts = (candidate.from_vector, candidate.from_graph)
    contributions = [search_pb2.Contribution(**p._asdict()) for p in parts if p is not None]
    chunk = candidate.chunk
    if chunk is None:
        return _from_fact(candidate, contributions)
    return search_pb2.SearchResult(
        id=candidate.id,
        document_id=chunk.document_id,
        title=chunk.document_title,
        source=chunk.source,
        content=chunk.content,
        score=candidate.score(),
        contributions=contributions,
        facts=candidate.facts,
    )


def _from_fact(
    candidate: _Candidate, contributions: list[search_pb2.Contribution]
) -> search_pb2.SearchResult:
    fact, citation = candidate.facts[0], candidate.citation
    quote = citation.quote if citation is not None else ""
    local = fact.origin == facts_pb2.FACT_ORIGIN_LOCAL
    return search_pb2.SearchResult(
        id=candidate.id,
        document_id=citation.document_id if citation is not None else "",
        title=citation.document_title if citation is not None else "",
        source=citation.source if citation is not None else "",
        content=(quote if local else fact.fact) or fact.fact or quote,
        score=candidate.score(),
        contributions=contributions,
        facts=candidate.facts,
    )
