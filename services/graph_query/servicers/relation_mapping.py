"""Maps relations and expansions between messages and the domain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp

from braid.graph.v1 import expansion_pb2, relations_pb2
from services.graph_query.expansion.domain import (
    WEIGHTS,
    Direction,
    Edge,
    GivenRelation,
    Neighborhood,
    Origin,
    RelationCounts,
    RelationFilter,
    RelationKey,
    RelationType,
    StoredRelation,
    Traversal,
)
from services.graph_query.expansion.formula import DEFAULT_FACTOR, Expanded, Item, Ranking, Stats
from services.runtime.times import to_datetime, to_timestamp, utc_now

DEFAULT_HOPS = 1
DEFAULT_DEGREE = 100
DEFAULT_LIMIT = 50
_TYPE = "CHUNK_RELATION_TYPE_"
_ORIGINS = {
    relations_pb2.RELATION_ORIGIN_UNSPECIFIED: Origin.GIVEN,
    relations_pb2.RELATION_ORIGIN_GIVEN: Origin.GIVEN,
    relations_pb2.RELATION_ORIGIN_INFERRED: Origin.INFERRED,
}
_DIRECTIONS = {
    relations_pb2.RELATION_DIRECTION_UNSPECIFIED: Direction.BOTH,
    relations_pb2.RELATION_DIRECTION_BOTH: Direction.BOTH,
    relations_pb2.RELATION_DIRECTION_OUTGOING: Direction.OUTGOING,
    relations_pb2.RELATION_DIRECTION_INCOMING: Direction.INCOMING,
}


def relation_type(value: relations_pb2.ChunkRelationType.ValueType) -> RelationType:
    """Maps a type, which the contract's rules have checked."""
    return RelationType(relations_pb2.ChunkRelationType.Name(value).removeprefix(_TYPE))


def relation_input(message: relations_pb2.ChunkRelationInput) -> GivenRelation:
    """Maps a relation to store."""
    return GivenRelation(
        source=message.source_id.lower(),
        target=message.target_id.lower(),
        type=relation_type(message.relation_type),
        strength=message.strength if message.HasField("strength") else 1.0,
        valid_from=_seconds(message.valid_time) if message.HasField("valid_time") else None,
        valid_until=_seconds(message.invalid_time) if message.HasField("invalid_time") else None,
        origin=_ORIGINS[message.origin],
        evidence=message.evidence,
    )


def relation_key(message: relations_pb2.RelationRef) -> RelationKey:
    """Maps a relation to remove."""
    kind = relation_type(message.relation_type) if message.relation_type else None
    return RelationKey(message.source_id.lower(), message.target_id.lower(), kind)


def relation_filter(message: relations_pb2.ListRelationsRequest) -> RelationFilter:
    """Maps which relations to list."""
    return RelationFilter(
        chunk=message.chunk_id.lower(),
        direction=_DIRECTIONS[message.direction],
        types=_types(message.relation_types),
        origin=_ORIGINS[message.origin] if message.origin else None,
    )


def relation(one: StoredRelation) -> relations_pb2.ChunkRelation:
    """Maps a stored relation."""
    given = one.given
    inferred = given.origin == Origin.INFERRED
    return relations_pb2.ChunkRelation(
        source_id=given.source,
        target_id=given.target,
        relation_type=_type(given.type),
        strength=given.strength,
        valid_time=_stamp(given.valid_from),
        invalid_time=_stamp(given.valid_until),
        origin=relations_pb2.RELATION_ORIGIN_INFERRED
        if inferred
        else relations_pb2.RELATION_ORIGIN_GIVEN,
        evidence=given.evidence,
        create_time=to_timestamp(one.created_at),
        update_time=to_timestamp(one.updated_at),
    )


def relation_counts(found: RelationCounts) -> relations_pb2.GetRelationStatsResponse:
    """Maps counts of the space's relations."""
    return relations_pb2.GetRelationStatsResponse(
        chunk_count=found.chunks,
        relation_count=sum(found.by_type.values()),
        counts_by_type=[
            relations_pb2.RelationCount(relation_type=_type(kind), count=count)
            for kind, count in sorted(found.by_type.items())
        ],
    )


def seeds(message: expansion_pb2.ExpandRequest) -> dict[str, float]:
    """Maps the list to expand, in its order."""
    return {seed.chunk_id.lower(): seed.score for seed in message.seeds}


def traversal(message: expansion_pb2.ExpandRequest) -> Traversal:
    """Maps which relations to follow."""
    at = _seconds(message.as_of) if message.HasField("as_of") else utc_now().timestamp()
    return Traversal(
        hops=message.max_hops if message.HasField("max_hops") else DEFAULT_HOPS,
        types=_types(message.relation_types),
        min_strength=message.min_strength,
        max_degree=message.max_degree if message.HasField("max_degree") else DEFAULT_DEGREE,
        at=at,
        direction=_DIRECTIONS[message.direction],
    )


def ranking(message: expansion_pb2.ExpandRequest) -> Ranking:
    """Maps the parameters of the ranking."""
    given = message.HasField("expansion_factor")
    return Ranking(
        limit=message.limit if message.HasField("limit") else DEFAULT_LIMIT,
        factor=message.expansion_factor if given else DEFAULT_FACTOR,
        adaptive=message.adaptive_factor,
        keep=message.keep_ranking,
    )


def expanded(found: Expanded, around: Neighborhood) -> expansion_pb2.ExpandResponse:
    """Maps an expanded list."""
    return expansion_pb2.ExpandResponse(
        items=[_item(item) for item in found.items],
        context=[_item(item) for item in found.context],
        stats=_stats(found.stats),
        space_revision=around.revision,
        truncated=around.truncated,
    )


def _item(item: Item) -> expansion_pb2.ExpandedItem:
    return expansion_pb2.ExpandedItem(
        chunk_id=item.chunk,
        score=item.score,
        initial_score=item.initial,
        depth=len(item.path),
        path=_steps(item.path),
        penalty=item.penalty,
        penalty_path=_steps(item.penalty_path),
    )


def _steps(path: Sequence[Edge]) -> list[expansion_pb2.ExpansionStep]:
    return [
        expansion_pb2.ExpansionStep(
            from_id=edge.start,
            to_id=edge.end,
            relation_type=_type(edge.type),
            weight=WEIGHTS[edge.type],
            strength=edge.strength,
            against_direction=not edge.forward,
        )
        for edge in path
    ]


def _stats(stats: Stats) -> expansion_pb2.ExpansionStats:
    return expansion_pb2.ExpansionStats(
        initial_count=stats.initial,
        expanded_count=stats.expanded,
        new_count=stats.new,
        kept_count=stats.kept,
        dropped_count=stats.dropped,
        expansion_rate=stats.rate,
        utilisation=stats.utilisation,
        followed_relation_count=stats.followed,
        incident_relation_count=stats.incident,
    )


def _type(kind: RelationType) -> relations_pb2.ChunkRelationType.ValueType:
    return relations_pb2.ChunkRelationType.Value(f"{_TYPE}{kind.value}")


def _types(
    values: Iterable[relations_pb2.ChunkRelationType.ValueType],
) -> frozenset[RelationType]:
    return frozenset(relation_type(value) for value in values) or frozenset(RelationType)


def _seconds(stamp: Timestamp) -> float:
    return to_datetime(stamp).timestamp()


def _stamp(seconds: float | None) -> Timestamp | None:
    return None if seconds is None else to_timestamp(datetime.fromtimestamp(seconds, UTC))
