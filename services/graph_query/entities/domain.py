"""Entities by name, the graph around them, and the store interface for both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol

from services.graph_query.core.domain import Entity, EntityRef, Fact, FactFilter
from services.graph_query.history.domain import Selector


@dataclass(frozen=True, slots=True)
class EntityDetails:
    """An entity with its other spellings; `facts` counts those valid now."""

    entity: Entity
    aliases: tuple[str, ...]
    facts: int
    first_seen: datetime | None


class NamedEntity(NamedTuple):
    """A name by its key, and an entity with that name."""

    name_key: str
    uuid: str


class Titled(NamedTuple):
    """An entity, and whether it is the title of a document."""

    entity: Entity
    titled: bool


class Step(NamedTuple):
    """A step from an entity to a neighbor, with the neighbor's number of stated facts."""

    source: str
    target: str
    degree: int


Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Path:
    """Entities from one end to the other, and the fact between each two adjacent ones."""

    nodes: tuple[EntityRef, ...]
    facts: tuple[Fact, ...]


# The year 9999: facts valid at this instant have no end.
_LAST_INSTANT = 253_402_300_799.0


@dataclass(frozen=True, slots=True)
class Seeds:
    """The start of a subgraph and its limits."""

    chunks: Sequence[str]
    entities: Sequence[str]
    max_mentions: int
    max_about: int
    max_episodes: int
    at: float = _LAST_INSTANT
    details: bool = True


class SubgraphEpisode(NamedTuple):
    """A chunk of a subgraph."""

    uuid: str
    document_id: str
    title: str
    seed: bool


class SubgraphEntity(NamedTuple):
    """An entity of a subgraph; `frequency` chunks name it, and so does a title if `titled`."""

    ref: EntityRef
    frequency: int
    titled: bool


class SubgraphMention(NamedTuple):
    """A chunk that mentions an entity, both by uuid; `kind` is a `MentionKind`."""

    episode: str
    entity: str
    kind: int
    sentences: tuple[int, ...]


class SubgraphStatement(NamedTuple):
    """A chunk that states a fact about an entity, all three by uuid."""

    episode: str
    entity: str
    relation: str
    fact: str


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Chunks, the entities that they share, their mentions, and their statements about these entities."""

    episodes: list[SubgraphEpisode] = field(default_factory=list)
    entities: list[SubgraphEntity] = field(default_factory=list)
    mentions: list[SubgraphMention] = field(default_factory=list)
    statements: list[SubgraphStatement] = field(default_factory=list)
    truncated: bool = False


_LISTED = 50


def other_spellings(name: str, spellings: Iterable[str]) -> tuple[str, ...]:
    """Returns the first 50 other spellings in alphabetical order."""
    return tuple(sorted(set(spellings) - {name}))[:_LISTED]


class EntityStore(Protocol):
    """Reads entities and their neighborhoods in every space's graph. Raises what `GraphStore` raises."""

    async def entities(self, space: str, entity: Selector, now: float) -> list[EntityDetails]:
        """Returns the selected entities, most mentioned first, then by number of facts, then by uuid."""

    async def entities_by_link_key(
        self, space: str, keys: Sequence[str]
    ) -> dict[str, list[NamedEntity]]:
        """Returns names by linking key, for the keys that are known; sorted."""

    async def titled(self, space: str, uuids: Sequence[str]) -> dict[str, Titled]:
        """Returns the entities that exist."""

    async def steps(
        self, space: str, uuids: Sequence[str], only: FactFilter, limit: int, *, local: bool
    ) -> list[Step]:
        """Returns up to `limit` steps from these entities to all of their neighbors at a time, each neighbor once.

        With `local`, co-occurrences of the time count too.
        """

    async def joining(
        self, space: str, pairs: Sequence[Pair], only: FactFilter, *, local: bool
    ) -> dict[Pair, Fact]:
        """Returns the best fact between each pair: stated before local, then the latest start, then by uuid."""

    async def subgraph(self, space: str, seeds: Seeds) -> Subgraph:
        """Returns the chunks around some chunks and entities."""
