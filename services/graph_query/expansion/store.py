"""The store interface for relations and their expansion."""

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
    """A position in a listing of relations."""

    source: str = ""
    target: str = ""
    type: str = ""


class UnknownEnd(NamedTuple):
    """An end of a given relation, by its position, that is not a chunk of the space."""

    place: int
    field: str


class UnknownEndsError(Exception):
    """The ends of some relations are not chunks of the space; nothing was written."""

    def __init__(self, ends: Sequence[UnknownEnd]) -> None:
        super().__init__(f"{len(ends)} ends are unknown")
        self.ends = ends


class RelationStore(Protocol):
    """Stores relations between the chunks of every space. Failures are `BraidError`s."""

    async def put(self, space: str, relations: Sequence[GivenRelation]) -> PutCounts:
        """Stores all relations or none. Raises UnknownEndsError if an end is not a chunk of the space."""

    async def delete(self, space: str, relations: Sequence[RelationKey]) -> DeleteCounts:
        """Deletes the relations that exist."""

    async def list(
        self, space: str, only: RelationFilter, after: Position, limit: int
    ) -> list[StoredRelation]:
        """Lists relations by source, target and type, after a position."""

    async def counts(self, space: str) -> RelationCounts:
        """Counts the space's relations."""

    async def revision(self, space: str) -> int:
        """Returns the space's revision."""

    async def around(self, space: str, seeds: Sequence[str], along: Traversal) -> Neighborhood:
        """Returns the relations around chunks, in one round trip."""
