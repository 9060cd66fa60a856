"""Facts in valid time and in knowledge time: versions, selections, pages, and their store interface."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import NamedTuple, Protocol

from services.graph_query.core.domain import Entity, EntityRef, Fact, FactFilter
from services.graph_query.core.fact_changes import FactChange
from services.graph_query.core.intervals import OPEN, day_after
from services.graph_query.core.names import name_key

CURRENT = 20
"""How many current facts a history returns in full."""


@dataclass(frozen=True, slots=True)
class Selector:
    """Selects an entity: by uuid, or by name key and, unless "", type."""

    uuid: str = ""
    name_key: str = ""
    type: str = ""

    def means(self, one: Entity | EntityRef) -> bool:
        """Returns whether it selects this entity."""
        if self.uuid:
            return one.uuid == self.uuid
        return name_key(one.name) == self.name_key and self.type in ("", one.type)


class End(Enum):
    """The end of a fact at which an entity is."""

    SUBJECT = "subject"
    OBJECT = "object"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class Scope:
    """Selects stated facts, regardless of when they are valid.

    `known` is the instant, in epoch seconds, at which the facts were known; None is now. `lasting` excludes past
    events, which are not part of the current state.
    """

    subject: Selector | None = None
    object: Selector | None = None
    either: Selector | None = None
    relation: str = ""
    known: float | None = None
    lasting: bool = False

    @property
    def anchor(self) -> tuple[Selector, End] | None:
        """Returns the entity at which a query starts; None for the whole space."""
        if self.either is not None:
            return self.either, End.EITHER
        if self.subject is not None:
            return self.subject, End.SUBJECT
        return None if self.object is None else (self.object, End.OBJECT)


class Position(NamedTuple):
    """A position in a listing of facts: start in epoch seconds, then uuid."""

    valid_from: float
    uuid: str


class Place(NamedTuple):
    """A position in a history: start and end in epoch seconds, then uuid."""

    valid_from: float
    valid_until: float
    uuid: str


class FactSummary(NamedTuple):
    """A fact of a history as a summary, times in epoch seconds, open ends as ∓2^60; an `event` happens at its start."""

    uuid: str
    relation: str
    valid_from: float
    valid_until: float
    created: float
    event: bool = False

    @property
    def place(self) -> Place:
        """Returns its position in a history."""
        return Place(self.valid_from, self.valid_until, self.uuid)

    def holds(self, at: float) -> bool:
        """Returns whether it is valid at an instant; an event without an end is valid on its day only."""
        happened = self.event and self.valid_until >= OPEN
        return (
            self.valid_from <= at < (day_after(self.valid_from) if happened else self.valid_until)
        )


@dataclass(frozen=True, slots=True)
class Page:
    """The part of a history that is returned in full; times in epoch seconds.

    It covers facts that end after `since`: the first `limit` facts after the position `after`. The first page, without
    a position, also has the latest facts valid at `reference`; later pages have no summaries.
    """

    limit: int = 0
    since: float = -2 * OPEN
    after: Place | None = None
    reference: float = -2 * OPEN

    def latest(self, moments: Iterable[FactSummary]) -> list[FactSummary]:
        """Returns the facts valid at the reference, the latest first, at most `CURRENT`."""
        stored = [
            one for one in moments if one.holds(self.reference) and one.valid_until > self.since
        ]
        return sorted(stored, key=lambda one: (-one.valid_from, one.uuid))[:CURRENT]

    def following(self, moments: Iterable[FactSummary]) -> list[FactSummary]:
        """Returns the page's facts in order."""
        stored = [
            one
            for one in moments
            if one.valid_until > self.since and (self.after is None or one.place > self.after)
        ]
        return sorted(stored, key=lambda one: one.place)[: self.limit]


NO_PAGE = Page()
"""Nothing in full."""


@dataclass(frozen=True, slots=True)
class EntityHistory:
    """An entity and summaries of all its facts, in no order; if several entities share the name, those instead.

    `first_seen` is the time of the first passage that mentions the entity, or when it was stored if none does. `page`
    and `current` are the facts that a page returns in full.
    """

    entity: Entity | None
    homonyms: tuple[EntityRef, ...] = ()
    first_seen: float | None = None
    moments: tuple[FactSummary, ...] = ()
    page: tuple[Fact, ...] = ()
    current: tuple[Fact, ...] = ()


class Difference(NamedTuple):
    """A fact that is valid at only one of two times."""

    uuid: str
    subject: str
    relation: str
    valid_from: float
    held_before: bool


class Times(NamedTuple):
    """Two times to compare."""

    before: FactFilter
    after: FactFilter


@dataclass(frozen=True, slots=True)
class Version:
    """The state of a fact as known from `known_from` until `known_until` (None: still known).

    `corrects` is the fact that this one replaced by a correction; `change` is why the state is known no longer, None if
    no caller withdrew or corrected it.
    """

    fact: Fact
    known_from: datetime
    known_until: datetime | None
    episode: str
    corrects: str = ""
    change: FactChange | None = None


def vanished(entity: Selector, withdrawn: Sequence[Version]) -> Entity:
    """Returns the selected entity, which no longer exists, as the withdrawn facts name it."""
    ends = [end for one in withdrawn for end in (one.fact.source, one.fact.target)]
    return Entity(*next(end for end in ends if entity.means(end)))


class HistoryStore(Protocol):
    """Reads the stated facts of every space in valid time and in knowledge time. Raises what `GraphStore` raises."""

    async def list_facts(
        self, space: str, scope: Scope, only: FactFilter, after: Position | None, limit: int
    ) -> list[Fact]:
        """Lists facts by start and uuid after a position. Of `only`, just the times apply."""

    async def life(
        self,
        space: str,
        entity: Selector,
        relation: str,
        known: float | None,
        page: Page = NO_PAGE,
    ) -> EntityHistory:
        """Returns an entity's facts of any time, a page of them in full.

        Raises NotFoundError("entity") without an entity.
        """

    async def facts_known(
        self, space: str, uuids: Sequence[str], known: float | None
    ) -> dict[str, Fact]:
        """Returns the facts that were known, as they were known."""

    async def differences(
        self, space: str, scope: Scope, times: Times, limit: int
    ) -> list[Difference]:
        """Returns facts that are valid at only one of two times, without an equal fact at the other time.

        At most `limit`, in no order.
        """

    async def versions(self, space: str, uuid: str, limit: int) -> list[Version]:
        """Returns the last versions of a fact, in the order in which they became known."""

    async def withdrawn(
        self, space: str, entity: Selector, relation: str, known: float | None, limit: int
    ) -> list[Version]:
        """Returns the last states of an entity's facts that were withdrawn or replaced, latest first.

        Facts that stand again are left out; with `known`, all of this is as known at that instant. An entity may have
        vanished with its last fact: without one of that name the list is empty.
        """
