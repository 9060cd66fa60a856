"""Relations between chunks in Neo4j: one relationship type, with the relation's type as a property."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from services.graph_query.core.intervals import OPEN
from services.graph_query.expansion.domain import (
    WEIGHTS,
    DeleteCounts,
    Edge,
    GivenRelation,
    Neighborhood,
    Origin,
    PutCounts,
    RelationCounts,
    RelationFilter,
    RelationKey,
    RelationType,
    StoredRelation,
    Traversal,
)
from services.graph_query.expansion.store import Position, UnknownEnd, UnknownEndsError
from services.graph_query.neo4j.database import Database
from services.graph_query.neo4j.row_mapping import instant
from services.graph_query.neo4j.space_writer import SpaceWriter, Write

# The number of chunks from which each level of an expansion continues.
_FRONTIER = 500
# Relations of a level that are followed at most, those of the first chunks first.
_EDGES = 50_000
_COMPARED = ("strength", "valid_from", "valid_until", "origin", "evidence")


class Neo4jRelations:
    """Implements `RelationStore` on Neo4j."""

    def __init__(self, database: Database, write: Write) -> None:
        self._database = database
        self._write = write

    async def put(self, space: str, relations: Sequence[GivenRelation]) -> PutCounts:
        """Stores relations in one transaction."""
        counts, revision = await self._write(space, lambda writer: _put(writer, relations))
        created, updated = counts
        unchanged = len(relations) - created - updated
        return PutCounts(created, updated, unchanged, revision)

    async def delete(self, space: str, relations: Sequence[RelationKey]) -> DeleteCounts:
        """Deletes relations in one transaction."""
        deleted, revision = await self._write(space, lambda writer: _delete(writer, relations))
        return DeleteCounts(deleted, revision)

    async def list(
        self, space: str, only: RelationFilter, after: Position, limit: int
    ) -> list[StoredRelation]:
        """Returns a page of relations."""
        parameters = {
            "space": space,
            "chunk": only.chunk,
            "direction": only.direction.value,
            "types": sorted(only.types),
            "origins": [only.origin.value] if only.origin else [one.value for one in Origin],
            "limit": limit,
            **after._asdict(),
        }
        name = "relations_of_chunk" if only.chunk else "relations_of_space"
        return [_stored(row) for row in await self._database.read(name, **parameters)]

    async def counts(self, space: str) -> RelationCounts:
        """Counts chunks and relations by type."""
        row = (await self._database.read("count_relations", space=space))[0]
        return RelationCounts(
            row["chunks"], {RelationType(name): count for name, count in row["counts"]}
        )

    async def revision(self, space: str) -> int:
        """Returns the space's revision."""
        return int((await self._database.read("relation_revision", space=space))[0]["revision"])

    async def around(self, space: str, seeds: Sequence[str], along: Traversal) -> Neighborhood:
        """Reads all seeds and hops in one query; one relation more than requested shows that there are more."""
        rows = await self._database.read(
            "relations_around",
            space=space,
            seeds=list(seeds),
            hops=along.hops,
            types=sorted(along.types),
            min_strength=along.min_strength,
            degree=along.max_degree + 1,
            at=along.at,
            open=OPEN,
            direction=along.direction.value,
            weights={kind.value: weight for kind, weight in WEIGHTS.items()},
            frontier=_FRONTIER,
            edges=_EDGES + 1,
        )
        row = rows[0]
        levels = [[_edge(values) for values in level] for level in row["levels"]]
        cut = [_within_degree(level[:_EDGES], along.max_degree) for level in levels]
        more = any(len(short) < len(level) for short, level in zip(cut, levels, strict=True))
        return Neighborhood(
            levels=cut,
            incident=row["incident"],
            truncated=bool(row["cut"]) or more,
            revision=row["revision"],
            timed=row["timed"],
        )


async def _put(writer: SpaceWriter, relations: Sequence[GivenRelation]) -> tuple[int, int]:
    """Writes new and changed relations; returns how many are new, and how many changed."""
    rows = [_row(one) for one in relations]
    known = await writer.read("relations_known", rows=rows)
    _require_ends(known)
    created, changed = [], []
    for row, held in zip(rows, known, strict=True):
        if held["origin"] is None:
            created.append(row)
        elif _replaces(row, held):
            changed.append(row)
    if created or changed:
        await writer.write("put_relations", rows=[*created, *changed], now=writer.now)
    if any(one.valid_from is not None or one.valid_until is not None for one in relations):
        await writer.write("note_timed_relations")
    return len(created), len(changed)


async def _delete(writer: SpaceWriter, relations: Sequence[RelationKey]) -> int:
    rows = [{"source": s, "target": t, "type": kind} for s, t, kind in relations]
    deleted = int((await writer.read("delete_relations", rows=rows))[0]["deleted"])
    writer.changed = writer.changed or deleted > 0
    return deleted


def _require_ends(known: Sequence[Mapping[str, Any]]) -> None:
    unknown = [
        UnknownEnd(row["place"], f"{end}_id")
        for row in known
        for end in ("source", "target")
        if not row[f"has_{end}"]
    ]
    if unknown:
        raise UnknownEndsError(unknown)


def _replaces(row: Mapping[str, Any], held: Mapping[str, Any]) -> bool:
    """Returns whether a given relation changes the stored one: an inferred one never replaces a stated one."""
    if row["origin"] == Origin.INFERRED and held["origin"] == Origin.GIVEN:
        return False
    return any(row[name] != held[name] for name in _COMPARED)


def _row(one: GivenRelation) -> dict[str, Any]:
    return {
        "source": one.source,
        "target": one.target,
        "type": one.type.value,
        "strength": one.strength,
        "valid_from": one.valid_from,
        "valid_until": one.valid_until,
        "origin": one.origin.value,
        "evidence": one.evidence,
    }


def _stored(row: Mapping[str, Any]) -> StoredRelation:
    given = GivenRelation(
        row["source"],
        row["target"],
        RelationType(row["type"]),
        row["strength"],
        row["valid_from"],
        row["valid_until"],
        Origin(row["origin"]),
        row["evidence"],
    )
    created, updated = instant(row["created_at"]), instant(row["updated_at"])
    if created is None or updated is None:  # Both are set with the relation.
        raise ValueError("a stored relation has no time")
    return StoredRelation(given, created, updated)


def _edge(values: Sequence[Any]) -> Edge:
    start, end, kind, strength, forward = values
    return Edge(start, end, RelationType(kind), strength, forward)


def _within_degree(edges: Sequence[Edge], degree: int) -> list[Edge]:
    """Returns the first `degree` edges of each chunk at which they start."""
    seen: Counter[str] = Counter()
    kept = []
    for edge in edges:
        seen[edge.start] += 1
        if seen[edge.start] <= degree:
            kept.append(edge)
    return kept
