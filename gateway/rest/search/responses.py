"""Response schemas of searches, and the serialization of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field

from braid.common.v1 import legs_pb2, retrieval_pb2
from braid.graph.v1 import facts_pb2, query_pb2
from braid.vector.v1 import chunks_pb2
from gateway.rest.graph.fact_responses import Fact, fact
from gateway.rest.mapping.json_encoding import Json, enum_names, struct
from gateway.rest.mapping.openapi import ErrorEvent, ResponseSchema
from gateway.rest.search.expansion import Expanded, Reranked, Trace, steps_after, trace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from google.protobuf.struct_pb2 import Struct

    from braid.agent.v1 import search_pb2


class ChunkScores(ResponseSchema):
    """How a hit came by its score; null for parts that did not run."""

    vector: float | None
    text: float | None
    vector_fused: float | None
    text_fused: float | None
    vector_rank: int | None
    text_rank: int | None
    reading: float | None


class Hit(ResponseSchema):
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


class FactScores(ResponseSchema):
    """How a fact came by its score; null for parts that did not run."""

    vector: float | None
    vector_rank: int | None
    text_rank: int | None
    words: float | None
    support: float | None
    reading: float | None


class FoundFact(Fact):
    """A fact with its score."""

    scores: FactScores


class Leg(ResponseSchema):
    """How one leg of a search ended."""

    name: str
    status: Literal[
        "OK", "NO_MATCH", "DEGRADED", "TIMED_OUT", "UNAVAILABLE", "DISABLED", "UNSPECIFIED"
    ]
    reason: str | None
    took_ms: float
    cached: bool


# A list that is present unless the request selects other parts. Only for documentation, never instantiated.
_LEFT_OUT: Any = Field(default_factory=list)

EmbeddingSource = Literal["given", "computed", "memory", "stored"]


class ChunkResults(ResponseSchema):
    """What a search for chunks found, and how; null where no vector was used. `revision` is the space's."""

    results: list[Hit]
    legs: list[Leg]
    total_results: int
    embedding: EmbeddingSource | None
    vector_path: Literal["exact", "hnsw"] | None
    revision: int


class LegPart(ResponseSchema):
    """A leg's part in a fused result: what it added is `share`. `rank` is null for a chunk that it did not bring.

    `rerank`, `reading` and `expansion` are the parts of these steps: `score` is their own value.
    """

    rank: int | None
    score: float
    share: float


# Not relevant; for a person who wants to look at them nevertheless.
_NEAREST: Any = Field(description="Without a match: the nearest passages, at most three.")


class HybridHit(Hit):
    """A found chunk; where the list was expanded, with each step's part in its score, and how it was reached."""

    contributions: dict[str, LegPart]
    expansion: Trace | None


class HybridResults(ResponseSchema):
    """What a search by meaning and words found, and what followed it; null for steps that were not asked for."""

    results: list[HybridHit]
    legs: list[Leg]
    total_results: int
    embedding: EmbeddingSource | None
    vector_path: Literal["exact", "hnsw"] | None
    revision: int
    nearest: list[Hit] = _NEAREST
    expansion: Expanded | None
    reranking: Reranked | None


class FactResults(ResponseSchema):
    """What a search for facts found, and how; null where no vector was used. `revision` is the space's."""

    results: list[FoundFact]
    legs: list[Leg]
    total_results: int
    vector_path: Literal["exact", "index"] | None
    revision: int


class FusedHit(ResponseSchema):
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
    expansion: Trace | None
    memory_type: str | None = Field(
        description="Of a memory, such as DECISION; null for documents."
    )


class Comprehensive(ResponseSchema):
    """What all tiers found; lists that the request does not include are left out."""

    vector_results: list[Hit] = _LEFT_OUT
    graph_results: list[FoundFact] = _LEFT_OUT
    results: list[FusedHit] = _LEFT_OUT
    legs: list[Leg]
    total_results: int
    embedding: EmbeddingSource | None
    nearest: list[FusedHit] = _NEAREST
    expansion: Expanded | None
    reranking: Reranked | None


class LegFound(ResponseSchema):
    """What one leg of a streamed search found."""

    leg: Leg
    vector_results: list[Hit]
    graph_results: list[FoundFact]


class LegEvent(ResponseSchema):
    """A leg has ended."""

    event: Literal["leg"]
    data: LegFound


class FinalEvent(ResponseSchema):
    """The whole answer, last in the stream."""

    event: Literal["final"]
    data: Comprehensive


SearchEvent: TypeAlias = Annotated[LegEvent | FinalEvent | ErrorEvent, Field(discriminator="event")]


_STATUS: dict[int, str] = {v: k.removeprefix("LEG_STATUS_") for k, v in legs_pb2.LegStatus.items()}
_REASON: dict[int, str] = {v: k.removeprefix("LEG_REASON_") for k, v in legs_pb2.LegReason.items()}
_SOURCE = enum_names(retrieval_pb2.EmbeddingSource, "EMBEDDING_SOURCE_")
_LEG = {v: k.removeprefix("LEG_").lower() for k, v in legs_pb2.Leg.items()}
# The index of chunks is called by its kind.
_CHUNK_PATH = {retrieval_pb2.VECTOR_PATH_EXACT: "exact", retrieval_pb2.VECTOR_PATH_INDEX: "hnsw"}
_FACT_PATH = enum_names(retrieval_pb2.VectorPath, "VECTOR_PATH_")
_CHUNK_SCORES = (
    "vector",
    "text",
    "vector_fused",
    "text_fused",
    "vector_rank",
    "text_rank",
    "reading",
)
_FACT_SCORES = ("vector", "vector_rank", "text_rank", "words", "support", "reading")


