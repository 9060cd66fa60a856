"""Request bodies of searches, and their conversion to messages."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from google.protobuf.message import Message
from pydantic import AliasChoices, BeforeValidator, Field

from braid.agent.v1 import search_pb2 as agent
from braid.common.v1 import retrieval_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import chunks_pb2
from braid.vector.v1 import search_pb2 as vector
from gateway.rest.mapping.contract_rules import ContractModel
from gateway.rest.mapping.field_types import (
    MAX_VALUES,
    Instant,
    JsonBool,
    JsonInt32,
    JsonNumber,
    JsonObject,
    Text,
    at_most,
    stamp,
    to_struct,
)
from gateway.rest.mapping.times import Between, selector
from gateway.rest.search.expansion import ExpansionField, RerankField, rerank_mode
from services.runtime.metadata_limits import MAX_METADATA_DEPTH

_MATCHES = {
    None: chunks_pb2.TEXT_MATCH_UNSPECIFIED,
    "any": chunks_pb2.TEXT_MATCH_ANY,
    "phrase": chunks_pb2.TEXT_MATCH_PHRASE,
    "prefix": chunks_pb2.TEXT_MATCH_PREFIX,
}
_FUSIONS = {
    None: chunks_pb2.FUSION_UNSPECIFIED,
    "weighted_score": chunks_pb2.FUSION_WEIGHTED_SCORE,
    "reciprocal_rank": chunks_pb2.FUSION_RECIPROCAL_RANK,
}
PartName = Literal["results", "vector_results", "graph_results", "legs"]
PARTS: dict[PartName, agent.AnswerPart.ValueType] = {
    "results": agent.ANSWER_PART_RESULTS,
    "vector_results": agent.ANSWER_PART_VECTOR_RESULTS,
    "graph_results": agent.ANSWER_PART_GRAPH_RESULTS,
    "legs": agent.ANSWER_PART_LEGS,
}
# The contract's maximum.
MAX_DOCUMENT_IDS = 1000
MAX_PARTS = 10


def _or_alone(schema: dict[str, Any]) -> None:
    """Documents that one item is allowed in place of a list."""
    several = {name: schema.pop(name) for name in ("type", "items")}
    schema["anyOf"] = [several["items"], several]


def _listed(value: Any) -> Any:
    """Converts a single name to a list."""
    return [value] if isinstance(value, str) else value


class Filter(ContractModel):
    """Which chunks may be found."""

    contract: ClassVar[type[Message]] = chunks_pb2.ChunkFilter

    document_ids: Annotated[list[Text], at_most(MAX_DOCUMENT_IDS)] = Field(
        default=[], description="Only chunks of these documents, at most 1,000; all when empty."
    )
    metadata: JsonObject | None = Field(
        default=None,
        description="Only documents whose metadata contains all of this; at most "
        f"{MAX_VALUES:,} keys and values and {MAX_METADATA_DEPTH} levels of values within values.",
    )

    def message(self) -> chunks_pb2.ChunkFilter:
        """Converts the filter to the contract's message."""
        return chunks_pb2.ChunkFilter(
            document_ids=self.document_ids, metadata=to_struct(self.metadata)
        )


class Search(ContractModel):
    """What every search takes."""

    query: Text = Field(
        description="The question, 1–4,096 characters that are not all white space. No query syntax."
    )
    limit: JsonInt32 | None = Field(
        default=None, description="How many hits at most, 1–50. Default 10."
    )


class RememberedSearch(Search):
    """What every search takes whose answers are remembered."""

    use_cache: JsonBool | None = Field(
        default=None,
        description="Whether earlier answers and an earlier vector of the query may be used, while nothing has "
        "changed. Default true.",
    )

    def cache_mode(self) -> retrieval_pb2.CacheMode.ValueType:
        """Converts it to the contract's message."""
        if self.use_cache is None:
            return retrieval_pb2.CACHE_MODE_UNSPECIFIED
        return retrieval_pb2.CACHE_MODE_USE if self.use_cache else retrieval_pb2.CACHE_MODE_BYPASS


class ChunkSearch(RememberedSearch):
    """What every search for chunks takes."""

    filter: Filter | None = None
    as_of: Instant | None = Field(
        default=None, description="Answer with the documents of this instant. Default: now."
    )
    min_score: JsonNumber | None = Field(
        default=None,
        description="Leave out hits below this score, 0–1 (by meaning alone: cosine, −1 to 1). "
        "Default of the hybrid search: hits that are not relevant; 0 lists everything.",
    )


class VectorSearch(ChunkSearch):
    """A search by meaning."""

    contract: ClassVar[type[Message]] = vector.VectorSearchRequest

    def message(self) -> vector.VectorSearchRequest:
        """Converts the search to the contract's message."""
        return vector.VectorSearchRequest(
            query=self.query,
            limit=self.limit,
            filter=self.filter.message() if self.filter else None,
            as_of=stamp(self.as_of),
            min_score=self.min_score,
            cache=self.cache_mode(),
        )


