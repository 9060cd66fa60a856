"""Responses of typed memories that are not messages: a list of hits with headers, and numbers."""

from __future__ import annotations

from typing import Annotated

from braid.agent.v1 import memories_pb2
from braid.common.v1 import expansion_pb2 as options_pb2
from braid.common.v1 import legs_pb2
from braid.graph.v1 import expansion_pb2, relations_pb2
from gateway.rest.mapping.json_encoding import Json
from gateway.rest.mapping.message_json import to_json
from gateway.rest.mapping.message_schema import Shape
from gateway.rest.mapping.openapi import ResponseSchema

_TYPE = "CHUNK_RELATION_TYPE_"


class MemoryHit(ResponseSchema):
    """A found memory; `related` is there with `context` alone."""

    memory: Annotated[Json, Shape(memories_pb2.Memory)]
    score: float
    composite_score: float
    depth: int
    path: list[Annotated[Json, Shape(expansion_pb2.ExpansionStep)]]
    penalty: float
    related: list[Annotated[Json, Shape(memories_pb2.MemoryHit)]] | None = None


class Deleted(ResponseSchema):
    """What was removed."""

    deleted: int


class Stats(ResponseSchema):
    """The caller's memories in numbers."""

    enabled: bool
    memory_nodes: int
    relationships: int
    relationships_by_type: dict[str, int]


def found(answer: memories_pb2.SearchMemoriesResponse, *, context: bool) -> list[Json]:
    """Returns the hits, each with related memories if requested."""
    hits = [to_json(hit) for hit in answer.hits]
    if context:
        for hit in hits:
            hit["related"] = [
                to_json(one) for one in answer.related if one.path[0].from_id == hit["memory"]["id"]
            ]
    return hits


def headers(answer: memories_pb2.SearchMemoriesResponse) -> dict[str, str]:
    """Returns the search status and the nearest memories as headers, because the body is a list."""
    headers = {"x-search-status": _outcome(answer.status, answer.reason)}
    if answer.nearest:
        headers["x-nearest-memories"] = ", ".join(hit.memory.id for hit in answer.nearest)
    if answer.HasField("expansion"):
        headers["x-expansion-status"] = _expansion(answer.expansion)
    return headers


def stats(answer: memories_pb2.GetMemoryStatsResponse) -> Json:
    """The caller's memories in numbers."""
    return {
        "enabled": True,
        "memory_nodes": answer.memory_count,
        "relationships": answer.relation_count,
        "relationships_by_type": {
            _type_name(one.relation_type): one.count for one in answer.counts_by_type
        },
    }


def _type_name(value: relations_pb2.ChunkRelationType.ValueType) -> str:
    return relations_pb2.ChunkRelationType.Name(value).removeprefix(_TYPE)


def _outcome(status: legs_pb2.LegStatus.ValueType, reason: legs_pb2.LegReason.ValueType) -> str:
    name = legs_pb2.LegStatus.Name(status).removeprefix("LEG_STATUS_")
    if not reason:
        return name
    return f"{name}; reason={legs_pb2.LegReason.Name(reason).removeprefix('LEG_REASON_')}"


def _expansion(report: options_pb2.ExpansionReport) -> str:
    elapsed = report.elapsed.ToMicroseconds() / 1000
    return (
        f"{_outcome(report.status, report.reason)}; elapsed_ms={elapsed:.1f}; "
        f"initial_count={report.initial_count}; expanded_count={report.expanded_count}; "
        f"new_results={report.new_count}; kept_results={report.kept_count}; "
        f"dropped_results={report.dropped_count}; expansion_rate={report.expansion_rate:.3f}; "
        f"utilisation={report.utilisation:.3f}"
    )
