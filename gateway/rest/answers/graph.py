"""Facts, entities and the graph around them."""

from __future__ import annotations

from typing import Literal

from gateway.rest.answers.shape import Shape


class EntityEnd(Shape):
    """A fact's endpoint; an unknown type is empty."""

    uuid: str
    name: str
    type: str


class Source(Shape):
    """Where a fact stands."""

    chunk_id: str
    document_id: str
    document_title: str
    source: str
    quote: str


class Fact(Shape):
    """A dated edge between two entities; open ends are null.

    An `event` happened on the day of `valid_at` instead of lasting. `local` ones are mentions, not statements: two
    names in a sentence of a document, whose date is `mentioned_at`; `valid_at` and `invalid_at` are null.
    """

    uuid: str
    fact: str
    relation: str
    source_entity: EntityEnd
    target_entity: EntityEnd
    valid_at: str | None
    invalid_at: str | None
    event: bool
    mentioned_at: str | None
    sources: list[Source]
    origin: Literal["given", "extracted", "local", "unspecified"]
    score: float | None


class Entity(Shape):
    """A node of the graph."""

    uuid: str
    name: str
    type: str
    summary: str
    mentions: int


class Neighborhood(Shape):
    """An entity, its neighbours and what joins them."""

    center: Entity
    nodes: list[Entity]
    edges: list[Fact]
    total: int
    truncated: bool
    homonyms: list[EntityEnd]


class ListedEntity(Entity):
    """A node of the graph; `document_title` marks what is known only as the title of a document."""

    document_title: bool


class Entities(Shape):
    """A page of entities; `next_cursor` is null at the end."""

    entities: list[ListedEntity]
    next_cursor: str | None
    total_hint: int | None


class GraphStatus(Shape):
    """The graph in numbers."""

    entities: int
    facts: int
    local_facts: int
    episodes: int
    entities_by_type: dict[str, int]
    last_ingest_at: str | None
    indexes: dict[str, str]
    revision: int


class RefusedFact(Shape):
    """A fact that was not taken, by its position from 0."""

    index: int
    reason: str


class FactsTaken(Shape):
    """What became of given facts."""

    added: int
    unchanged: int
    refused: list[RefusedFact]
    refused_total: int
