"""Relations between chunks, and what an expansion asks of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple


class RelationType(StrEnum):
    """What a relation says, read from its source to its target."""

    FIXES = "FIXES"
    SUPPORTS = "SUPPORTS"
    FOLLOWS = "FOLLOWS"
    RELATED = "RELATED"
    SIMILAR_TO = "SIMILAR_TO"
    PART_OF = "PART_OF"
    CAUSES = "CAUSES"
    CONTRADICTS = "CONTRADICTS"


class Origin(StrEnum):
    """Who a relation is from."""

    GIVEN = "given"
    INFERRED = "inferred"


class Direction(StrEnum):
    """Which relations of a chunk, by where it stands in them."""

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
    """A relation's identity. Without a type: every relation between the two, in this direction."""

    source: str
    target: str
    type: RelationType | None


@dataclass(frozen=True, slots=True)
class GivenRelation:
    """A relation as a caller gives it. Times are epoch seconds; None is open."""

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
    """A relation as it is stored."""

    given: GivenRelation
    created_at: datetime
    updated_at: datetime


class PutCounts(NamedTuple):
    """What storing relations did."""

    created: int
    updated: int
    unchanged: int
    revision: int


class DeleteCounts(NamedTuple):
    """What removing relations did."""

    deleted: int
    revision: int


@dataclass(frozen=True, slots=True)
class RelationFilter:
    """Which relations to list; no chunk means all of the space."""

    chunk: str = ""
    direction: Direction = Direction.BOTH
    types: frozenset[RelationType] = frozenset(RelationType)
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class RelationCounts:
    """The relations of a space in numbers."""

    chunks: int
    by_type: Mapping[RelationType, int]


@dataclass(frozen=True, slots=True)
class Traversal:
    """Which relations an expansion follows. `at` is in epoch seconds."""

    hops: int
    types: frozenset[RelationType]
    min_strength: float
    max_degree: int
    at: float
    direction: Direction


class Edge(NamedTuple):
    """A relation as it is walked: from the chunk nearer to a seed to the other one."""

    start: str
    end: str
    type: RelationType
    strength: float
    forward: bool


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """The relations around some chunks: `levels[0]` begins at the chunks themselves.

    `timed` says that some relation of the space begins or ends.
    """

    levels: Sequence[Sequence[Edge]]
    incident: int
    truncated: bool
    revision: int
    timed: bool