class TextSearch(ChunkSearch):
    """A search by words."""

    contract: ClassVar[type[Message]] = vector.TextSearchRequest

    match: Literal["any", "phrase", "prefix"] | None = Field(
        default=None,
        description="How the words are looked for: any of them (the default), all next to each other in this order, "
        "or any with the last one as a word's beginning.",
    )

    def message(self) -> vector.TextSearchRequest:
        """Converts the search to the contract's message."""
        return vector.TextSearchRequest(
            query=self.query,
            limit=self.limit,
            filter=self.filter.message() if self.filter else None,
            as_of=stamp(self.as_of),
            min_score=self.min_score,
            cache=self.cache_mode(),
            match=_MATCHES[self.match],
        )


class HybridSearch(ChunkSearch):
    """A search by meaning and words."""

    contract: ClassVar[type[Message]] = vector.HybridSearchRequest

    text_weight: JsonNumber | None = Field(
        default=None, description="Share of the text score, 0–1. Default 0.15."
    )
    fusion: Literal["weighted_score", "reciprocal_rank"] | None = Field(
        default=None, description="How the two lists are fused. Default: weighted_score."
    )
    expansion: ExpansionField = None
    rerank: RerankField = None

    def message(self) -> vector.HybridSearchRequest:
        """Converts the search to the contract's message, without the later steps."""
        return vector.HybridSearchRequest(
            query=self.query,
            limit=self.limit,
            text_weight=self.text_weight,
            fusion=_FUSIONS[self.fusion],
            filter=self.filter.message() if self.filter else None,
            as_of=stamp(self.as_of),
            min_score=self.min_score,
            cache=self.cache_mode(),
        )

    def has_steps(self) -> bool:
        """Whether the search has later steps."""
        return self.expansion is not None or self.rerank is not None

    def expanded_message(self) -> agent.ExpandedHybridSearchRequest:
        """Converts the search with its later steps to the contract's message."""
        return agent.ExpandedHybridSearchRequest(
            search=self.message(),
            expansion=self.expansion.message() if self.expansion else None,
            rerank=rerank_mode(self.rerank),
        )


class GraphSearch(Search):
    """A search for facts."""

    contract: ClassVar[type[Message]] = query_pb2.SearchFactsRequest

    entity_name: Text = Field(
        default="", description="Only facts with this entity at either end: exact name, any case."
    )
    relation_type: Text = Field(
        default="",
        validation_alias=AliasChoices("relation_type", "relationship_type"),
        description="Only facts of this relation, letter case and accents ignored; `relationship_type` is the same.",
    )
    as_of: Instant | Between | None = Field(
        default=None, description="The instant or span that the answer is about. Default: now."
    )
    min_score: JsonNumber | None = Field(
        default=None,
        description="Leave out facts below this score, 0–1. Default: facts that are not relevant; 0 lists everything.",
    )

    def message(self) -> query_pb2.SearchFactsRequest:
        """Converts the search to the contract's message."""
        return query_pb2.SearchFactsRequest(
            query=self.query,
            limit=self.limit,
            entity_name=self.entity_name,
            relation_type=self.relation_type,
            time=selector(self.as_of),
            min_score=self.min_score,
        )


class ComprehensiveSearch(RememberedSearch):
    """A question for all tiers."""

    contract: ClassVar[type[Message]] = agent.ComprehensiveSearchRequest

    use_vector: JsonBool | None = Field(
        default=None, description="Search the chunks. Default true."
    )
    use_graph: JsonBool | None = Field(default=None, description="Search the graph. Default true.")
    use_memories: JsonBool = Field(
        default=False,
        description="List the calling user's memories among the results as well, by their score.",
    )
    text_weight: JsonNumber | None = Field(
        default=None,
        description="Share of the text score within the chunks' leg, 0–1. Default 0.15.",
    )
    as_of: Instant | None = Field(
        default=None, description="The instant that the answer is about. Default: now."
    )
    filter: Filter | None = None
    include: Annotated[list[PartName], at_most(MAX_PARTS), BeforeValidator(_listed)] = Field(
        default=[],
        description="The parts that the answer holds, such as `results` (the fused list) alone; the other lists are "
        "left out of it. `legs`, `total_results` and `embedding` are in every answer. Of a "
        "stream it is about the event `final`. Default: all.",
        json_schema_extra=_or_alone,
    )
    expansion: ExpansionField = None
    rerank: RerankField = None

    def message(self) -> agent.ComprehensiveSearchRequest:
        """Converts the search to the contract's message."""
        return agent.ComprehensiveSearchRequest(
            query=self.query,
            limit=self.limit,
            use_vector=self.use_vector,
            use_graph=self.use_graph,
            use_memories=self.use_memories,
            text_weight=self.text_weight,
            as_of=stamp(self.as_of),
            filter=self.filter.message() if self.filter else None,
            cache=self.cache_mode(),
            include=[PARTS[name] for name in self.include],
            expansion=self.expansion.message() if self.expansion else None,
            rerank=rerank_mode(self.rerank),
        )
