"""What is asked about the graph's shape, and what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from services.graph_query.domain import Entity, EntityRef, Fact


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


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where a subgraph begins and how far it goes."""

    chunks: Sequence[str]
    entities: Sequence[str]
    max_mentions: int
    max_about: int
    max_episodes: int


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


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Chunks, the entities that they share, and who mentions whom."""

    episodes: list[SubgraphEpisode] = field(default_factory=list)
    entities: list[SubgraphEntity] = field(default_factory=list)
    mentions: list[SubgraphMention] = field(default_factory=list)
    truncated: bool = False
