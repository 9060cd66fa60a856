"""Relations between chunks, and the parameters of an expansion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple


class RelationType(StrEnum):
    """The meaning of a relation, read from its source to its target."""

    FIXES = "FIXES"
    SUPPORTS = "SUPPORTS"
    FOLLOWS = "FOLLOWS"
    RELATED = "RELATED"
    SIMILAR_TO = "SIMILAR_TO"
    PART_OF = "PART_OF"
    CAUSES = "CAUSES"
    CONTRADICTS = "CONTRADICTS"


class Origin(StrEnum):
    """The source of a relation: stated by a caller or inferred."""

    GIVEN = "given"
    INFERRED = "inferred"


class Direction(StrEnum):
    """Selects a chunk's relations by the end at which the chunk is."""

    BOTH = "both"
    OUTGOING = "outgoing"
    INCOMING = "incoming"


WEIGHTS: Mapping[RelationType, float] = MappingProxyType(
    {
        RelationType.FIXES: 1.0,
        RelationType.SUPPORTS: 0.9,
        RelationType.FOLLOWS: 0.8,
        RelationType.RELATED: 0.7,
        RelationType.SIMILAR_TO: 0.6,
        RelationType.PART_OF: 0.5,
        RelationType.CAUSES: 0.4,
        RelationType.CONTRADICTS: -0.5,
    }
)


class RelationKey(NamedTuple):
    """A relation's identity. Without a type: every relation from the source to the target."""

    source: str
    target: str
    type: RelationType | None


@dataclass(frozen=True, slots=True)
class GivenRelation:
    """A relation as given by a caller. Times are epoch seconds; None is open."""

    source: str
    target: str
    type: RelationType
    strength: float = 1.0
    valid_from: float | None = None
    valid_until: float | None = None
    origin: Origin = Origin.GIVEN
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """A relation as stored."""

    given: GivenRelation
    created_at: datetime
    updated_at: datetime


class PutCounts(NamedTuple):
    """The result of storing relations."""

    created: int
    updated: int
    unchanged: int
    revision: int


class DeleteCounts(NamedTuple):
    """The result of deleting relations."""

    deleted: int
    revision: int


@dataclass(frozen=True, slots=True)
class RelationFilter:
    """Selects relations to list; without a chunk, all of the space."""

    chunk: str = ""
    direction: Direction = Direction.BOTH
    types: frozenset[RelationType] = frozenset(RelationType)
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class RelationCounts:
    """Counts of a space's relations."""

    chunks: int
    by_type: Mapping[RelationType, int]


@dataclass(frozen=True, slots=True)
class Traversal:
    """Selects the relations that an expansion follows. `at` is in epoch seconds."""

    hops: int
    types: frozenset[RelationType]
    min_strength: float
    max_degree: int
    at: float
    direction: Direction


class Edge(NamedTuple):
    """A relation in the direction of traversal: from the chunk nearer to a seed to the other one."""

    start: str
    end: str
    type: RelationType
    strength: float
    forward: bool


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """The relations around some chunks: `levels[0]` begins at the chunks themselves.

    `timed` is True if some relation of the space begins or ends.
    """

    levels: Sequence[Sequence[Edge]]
    incident: int
    truncated: bool
    revision: int
    timed: bool
