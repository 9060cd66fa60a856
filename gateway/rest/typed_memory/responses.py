"""Response schemas of typed memories, and the serialization of messages."""

from __future__ import annotations

from typing import Any

from braid.agent.v1 import memories_pb2
from braid.common.v1 import expansion_pb2 as options_pb2
from braid.common.v1 import legs_pb2
from braid.graph.v1 import expansion_pb2, relations_pb2
from gateway.rest.mapping.json_encoding import Json, struct, time
from gateway.rest.mapping.openapi import ResponseSchema

_TYPE = "CHUNK_RELATION_TYPE_"


class OutgoingRelation(ResponseSchema):
    """A relation to another memory."""

    target_id: str
    relation_type: str
    strength: float
    valid_at: str | None
    invalid_at: str | None
    inferred: bool
    evidence: str
    created_at: str


class IncomingRelation(ResponseSchema):
    """A relation from another memory."""

    source_id: str
    relation_type: str
    strength: float
    valid_at: str | None
    invalid_at: str | None
    inferred: bool
    evidence: str
    created_at: str


class ListedMemory(ResponseSchema):
    """A memory without its relations."""

    id: str
    type: str
    title: str
    content: str
    tags: list[str]
    importance: float
    session_id: str | None
    metadata: dict[str, Any]
    created_at: str
    access_count: int
    last_accessed_at: str | None


class CreatedMemory(ListedMemory):
    """A memory that was just stored."""

    relations: list[OutgoingRelation]


class Memory(CreatedMemory):
    """A memory with its relations."""

    incoming_relations: list[IncomingRelation]
    relations_truncated: bool


class MemoryPage(ResponseSchema):
    """Memories, newest first."""

    memories: list[ListedMemory]
    next_cursor: str | None


class Step(ResponseSchema):
    """One relation on the way to a memory."""

    from_id: str
    to_id: str
    relation_type: str
    weight: float
    strength: float
    against_direction: bool


class RelatedMemory(ResponseSchema):
    """A memory that a relation leads to."""

    memory: ListedMemory
    score: float
    composite_score: float
    depth: int
    path: list[Step]
    penalty: float


class MemoryHit(RelatedMemory):
    """A found memory; `related` is there with `context` alone."""

    related: list[RelatedMemory] | None = None


class Deleted(ResponseSchema):
    """What was removed."""

    deleted: int


class ClosedSession(ResponseSchema):
    """A closed session."""

    summary: ListedMemory
    memories: int


class Types(ResponseSchema):
    """The types that memories of the space may have."""

    types: list[str]


class Stats(ResponseSchema):
    """The caller's memories in numbers."""

    enabled: bool
    memory_nodes: int
    relationships: int
    relationships_by_type: dict[str, int]


def memory(one: memories_pb2.Memory) -> Json:
    """A memory without its relations."""
    return {
        "id": one.id,
        "type": one.type,
        "title": one.title,
        "content": one.content,
        "tags": list(one.tags),
        "importance": one.importance,
        "session_id": one.session_id or None,
        "metadata": struct(one.metadata),
        "created_at": time(one, "create_time"),
        "access_count": one.access_count,
        "last_accessed_at": time(one, "last_access_time"),
    }


def outgoing(one: memories_pb2.MemoryRelation) -> Json:
    """Returns a relation from the view of its source."""
    return {"target_id": one.target_id, **_relation(one)}


def incoming(one: memories_pb2.MemoryRelation) -> Json:
    """Returns a relation from the view of its target."""
    return {"source_id": one.source_id, **_relation(one)}


def found(answer: memories_pb2.SearchMemoriesResponse, *, context: bool) -> list[Json]:
    """Returns the hits, each with related memories if requested."""
    hits = [_hit(hit) for hit in answer.hits]
    if context:
        for hit in hits:
            hit["related"] = [
                _hit(one) for one in answer.related if one.path[0].from_id == hit["memory"]["id"]
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


def _hit(hit: memories_pb2.MemoryHit) -> Json:
    return {
        "memory": memory(hit.memory),
        "score": hit.score,
        "composite_score": hit.composite_score,
        "depth": hit.depth,
        "path": [_step(step) for step in hit.path],
        "penalty": hit.penalty,
    }


def _step(step: expansion_pb2.ExpansionStep) -> Json:
    return {
        "from_id": step.from_id,
        "to_id": step.to_id,
        "relation_type": _type_name(step.relation_type),
        "weight": step.weight,
        "strength": step.strength,
        "against_direction": step.against_direction,
    }


def _relation(one: memories_pb2.MemoryRelation) -> Json:
    return {
        "relation_type": _type_name(one.relation_type),
        "strength": one.strength,
        "valid_at": time(one, "valid_time"),
        "invalid_at": time(one, "invalid_time"),
        "inferred": one.inferred,
        "evidence": one.evidence,
        "created_at": time(one, "create_time"),
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
