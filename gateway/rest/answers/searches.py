"""What searches found, and how."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from gateway.rest.answers.graph import Fact
from gateway.rest.answers.shape import Shape


class ChunkScores(Shape):
    """How a hit came by its score; null for parts that did not run."""

    vector: float | None
    text: float | None
    vector_fused: float | None
    text_fused: float | None
    vector_rank: int | None
    text_rank: int | None


class Hit(Shape):
    """A found chunk: where it stands in its document's text, and on which page if that has any."""

    id: str
    document_id: str
    title: str
    source: str
    content: str
    start_char: int
    end_char: int
    page: int | None
    score: float
    scores: ChunkScores
    metadata: dict[str, Any]


class FactScores(Shape):
    """How a fact came by its score; null for parts that did not run."""

    vector: float | None
    text: float | None
    vector_rank: int | None
    text_rank: int | None
    words: float | None
    support: float | None


class FoundFact(Fact):
    """A fact with its score."""

    scores: FactScores


class Leg(Shape):
    """How one leg of a search ended."""

    name: str
    status: Literal[
        "OK", "NO_MATCH", "DEGRADED", "TIMED_OUT", "UNAVAILABLE", "DISABLED", "UNSPECIFIED"
    ]
    reason: str | None
    took_ms: float
    cached: bool


# A list that is there unless the request asks for other parts. Documented only: nothing is ever made of it.
_LEFT_OUT: Any = Field(default_factory=list)

EmbeddingSource = Literal["given", "computed", "memory", "stored"]


class ChunkResults(Shape):
    """What a search for chunks found, and how; null where no vector was used. `revision` is the space's."""

    results: list[Hit]
    legs: list[Leg]
    total_results: int
    embedding: EmbeddingSource | None
    vector_path: Literal["exact", "hnsw"] | None
    revision: int


class FactResults(Shape):
    """What a search for facts found, and how; null where no vector was used. `revision` is the space's."""

    results: list[FoundFact]
    legs: list[Leg]
    total_results: int
    vector_path: Literal["exact", "index"] | None
    revision: int


class LegPart(Shape):
    """A leg's part in a fused result: what it added is `share`. `rank` is null for a chunk that only facts brought."""

    rank: int | None
    score: float
    share: float


class FusedHit(Shape):
    """An entry of the fused list: a chunk with the facts that it states, or a fact without a chunk."""

    id: str
    document_id: str
    title: str
    source: str
    content: str
    score: float
    scores: dict[str, LegPart]
    metadata: dict[str, Any]
    facts: list[Fact]


class Comprehensive(Shape):
    """What all tiers found; lists that the request does not include are left out."""

    vector_results: list[Hit] = _LEFT_OUT
    graph_results: list[FoundFact] = _LEFT_OUT
    results: list[FusedHit] = _LEFT_OUT
    legs: list[Leg]
    total_results: int
    embedding: EmbeddingSource | None


class LegFound(Shape):
    """What one leg of a streamed search found."""

    leg: Leg
    vector_results: list[Hit]
    graph_results: list[FoundFact]