def scores(parts: Any, names: tuple[str, ...]) -> Json:
    """Returns score parts by name; null for parts that were not computed."""
    return {name: getattr(parts, name) if parts.HasField(name) else None for name in names}


def chunk_hit(hit: chunks_pb2.ChunkHit) -> Json:
    """A found chunk."""
    chunk = hit.chunk
    return {
        "id": chunk.id,
        "document_id": chunk.document_id,
        "title": chunk.document_title,
        "source": chunk.source,
        "content": chunk.content,
        "start_char": chunk.start_char,
        "end_char": chunk.end_char,
        "page": chunk.page or None,
        "score": hit.score,
        "scores": scores(hit.scores, _CHUNK_SCORES),
        "metadata": struct(chunk.metadata),
    }


def fact_hit(hit: facts_pb2.FactHit) -> Json:
    """A found fact."""
    return fact(hit.fact) | {"score": hit.score, "scores": scores(hit.scores, _FACT_SCORES)}


def leg(report: legs_pb2.LegReport) -> Json:
    """How one leg ended."""
    took = report.elapsed.seconds * 1000 + report.elapsed.nanos / 1e6
    return leg_fields(_LEG[report.leg], report.status, report.reason, took, cached=report.cached)


def leg_fields(name: str, status: int, reason: int, took_ms: float, *, cached: bool) -> Json:
    """Returns how one leg ended, from its parts; `reason` is null if there is none."""
    return {
        "name": name,
        "status": _STATUS.get(status, "UNSPECIFIED"),
        "reason": _REASON.get(reason, "UNSPECIFIED") if reason else None,
        "took_ms": round(took_ms, 2),
        "cached": cached,
    }


def embedding(source: int) -> str | None:
    """Returns where a query's vector came from; null if none was used."""
    return _SOURCE.get(source)


def chunks_searched(answer: Any) -> Json:
    """Returns how chunks were searched; null if no vector was used. A search by words uses no vector."""
    return {
        "embedding": embedding(
            getattr(answer, "embedding_source", retrieval_pb2.EMBEDDING_SOURCE_UNSPECIFIED)
        ),
        "vector_path": _CHUNK_PATH.get(
            getattr(answer, "vector_path", retrieval_pb2.VECTOR_PATH_UNSPECIFIED)
        ),
        "revision": answer.space_revision,
    }


def facts_searched(answer: query_pb2.SearchFactsResponse) -> Json:
    """Returns how facts were searched; null if no vector was used."""
    return {"vector_path": _FACT_PATH.get(answer.vector_path), "revision": answer.space_revision}


def comprehensive(
    answer: search_pb2.ComprehensiveSearchResponse, include: Collection[str] = ()
) -> Json:
    """Returns the results of all tiers, with the included lists, or all lists if `include` is empty."""
    lists: dict[str, Callable[[], list[Json]]] = {
        "vector_results": lambda: [chunk_hit(hit) for hit in answer.vector_results],
        "graph_results": lambda: [fact_hit(hit) for hit in answer.graph_results],
        "results": lambda: _fused_list(answer),
    }
    return {name: shown() for name, shown in lists.items() if not include or name in include} | {
        "legs": [leg(report) for report in answer.legs],
        "total_results": answer.result_count,
        "embedding": embedding(answer.embedding_source),
        "nearest": [fused(one, one.metadata) for one in answer.nearest],
        **steps_after(answer),
    }


def _fused_list(answer: search_pb2.ComprehensiveSearchResponse) -> list[Json]:
    metadata = {hit.chunk.id: hit.chunk.metadata for hit in answer.vector_results}
    return [fused(result, metadata.get(result.id, result.metadata)) for result in answer.results]


def fused(result: search_pb2.SearchResult, metadata: Struct) -> Json:
    """One entry of the fused list; `scores` holds each leg's part in it."""
    return {
        "id": result.id,
        "document_id": result.document_id,
        "title": result.title,
        "source": result.source,
        "content": result.content,
        "score": result.score,
        "scores": contributions(result.contributions),
        "metadata": struct(metadata),
        "facts": [fact(item) for item in result.facts],
        "expansion": trace(result.expansion) if result.HasField("expansion") else None,
        "memory_type": result.memory_type or None,
    }


def contributions(parts: Iterable[search_pb2.Contribution]) -> Json:
    """Each leg's and step's part in a score, by name."""
    return {
        _LEG[part.leg]: {"rank": part.rank or None, "score": part.score, "share": part.share}
        for part in parts
    }


def hybrid_hit(hit: chunks_pb2.ChunkHit) -> Json:
    """Returns a hit of a hybrid search without later steps."""
    return chunk_hit(hit) | {"contributions": {}, "expansion": None}


def expanded_hybrid(answer: search_pb2.ExpandedHybridSearchResponse) -> Json:
    """Returns the results of a hybrid search and its later steps."""
    return {
        "results": [
            chunk_hit(one.hit)
            | {
                "contributions": contributions(one.contributions),
                "expansion": trace(one.expansion) if one.HasField("expansion") else None,
            }
            for one in answer.hits
        ],
        "legs": [leg(answer.leg)],
        "total_results": len(answer.hits),
        "nearest": [chunk_hit(hit) for hit in answer.nearest],
        **chunks_searched(answer),
        **steps_after(answer),
    }


def hybrid_searched(answer: Any) -> Json:
    """Returns how a hybrid search without later steps was executed."""
    nearest = [chunk_hit(hit) for hit in answer.nearest]
    return chunks_searched(answer) | {"expansion": None, "reranking": None, "nearest": nearest}


def leg_results(results: search_pb2.LegResults) -> Json:
    """One leg of a streamed search."""
    return {
        "leg": leg(results.report),
        "vector_results": [chunk_hit(hit) for hit in results.vector_results],
        "graph_results": [fact_hit(hit) for hit in results.graph_results],
    }
