"""What relations and their expansion ask of the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from services.graph_query.expansion.domain import (
    DeleteCounts,
    GivenRelation,
    Neighborhood,
    PutCounts,
    RelationCounts,
    RelationFilter,
    RelationKey,
    StoredRelation,
    Traversal,
)


class Position(NamedTuple):
    """Where a listing of relations stands."""

    source: str = ""
    target: str = ""
    type: str = ""


class UnknownEnd(NamedTuple):
    """An end of a given relation, by its place, that is no chunk of the space."""

    place: int
    field: str


class UnknownEndsError(Exception):
    """Relations whose ends are no chunks of the space; nothing was written."""

    def __init__(self, ends: Sequence[UnknownEnd]) -> None:
        super().__init__(f"{len(ends)} ends are unknown")
        self.ends = ends


class RelationStore(Protocol):
    """Relations between the chunks of every space. Failures are `BraidError`s."""

    async def put(self, space: str, relations: Sequence[GivenRelation]) -> PutCounts:
        """Stores all of them or none. UnknownEndsError where an end is no chunk of the space."""

    async def delete(self, space: str, relations: Sequence[RelationKey]) -> DeleteCounts:
        """Removes those that are there."""

    async def list(
        self, space: str, only: RelationFilter, after: Position, limit: int
    ) -> list[StoredRelation]:
        """Relations by source, target and type, after a position."""

    async def counts(self, space: str) -> RelationCounts:
        """How many there are."""

    async def revision(self, space: str) -> int:
        """The space's revision."""

    async def around(self, space: str, seeds: Sequence[str], along: Traversal) -> Neighborhood:
        """The relations around chunks, in one round trip."""
