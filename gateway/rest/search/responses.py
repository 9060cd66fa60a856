"""Responses of searches that are not one message: those of a single leg, and of the parts that were asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field

from braid.agent.v1 import search_pb2
from braid.common.v1 import expansion_pb2, retrieval_pb2
from braid.graph.v1 import facts_pb2, query_pb2
from braid.vector.v1 import chunks_pb2
from gateway.rest.mapping.json_encoding import Json, enum_names
from gateway.rest.mapping.message_json import to_json
from gateway.rest.mapping.message_schema import Shape
from gateway.rest.mapping.openapi import ErrorEvent, ResponseSchema
from gateway.rest.search.legs import LegShape

if TYPE_CHECKING:
    from collections.abc import Collection

EmbeddingSource = Literal["given", "computed", "memory", "stored"]
Hit: TypeAlias = Annotated[Json, Shape(chunks_pb2.ChunkHit)]
FoundFact: TypeAlias = Annotated[Json, Shape(facts_pb2.FactHit)]
FusedHit: TypeAlias = Annotated[Json, Shape(search_pb2.SearchResult)]
Expanded: TypeAlias = Annotated[Json, Shape(expansion_pb2.ExpansionReport)]
Reranked: TypeAlias = Annotated[Json, Shape(search_pb2.RerankReport)]
# A list that is present unless the request selects other parts. Only for documentation, never instantiated.
_LEFT_OUT: Any = Field(default_factory=list)
# Not relevant; for a person who wants to look at them nevertheless.
_NEAREST: Any = Field(description="Without a match: the nearest passages, at most three.")


class ChunkResults(ResponseSchema):
    """What a search for chunks found, and how; null where no vector was used. `revision` is the space's."""

    results: list[Hit]
    legs: list[LegShape]
    total_results: int
    embedding: EmbeddingSource | None
    vector_path: Literal["exact", "hnsw"] | None
    revision: int


class HybridResults(ResponseSchema):
    """What a search by meaning and words found, and what followed it; null for steps that were not asked for."""

    results: list[Annotated[Json, Shape(search_pb2.ExpandedHit)]]
    legs: list[LegShape]
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
    legs: list[LegShape]
    total_results: int
    vector_path: Literal["exact", "index"] | None
    revision: int


class Comprehensive(ResponseSchema):
    """What all tiers found; lists that the request does not include are left out."""

    vector_results: list[Hit] = _LEFT_OUT
    graph_results: list[FoundFact] = _LEFT_OUT
    results: list[FusedHit] = _LEFT_OUT
    legs: list[LegShape]
    total_results: int
    embedding: EmbeddingSource | None
    nearest: list[FusedHit] = _NEAREST
    expansion: Expanded | None
    reranking: Reranked | None


class LegEvent(ResponseSchema):
    """A leg has ended."""

    event: Literal["leg"]
    data: Annotated[Json, Shape(search_pb2.LegResults)]


class FinalEvent(ResponseSchema):
    """The whole answer, last in the stream."""

    event: Literal["final"]
    data: Comprehensive


SearchEvent: TypeAlias = Annotated[LegEvent | FinalEvent | ErrorEvent, Field(discriminator="event")]

_LISTS = ("vector_results", "graph_results", "results")
_SOURCE = enum_names(retrieval_pb2.EmbeddingSource, "EMBEDDING_SOURCE_")
# The index of chunks is called by its kind.
_CHUNK_PATH = {retrieval_pb2.VECTOR_PATH_EXACT: "exact", retrieval_pb2.VECTOR_PATH_INDEX: "hnsw"}
_FACT_PATH = enum_names(retrieval_pb2.VectorPath, "VECTOR_PATH_")


def comprehensive(
    answer: search_pb2.ComprehensiveSearchResponse, include: Collection[str] = ()
) -> Json:
    """Returns the results of all tiers, with the included lists, or all lists if `include` is empty."""
    shown = to_json(answer)
    # The contract sends a document's metadata once.
    metadata = {hit["id"]: hit["metadata"] for hit in shown["vector_results"]}
    for result in shown["results"]:
        result["metadata"] = metadata.get(result["id"], result["metadata"])
    for name in _LISTS:
        if include and name not in include:
            del shown[name]
    return shown


def chunks_searched(answer: Any) -> Json:
    """Returns how chunks were searched; null if no vector was used. A search by words uses no vector."""
    source = getattr(
        answer, "embedding_source", retrieval_pb2.EmbeddingSource.EMBEDDING_SOURCE_UNSPECIFIED
    )
    path = getattr(answer, "vector_path", retrieval_pb2.VectorPath.VECTOR_PATH_UNSPECIFIED)
    return {
        "embedding": _SOURCE.get(source),
        "vector_path": _CHUNK_PATH.get(path),
        "revision": answer.space_revision,
    }


def facts_searched(answer: query_pb2.SearchFactsResponse) -> Json:
    """Returns how facts were searched; null if no vector was used."""
    return {"vector_path": _FACT_PATH.get(answer.vector_path), "revision": answer.space_revision}


def hybrid_hit(hit: chunks_pb2.ChunkHit) -> Json:
    """Returns a hit of a hybrid search without later steps."""
    return to_json(hit) | {"contributions": {}, "expansion": None}


def hybrid_searched(answer: Any) -> Json:
    """Returns how a hybrid search without later steps was executed."""
    nearest = [to_json(hit) for hit in answer.nearest]
    return chunks_searched(answer) | {"expansion": None, "reranking": None, "nearest": nearest}


def expanded_hybrid(answer: search_pb2.ExpandedHybridSearchResponse) -> Json:
    """Returns the results of a hybrid search and its later steps."""
    return {
        "results": [to_json(hit) for hit in answer.hits],
        "legs": [to_json(answer.leg)],
        "total_results": len(answer.hits),
        "nearest": [to_json(hit) for hit in answer.nearest],
        "expansion": to_json(answer.expansion) if answer.HasField("expansion") else None,
        "reranking": to_json(answer.reranking) if answer.HasField("reranking") else None,
        **chunks_searched(answer),
    }
