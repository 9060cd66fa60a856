"""Request bodies of searches: the contract's fields, and those that only REST has."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from google.protobuf.message import Message
from pydantic import BeforeValidator, Field

from braid.agent.v1 import search_pb2 as agent
from braid.common.v1 import retrieval_pb2
from braid.vector.v1 import search_pb2 as vector
from gateway.rest.mapping.field_types import JsonBool, at_most
from gateway.rest.mapping.message_requests import MessageBody, assign, body_model
from gateway.rest.search.expansion import ExpansionField, RerankField

PartName = Literal["results", "vector_results", "graph_results", "legs"]
# The contract's maximum.
MAX_PARTS = 10


def _or_alone(schema: dict[str, Any]) -> None:
    """Documents that one item is allowed in place of a list."""
    several = {name: schema.pop(name) for name in ("type", "items")}
    schema["anyOf"] = [several["items"], several]


def _listed(value: Any) -> Any:
    """Converts a single name to a list."""
    return [value] if isinstance(value, str) else value


class _Cached(MessageBody):
    use_cache: JsonBool | None = Field(
        default=None,
        description="Whether earlier answers and an earlier vector of the query may be used, while nothing has "
        "changed. Default true.",
    )

    def message(self) -> Any:
        """Returns the message."""
        message = super().message()
        if self.use_cache is not None:
            use, bypass = retrieval_pb2.CACHE_MODE_USE, retrieval_pb2.CACHE_MODE_BYPASS
            message.cache = use if self.use_cache else bypass
        return message


class _WithSteps(_Cached):
    expansion: ExpansionField = None
    rerank: RerankField = None

    def has_steps(self) -> bool:
        """Whether the search has later steps."""
        return self.expansion is not None or self.rerank is not None

    def add_steps(self, message: Message) -> None:
        """Adds the later steps to a message."""
        fields: Any = message.DESCRIPTOR.fields_by_name
        for name in ("expansion", "rerank"):
            assign(message, fields[name], getattr(self, name))


class _Hybrid(_WithSteps):
    def expanded_message(self) -> agent.ExpandedHybridSearchRequest:
        """Returns the message of the search with its later steps."""
        message = agent.ExpandedHybridSearchRequest(search=self.message())
        self.add_steps(message)
        return message


class _Comprehensive(_WithSteps):
    include: Annotated[list[PartName], at_most(MAX_PARTS), BeforeValidator(_listed)] = Field(
        default=[],
        description="The parts that the answer holds, such as `results` (the fused list) alone; the other lists are "
        "left out of it. `legs`, `total_results` and `embedding` are in every answer. Of a "
        "stream it is about the event `final`. Default: all.",
        json_schema_extra=_or_alone,
    )

    def message(self) -> Any:
        """Returns the message."""
        message = super().message()
        self.add_steps(message)
        assign(message, message.DESCRIPTOR.fields_by_name["include"], self.include)
        return message


VectorSearch: Any = body_model(vector.VectorSearchRequest.DESCRIPTOR, base=_Cached)
TextSearch: Any = body_model(vector.TextSearchRequest.DESCRIPTOR, base=_Cached)
HybridSearch: Any = body_model(vector.HybridSearchRequest.DESCRIPTOR, base=_Hybrid)
ComprehensiveSearch: Any = body_model(
    agent.ComprehensiveSearchRequest.DESCRIPTOR, base=_Comprehensive
)
