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
from typing import TYPE_CHECKING

from braid.agent.v1 import search_pb2
from braid.graph.v1 import facts_pb2

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from braid.common.v1 import retrieval_pb2
    from braid.vector.v1 import chunks_pb2

VECTOR_LEG = "vector"
GRAPH_LEG = "graph"
K = 60
CHUNK = 1.0
STATED = 0.99
LOCAL = 0.015


@dataclass(slots=True)
class _Candidate:
    """What is known of one result while the legs are put together."""

    id: str
    chunk: chunks_pb2.Chunk | None = None
    citation: retrieval_pb2.Citation | None = None
    from_vector: search_pb2.Contribution | None = None
    from_graph: search_pb2.Contribution | None = None
    facts: list[facts_pb2.Fact] = field(default_factory=list)

    @property
    def score(self) -> float:
        return sum(part.share for part in self.contributions)

    @property
    def contributions(self) -> list[search_pb2.Contribution]:
        return [part for part in (self.from_vector, self.from_graph) if part is not None]

    def add_fact(self, fact: facts_pb2.Fact, part: search_pb2.Contribution) -> None:
        self.facts.append(fact)
        if self.from_graph is None or part.share > self.from_graph.share:
            self.from_graph = part


def fuse(
    chunks: Sequence[chunks_pb2.ChunkHit], facts: Sequence[facts_pb2.FactHit], limit: int
) -> list[search_pb2.SearchResult]:
    """The best `limit` results of both lists (each best first), by score descending, then id."""
    found = _chunk_candidates(chunks)
    for rank, hit in enumerate(facts, start=1):
        part = _contribution(GRAPH_LEG, rank, hit.score, _weight(hit.fact))
        for candidate in _stating(hit.fact, found):
            candidate.add_fact(hit.fact, part)
    ranked = sorted(found.values(), key=lambda candidate: (-candidate.score, candidate.id))
    return [_result(candidate) for candidate in ranked[:limit]]


def _chunk_candidates(hits: Sequence[chunks_pb2.ChunkHit]) -> dict[str, _Candidate]:
    found: dict[str, _Candidate] = {}
    for rank, hit in enumerate(hits, start=1):
        if hit.chunk.id not in found:
            part = _contribution(VECTOR_LEG, rank, hit.score, CHUNK)
            found[hit.chunk.id] = _Candidate(hit.chunk.id, chunk=hit.chunk, from_vector=part)
    return found


def _stating(fact: facts_pb2.Fact, found: dict[str, _Candidate]) -> Iterable[_Candidate]:
    """The results that a fact belongs to: found ones that it cites, else one made for it."""
    cited = {citation.chunk_id for citation in fact.sources if citation.chunk_id}
    known = [found[chunk_id] for chunk_id in sorted(cited) if chunk_id in found]
    if known:
        return known
    citation = next((c for c in fact.sources if c.chunk_id), next(iter(fact.sources), None))
    key = (citation.chunk_id if citation is not None else "") or fact.uuid
    made = found[key] = _Candidate(key, citation=citation)
    return [made]


def _weight(fact: facts_pb2.Fact) -> float:
    return LOCAL if fact.origin == facts_pb2.FACT_ORIGIN_LOCAL else STATED


def _contribution(leg: str, rank: int, score: float, weight: float) -> search_pb2.Contribution:
    share = weight * (K + 1) / (K + rank)
    return search_pb2.Contribution(leg=leg, rank=rank, score=score, share=share)


def _result(candidate: _Candidate) -> search_pb2.SearchResult:
    result = search_pb2.SearchResult(
        id=candidate.id,
        score=candidate.score,
        contributions=candidate.contributions,
        facts=candidate.facts,
    )
    if candidate.chunk is not None:
        _describe_chunk(result, candidate.chunk)
    else:
        _describe_fact(result, candidate.facts[0], candidate.citation)
    return result


def _describe_chunk(result: search_pb2.SearchResult, chunk: chunks_pb2.Chunk) -> None:
    result.document_id = chunk.document_id
    result.title = chunk.document_title
    result.source = chunk.source
    result.content = chunk.content


def _describe_fact(
    result: search_pb2.SearchResult,
    fact: facts_pb2.Fact,
    citation: retrieval_pb2.Citation | None,
) -> None:
    quote = ""
    if citation is not None:
        result.document_id = citation.document_id
        result.title = citation.document_title
        result.source = citation.source
        quote = citation.quote
    local = fact.origin == facts_pb2.FACT_ORIGIN_LOCAL
    result.content = (quote if local else fact.fact) or fact.fact or quote
