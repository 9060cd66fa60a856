"""The store of the graph tier: its interface, and what searches return."""

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

# The model of a space that is changing over to another: the name of none.
CHANGING = "(changing)"


# Values of the longest vector that an index takes, or is asked with.
MAX_DIMENSION = 4_096


class SpaceState(NamedTuple):
    """A space as of a read: its revision, its facts with vectors, the model of these ("" for none, `CHANGING`), and how
    many values each has (0 when that is not known).
    """

    revision: int
    vectors: int
    model: str
    dimension: int = 0


class VectorPath(Enum):
    """How vectors were compared."""

    EXACT = "exact"
    INDEX = "index"


class Hit(NamedTuple):
    """A stated fact's uuid with its score in one list; its statement where the list has it; whether it has a vector."""

    uuid: str
    score: float
    statement: str = ""
    relation: str = ""
    embedded: bool = True


@dataclass(frozen=True, slots=True)
class WordHits:
    """Three lists, each best first: stated facts by words, stated facts of named entities, sentences.

    A sentence's facts are the co-occurrences that it is the source of: one list per sentence.
    """

    state: SpaceState
    text: list[Hit] = field(default_factory=list)
    entity: list[Hit] = field(default_factory=list)
    sentences: list[tuple[list[Fact], float]] = field(default_factory=list)


class GraphStore(Protocol):
    """The graph of every space. Times are aware UTC.

    All calls raise StoreUnavailableError when the store cannot be reached or is still building an
    index, and DeadlineError when the caller's deadline or the store's own limit passes.
    """

    async def add_episodes(self, space: str, passages: Sequence[Passage]) -> EpisodeCounts:
        """Adds passages in one transaction; one that is there already and unchanged changes nothing."""

    async def delete_episodes(self, space: str, uuids: Sequence[str]) -> DeletionCounts:
        """Removes episodes, what only they say, and what only they named."""

    async def add_facts(
        self, space: str, facts: Sequence[GivenFact] | FactBatch, model: str
    ) -> FactCounts:
        """Adds facts in one transaction, those of a batch as prepared for the space.

        WrongStateError when the space has vectors of another model, InvalidFieldError when its vectors are of another
        length.
        """

    async def end_fact(self, space: str, uuid: str, at: datetime) -> EndedFact:
        """Ends a fact by a caller's word. NotFoundError("fact"), InvalidFieldError for an end before its start."""

    async def search_words(
        self,
        space: str,
        terms: Sequence[str],
        link_keys: Sequence[str],
        only: FactFilter,
        limit: int,
    ) -> WordHits:
        """Facts by words and by the entities whose linking keys are given."""

    async def search_vector(
        self, space: str, vector: Sequence[float], only: FactFilter, limit: int, *, exact: bool
    ) -> list[Hit]:
        """Stated facts by cosine similarity, best first."""

    async def facts(self, space: str, uuids: Sequence[str]) -> dict[str, Fact]:
        """Those of the stated facts that are there, in full."""

    async def neighborhood(
        self, space: str, name: str, entity_type: str, limit: int, only: FactFilter
    ) -> Neighborhood:
        """An entity's neighbours. NotFoundError("entity") when no entity has the name and type."""

    async def list_entities(
        self, space: str, listing: EntityListing, after: EntityPosition, limit: int
    ) -> EntityPage:
        """Entities after a position, by (key, uuid) or by (most mentions, key, uuid).

        Key and uuid do not change with the spelling of a name: no write makes a listing by name skip or repeat what
        stays. A page looks at a bounded number of entities: with a filter it may be short before the end.
        """

    async def stats(self, space: str) -> GraphStats:
        """The space's graph in numbers."""

    async def ping(self) -> None:
        """Raises StoreUnavailableError when the store does not answer or is not ready."""
