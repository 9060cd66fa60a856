"""Expansion and reranking of searches: fields of requests."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from google.protobuf.message import Message
from pydantic import AliasChoices, BeforeValidator, Field

from braid.common.v1 import expansion_pb2, reranking_pb2
from gateway.rest.mapping.contract_rules import ContractModel
from gateway.rest.mapping.field_types import (
    Instant,
    JsonInt32,
    JsonNumber,
    Text,
    at_most,
    stamp,
)
from gateway.rest.mapping.json_encoding import enum_names

MAX_RELATION_TYPES = 32

ModeName = Literal["none", "formula", "query_aware", "pagerank"]
RerankName = Literal["none", "local", "cross_encoder", "language_model"]
_MODES = enum_names(expansion_pb2.ExpansionMode, "EXPANSION_MODE_")
_MODE_OF = {name: value for value, name in _MODES.items() if name}
_RERANKS = enum_names(reranking_pb2.RerankMode, "RERANK_MODE_")
_RERANK_OF = {name: value for value, name in _RERANKS.items() if name}
_FACTORS = {
    None: expansion_pb2.EXPANSION_FACTOR_UNSPECIFIED,
    "fixed": expansion_pb2.EXPANSION_FACTOR_FIXED,
    "adaptive": expansion_pb2.EXPANSION_FACTOR_ADAPTIVE,
}


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _mode_alone(value: Any) -> Any:
    """Converts a mode's name to an object with that mode."""
    return {"mode": value} if isinstance(value, str) else value


def _or_mode(schema: dict[str, Any]) -> None:
    """Documents that a mode's name is allowed in place of the object."""
    schema["anyOf"] = [
        {"type": "string", "enum": list(ModeName.__args__)},  # type: ignore[attr-defined]
        *schema.get("anyOf", []),
    ]


class Expansion(ContractModel):
    """How the results are expanded along the graph."""

    contract: ClassVar[type[Message]] = expansion_pb2.ExpansionOptions
    names: ClassVar[Mapping[str, str]] = MappingProxyType({"hops": "max_hops"})

    mode: Annotated[ModeName, BeforeValidator(_lower)] | None = Field(
        default=None,
        description="`formula` (the fixed formula along explicit relations), `query_aware` (personalised PageRank over "
        "mentions and facts, with evidence), `pagerank` (without evidence) or `none`. Default: the search's own.",
    )
    hops: JsonInt32 | None = Field(
        default=None,
        validation_alias=AliasChoices("hops", "max_hops"),
        description="How many relations away from a seed at most, 1–3. Default 1.",
    )
    relation_types: Annotated[list[Text], at_most(MAX_RELATION_TYPES)] = Field(
        default=[],
        description="Follow only relations of these types; `MENTIONS` stands for shared entities. Default: all.",
    )
    factor_mode: Literal["fixed", "adaptive"] | None = Field(
        default=None,
        description="`formula`: how the factor is chosen; `adaptive` expands weak seeds more. Default: fixed.",
    )
    factor: JsonNumber | None = Field(
        default=None, description="`formula`: the factor, 0–1. Default 0.6."
    )
    min_strength: JsonNumber | None = Field(
        default=None,
        description="`formula`: follow only relations of at least this strength, 0–1. Default 0.",
    )
    max_degree: JsonInt32 | None = Field(
        default=None,
        description="How many relations of one item are followed at most, 1–1,000. Default 20.",
    )
    traversal_time: Instant | None = Field(
        default=None,
        description="Follow what holds at this instant. Default: the instant that the search is about.",
    )

    def message(self) -> expansion_pb2.ExpansionOptions:
        """Converts the options to the contract's message."""
        return expansion_pb2.ExpansionOptions(
            mode=expansion_pb2.ExpansionMode.ValueType(_MODE_OF.get(self.mode or "", 0)),
            max_hops=self.hops,
            relation_types=self.relation_types,
            factor_mode=_FACTORS[self.factor_mode],
            factor=self.factor,
            min_strength=self.min_strength,
            max_degree=self.max_degree,
            traversal_time=stamp(self.traversal_time),
        )


ExpansionField = Annotated[
    Expansion | None,
    BeforeValidator(_mode_alone),
    Field(
        description="How the results are expanded along the graph: a mode's name, or an object.",
        json_schema_extra=_or_mode,
    ),
]
RerankField = Annotated[
    Annotated[RerankName, BeforeValidator(_lower)] | None,
    Field(
        description="By what the results are reranked before they are expanded: `local` (the local reranking model), "
        "`cross_encoder` (a rerank endpoint), `language_model` or `none`. Default: the service's setting.",
    ),
]


def rerank_mode(name: RerankName | None) -> reranking_pb2.RerankMode.ValueType:
    """Converts the reranking mode to the contract's enum."""
    return reranking_pb2.RerankMode.ValueType(_RERANK_OF.get(name or "", 0))
