"""The interface of the graph tier's store, and the results of searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import NamedTuple, Protocol

from services.graph_query.core.domain import (
    DeletionCounts,
    EndedFact,
    EntityListing,
    EntityPage,
    EntityPosition,
    EpisodeCounts,
    Fact,
    FactCounts,
    FactFilter,
    GivenFact,
    GraphStats,
    Neighborhood,
    Passage,
)
from services.graph_query.core.fact_batch import FactBatch

# Marks the model of a space that is changing models; no model has this name.
CHANGING = "(changing)"


# The length of the longest vector that an index stores or is queried with.
MAX_DIMENSION = 4_096


class SpaceState(NamedTuple):
    """A space as of a read.

    Its revision, its number of facts with vectors, their model ("" for none, `CHANGING` during a change), and their
    length (0 when unknown).
    """

    revision: int
    vectors: int
    model: str
    dimension: int = 0


class VectorPath(Enum):
    """How vectors were compared: exactly or by the index."""

    EXACT = "exact"
    INDEX = "index"


class Hit(NamedTuple):
    """A stated fact's uuid and score in one list; its statement if the list has it; whether it has a vector."""

    uuid: str
    score: float
    statement: str = ""
    relation: str = ""
    embedded: bool = True


@dataclass(frozen=True, slots=True)
class WordHits:
    """Three lists, each best first: stated facts by words, stated facts of named entities, sentences.

    A sentence's facts are the co-occurrences found in it: one list per sentence.
    """

    state: SpaceState
    text: list[Hit] = field(default_factory=list)
    entity: list[Hit] = field(default_factory=list)
    sentences: list[tuple[list[Fact], float]] = field(default_factory=list)


class GraphStore(Protocol):
    """Stores the graph of every space. Times are aware UTC.

    All calls raise StoreUnavailableError if the store cannot be reached or is still building an index, and
    DeadlineError past the caller's deadline or the store's own limit.
    """

    async def add_episodes(self, space: str, passages: Sequence[Passage]) -> EpisodeCounts:
        """Adds passages in one transaction; an existing, unchanged passage changes nothing."""

    async def delete_episodes(self, space: str, uuids: Sequence[str]) -> DeletionCounts:
        """Removes episodes, the facts stated only by them and the entities named only by them."""

    async def add_facts(
        self, space: str, facts: Sequence[GivenFact] | FactBatch, model: str
    ) -> FactCounts:
        """Adds prepared facts in one transaction.

        Raises WrongStateError if the space has vectors of another model, InvalidFieldError if its vectors have another
        length.
        """

    async def end_fact(self, space: str, uuid: str, at: datetime) -> EndedFact:
        """Ends a fact at a caller's request.

        Raises NotFoundError("fact"), and InvalidFieldError for an end before its start.
        """

    async def search_words(
        self,
        space: str,
        terms: Sequence[str],
        link_keys: Sequence[str],
        only: FactFilter,
        limit: int,
    ) -> WordHits:
        """Finds facts by words and by the entities with the given linking keys."""

    async def search_vector(
        self, space: str, vector: Sequence[float], only: FactFilter, limit: int, *, exact: bool
    ) -> list[Hit]:
        """Finds stated facts by cosine similarity, best first."""

    async def facts(self, space: str, uuids: Sequence[str]) -> dict[str, Fact]:
        """Returns the stated facts that exist, in full."""

    async def neighborhood(
        self, space: str, name: str, entity_type: str, limit: int, only: FactFilter
    ) -> Neighborhood:
        """Returns an entity's neighbors. Raises NotFoundError("entity") if no entity has the name and type."""

    async def list_entities(
        self, space: str, listing: EntityListing, after: EntityPosition, limit: int
    ) -> EntityPage:
        """Lists entities after a position, by (key, uuid) or by (mentions descending, key, uuid).

        Key and uuid do not depend on the spelling of a name, so no write makes a listing by name skip or repeat an
        entity that remains. A page reads a limited number of entities: with a filter it may be short before the end.
        """

    async def stats(self, space: str) -> GraphStats:
        """Counts the space's graph."""

    async def ping(self) -> None:
        """Raises StoreUnavailableError if the store does not answer or is not ready."""
