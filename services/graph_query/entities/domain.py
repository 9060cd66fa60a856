"""Entities by name and the shape of the graph around them, and its store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol

from services.graph_query.core.domain import Entity, EntityRef, Fact, FactFilter
from services.graph_query.history.domain import Selector


@dataclass(frozen=True, slots=True)
class EntityDetails:
    """An entity with what is known of it; `facts` hold now."""

    entity: Entity
    aliases: tuple[str, ...]
    facts: int
    first_seen: datetime | None


class NamedEntity(NamedTuple):
    """A name by its key, and an entity that bears it."""

    name_key: str
    uuid: str


class Titled(NamedTuple):
    """An entity, and whether a document is about it."""

    entity: Entity
    titled: bool


class Step(NamedTuple):
    """From an entity to a neighbour, with the neighbour's number of stated facts."""

    source: str
    target: str
    degree: int


Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Path:
    """Entities from one end to the other, and the fact between each two."""

    nodes: tuple[EntityRef, ...]
    facts: tuple[Fact, ...]


# When facts hold that hold at all times to come: the year 9999.
_LAST_INSTANT = 253_402_300_799.0


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where a subgraph begins and how far it goes."""

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
    """An entity of a subgraph; `frequency` chunks name it, and a title does when `titled`."""

    ref: EntityRef
    frequency: int
    titled: bool


class SubgraphMention(NamedTuple):
    """A chunk that names an entity, both by uuid; `kind` is a `MentionKind`."""

    episode: str
    entity: str
    kind: int
    sentences: tuple[int, ...]


class SubgraphStatement(NamedTuple):
    """A chunk that states a fact of an entity, all three by uuid."""

    episode: str
    entity: str
    relation: str
    fact: str


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Chunks, the entities that they share, who mentions whom, and who states what of whom."""

    episodes: list[SubgraphEpisode] = field(default_factory=list)
    entities: list[SubgraphEntity] = field(default_factory=list)
    mentions: list[SubgraphMention] = field(default_factory=list)
    statements: list[SubgraphStatement] = field(default_factory=list)
    truncated: bool = False


_LISTED = 50


def other_spellings(name: str, spellings: Iterable[str]) -> tuple[str, ...]:
    """The first 50 other spellings in alphabetical order."""
    return tuple(sorted(set(spellings) - {name}))[:_LISTED]


class EntityStore(Protocol):
    """The shape of every space's graph. Raises what `GraphStore` says."""

    async def entities(self, space: str, entity: Selector, now: float) -> list[EntityDetails]:
        """The entities that are meant, most mentioned first, then by number of facts, then by uuid."""

    async def entities_by_link_key(
        self, space: str, keys: Sequence[str]
    ) -> dict[str, list[NamedEntity]]:
        """Names by linking key, those of the keys that are known; sorted."""

    async def titled(self, space: str, uuids: Sequence[str]) -> dict[str, Titled]:
        """Those of the entities that are there."""

    async def steps(
        self, space: str, uuids: Sequence[str], only: FactFilter, limit: int, *, local: bool
    ) -> list[Step]:
        """From these entities to all of their neighbours at a time, each once; at most `limit`.

        `local` counts co-occurrences of the time too.
        """

    async def joining(
        self, space: str, pairs: Sequence[Pair], only: FactFilter, *, local: bool
    ) -> dict[Pair, Fact]:
        """The best fact between each two entities: stated before local, the latest to begin, by uuid."""

    async def subgraph(self, space: str, seeds: Seeds) -> Subgraph:
        """The chunks around some chunks and entities."""
