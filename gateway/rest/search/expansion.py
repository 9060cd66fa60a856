"""Expansion and reranking of searches: fields of requests that may be given in a shorter form."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from braid.agent.v1 import search_pb2
from braid.common.v1 import expansion_pb2
from gateway.rest.mapping.message_json import enum_names
from gateway.rest.mapping.message_requests import body_model, field_type

_RERANK = search_pb2.ComprehensiveSearchRequest.DESCRIPTOR.fields_by_name["rerank"]
_MODES = [
    name for number, name in enum_names(expansion_pb2.ExpansionMode.DESCRIPTOR).items() if number
]
_Options: Any = body_model(expansion_pb2.ExpansionOptions.DESCRIPTOR)
_Rerank: Any = field_type(_RERANK, in_json=True)


def _mode_alone(value: Any) -> Any:
    """Converts a mode's name to an object with that mode."""
    return {"mode": value} if isinstance(value, str) else value


def _or_mode(schema: dict[str, Any]) -> None:
    """Documents that a mode's name is allowed in place of the object."""
    schema["anyOf"] = [{"type": "string", "enum": _MODES}, *schema.get("anyOf", [])]


ExpansionField = Annotated[
    _Options | None,
    BeforeValidator(_mode_alone),
    Field(
        description="How the results are expanded along the graph: a mode's name, or an object.",
        json_schema_extra=_or_mode,
    ),
]
RerankField = Annotated[
    _Rerank | None,
    Field(
        description="By what the results are reranked before they are expanded: `local` (the local reranking model), "
        "`cross_encoder` (a rerank endpoint), `language_model` or `none`. Default: the service's setting.",
    ),
]
