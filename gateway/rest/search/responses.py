"""Responses of searches that are not one message: the parts that were asked for, and a search without its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field

from braid.agent.v1 import search_pb2
from braid.common.v1 import expansion_pb2, legs_pb2
from braid.graph.v1 import facts_pb2
from braid.vector.v1 import chunks_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from gateway.rest.mapping.json_encoding import Json
from gateway.rest.mapping.message_json import to_json
from gateway.rest.mapping.message_schema import Shape
from gateway.rest.mapping.openapi import ErrorEvent, ResponseSchema

if TYPE_CHECKING:
    from collections.abc import Collection

Hit: TypeAlias = Annotated[Json, Shape(chunks_pb2.ChunkHit)]
FoundFact: TypeAlias = Annotated[Json, Shape(facts_pb2.FactHit)]
FusedHit: TypeAlias = Annotated[Json, Shape(search_pb2.SearchResult)]
Expanded: TypeAlias = Annotated[Json, Shape(expansion_pb2.ExpansionReport)]
Reranked: TypeAlias = Annotated[Json, Shape(search_pb2.RerankReport)]
# A list that is present unless the request selects other parts. Only for documentation, never instantiated.
_LEFT_OUT: Any = Field(default_factory=list)
# Not relevant; for a person who wants to look at them nevertheless.
_NEAREST: Any = Field(description="Without a match: the nearest passages, at most three.")


class Comprehensive(ResponseSchema):
    """What all tiers found; lists that the request does not include are left out."""

    vector_results: list[Hit] = _LEFT_OUT
    graph_results: list[FoundFact] = _LEFT_OUT
    results: list[FusedHit] = _LEFT_OUT
    legs: list[Annotated[Json, Shape(legs_pb2.LegReport)]]
    total_results: int
    embedding: Literal["given", "computed", "memory", "stored"] | None
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


def hybrid(answer: vector_pb2.HybridSearchResponse) -> Json:
    """Returns the answer of a hybrid search without later steps in the form of one with steps."""
    shown = to_json(answer) | {"expansion": None, "reranking": None}
    for hit in shown["results"]:
        hit |= {"contributions": {}, "expansion": None}
    return shown
