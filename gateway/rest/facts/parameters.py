"""Query parameters of the routes that take facts."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import Query

from braid.agent.v1.ingest_pb2 import IngestFactsRequest
from gateway.rest.mapping.contract_rules import Bounds

FactSource: TypeAlias = Annotated[
    str,
    Bounds(IngestFactsRequest, "source"),
    Query(
        description="What states the facts, such as the name of their file. The answer then lists what the same source "
        "stated before and does not state now. Default: nothing is recorded.",
        examples=["roles.jsonl"],
    ),
]
ReplaceStated: TypeAlias = Annotated[
    bool,
    Query(
        description="Replace what the source has stated: withdraw the facts that it no longer states, none if any "
        "fact is refused. Those that another source or a text also states stand. Default: all of them stand."
    ),
]
