"""Request bodies of typed memories, and their conversion to messages."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field
from pydantic.config import JsonDict

from braid.agent.v1 import memories_pb2
from braid.common.v1 import expansion_pb2, reranking_pb2, retrieval_pb2
from gateway.rest.mapping.contract_rules import Contract, ContractModel
from gateway.rest.mapping.field_types import (
    Instant,
    JsonBool,
    JsonInt32,
    JsonNumber,
    Text,
    at_most,
    stamp,
)
from gateway.rest.mapping.message_requests import MessageBody, body_model

# The contract's maximum.
MAX_TAGS = 32
MAX_TYPES = 32
MAX_RELATION_TYPES = 32

_MODES = {
    "hybrid": memories_pb2.MEMORY_SEARCH_MODE_HYBRID,
    "vector": memories_pb2.MEMORY_SEARCH_MODE_VECTOR,
    "text": memories_pb2.MEMORY_SEARCH_MODE_TEXT,
}
_FACTORS = {
    None: expansion_pb2.EXPANSION_FACTOR_UNSPECIFIED,
    "fixed": expansion_pb2.EXPANSION_FACTOR_FIXED,
    "adaptive": expansion_pb2.EXPANSION_FACTOR_ADAPTIVE,
}
_SEARCH_EXAMPLE: JsonDict = {"query": "checkout timeouts", "limit": 5}


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


RelationName = Literal[
    "FIXES",
    "SUPPORTS",
    "FOLLOWS",
    "RELATED",
    "SIMILAR_TO",
    "PART_OF",
    "CAUSES",
    "CONTRADICTS",
]
AnyCaseRelation = Annotated[RelationName, BeforeValidator(_upper)]
SearchMode = Literal["hybrid", "vector", "text"]


class _Inferred(MessageBody):
    infer: JsonBool = Field(default=True, description="Infer relations for it now.")

    def message(self) -> Any:
        """Returns the message."""
        message = super().message()
        message.skip_inference = not self.infer
        return message


NewMemory: Any = body_model(memories_pb2.CreateMemoryRequest.DESCRIPTOR, base=_Inferred)


class MemoryExpansion(ContractModel):
    """How the answer is expanded along relations, with `use_graph_expansion=true`."""

    contract: ClassVar[Contract] = expansion_pb2.ExpansionOptions

    max_hops: JsonInt32 | None = Field(
        default=None,
        validation_alias=AliasChoices("max_hops", "hops"),
        description="How many relations away at most, 1–3. Default 1. `hops` is the same.",
    )
    relation_types: Annotated[list[AnyCaseRelation], at_most(MAX_RELATION_TYPES)] = Field(
        default=[], description="Only along relations of these types. Default: all."
    )
    factor_mode: Literal["fixed", "adaptive"] | None = Field(
        default=None, description="Adaptive: weak hits expand more. Default: fixed."
    )
    factor: JsonNumber | None = Field(
        default=None, description="The share of its score that a hit passes on, 0–1. Default 0.6."
    )
    min_strength: JsonNumber | None = Field(
        default=None, description="Only along relations of at least this strength. Default 0."
    )
    max_degree: JsonInt32 | None = Field(
        default=None, description="How many relations of a memory are followed. Default 20."
    )
    traversal_at: Instant | None = Field(
        default=None,
        validation_alias=AliasChoices("traversal_at", "traversal_time"),
        description="Only along relations that hold then. Default: now. `traversal_time` is the same.",
    )

    def message(self) -> expansion_pb2.ExpansionOptions:
        """Converts it to the contract's message."""
        return expansion_pb2.ExpansionOptions(
            mode=expansion_pb2.EXPANSION_MODE_FORMULA,
            max_hops=self.max_hops,
            relation_types=self.relation_types,
            factor_mode=_FACTORS[self.factor_mode],
            factor=self.factor,
            min_strength=self.min_strength,
            max_degree=self.max_degree,
            traversal_time=stamp(self.traversal_at),
        )


class MemorySearch(ContractModel):
    """A search for memories."""

    contract: ClassVar[Contract] = memories_pb2.SearchMemoriesRequest
    model_config = ConfigDict(json_schema_extra={"examples": [_SEARCH_EXAMPLE]})

    query: Text = Field(description="The question. There is no query syntax.")
    limit: JsonInt32 | None = Field(default=None, description="How many at most, 1–50. Default 10.")
    types: Annotated[list[Text], at_most(MAX_TYPES)] = Field(
        default=[], description="Only memories of these types, any case. Default: all."
    )
    tags: Annotated[list[Text], at_most(MAX_TAGS)] = Field(
        default=[], description="Only memories with all of these tags."
    )
    session_id: Text = Field(default="", description="Only memories of this session.")
    min_score: JsonNumber | None = Field(
        default=None, description="Leave out what scores below this, 0–1."
    )
    expansion: MemoryExpansion | None = Field(
        default=None, description="How to expand, with `use_graph_expansion=true`."
    )
    context: JsonBool = Field(
        default=False,
        description="With `use_graph_expansion=true`: leave the ranking as it is, and show what is related to each "
        "memory in its `related`.",
    )

    def message(
        self, mode: SearchMode, *, use_cache: bool, use_reranking: bool, use_graph_expansion: bool
    ) -> memories_pb2.SearchMemoriesRequest:
        """Converts the search to the contract's message."""
        expansion = self.expansion or MemoryExpansion()
        return memories_pb2.SearchMemoriesRequest(
            query=self.query,
            limit=self.limit,
            mode=_MODES[mode],
            types=self.types,
            tags=self.tags,
            session_id=self.session_id,
            min_score=self.min_score,
            cache=retrieval_pb2.CACHE_MODE_USE if use_cache else retrieval_pb2.CACHE_MODE_BYPASS,
            rerank=reranking_pb2.RERANK_MODE_UNSPECIFIED
            if use_reranking
            else reranking_pb2.RERANK_MODE_NONE,
            expansion=expansion.message() if use_graph_expansion else None,
            keep_ranking=self.context,
        )
