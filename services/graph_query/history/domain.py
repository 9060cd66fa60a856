"""Facts over both clocks: versions, selections, pages, and their store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import NamedTuple, Protocol

from services.graph_query.core.domain import Entity, EntityRef, Fact, FactFilter
from services.graph_query.core.intervals import OPEN, day_after
from services.graph_query.core.names import name_key

CURRENT = 20
"""How many current facts a history returns in full."""


@dataclass(frozen=True, slots=True)
class Selector:
    """Which entity is meant: by uuid, or by name key and, unless "", type."""

    uuid: str = ""
    name_key: str = ""
    type: str = ""

    def means(self, one: Entity | EntityRef) -> bool:
        """Whether it is this entity."""
        if self.uuid:
            return one.uuid == self.uuid
        return name_key(one.name) == self.name_key and self.type in ("", one.type)


class End(Enum):
    """At which end of a fact an entity stands."""

    SUBJECT = "subject"
    OBJECT = "object"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class Scope:
    """Which stated facts are looked at, whatever their time.

    `known` is the instant, in epoch seconds, at which they are to have been known; None is now. `lasting` leaves out
    events of former days: they are no part of what holds.
    """

    subject: Selector | None = None
    object: Selector | None = None
    either: Selector | None = None
    relation: str = ""
    known: float | None = None
    lasting: bool = False

    @property
    def anchor(self) -> tuple[Selector, End] | None:
        """The entity to begin at, None for the whole space."""
        if self.either is not None:
            return self.either, End.EITHER
        if self.subject is not None:
            return self.subject, End.SUBJECT
        return None if self.object is None else (self.object, End.OBJECT)


class Position(NamedTuple):
    """Where a listing of facts stands: start in epoch seconds, then uuid."""

    valid_from: float
    uuid: str


class Place(NamedTuple):
    """Where a history stands: start and end in epoch seconds, then uuid."""

    valid_from: float
    valid_until: float
    uuid: str


class FactSummary(NamedTuple):
    """A fact of a history in brief, times in epoch seconds, open ends as ∓2^60; an `event` happens at its start."""

    uuid: str
    relation: str
    valid_from: float
    valid_until: float
    created: float
    event: bool = False

    @property
    def place(self) -> Place:
        """Where it stands in a history."""
        return Place(self.valid_from, self.valid_until, self.uuid)

    def holds(self, at: float) -> bool:
        """Whether it holds at an instant; an event without an end does on its day alone."""
        happened = self.event and self.valid_until >= OPEN
        return (
            self.valid_from <= at < (day_after(self.valid_from) if happened else self.valid_until)
        )


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a history is returned in full; times in epoch seconds.

    Of what has held after `since`: the first `limit` facts after a place; before any place also those that hold at
    `reference`, the latest of them. A page after a place has no facts in brief.
    """

    limit: int = 0
    since: float = -2 * OPEN
    after: Place | None = None
    reference: float = -2 * OPEN

    def latest(self, moments: Iterable[FactSummary]) -> list[FactSummary]:
        """Those that hold at the reference, the latest first and no more than are shown."""
        stored = [
            one for one in moments if one.holds(self.reference) and one.valid_until > self.since
        ]
        return sorted(stored, key=lambda one: (-one.valid_from, one.uuid))[:CURRENT]

    def following(self, moments: Iterable[FactSummary]) -> list[FactSummary]:
        """Those of the page in their order."""
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
    """An entity and all of its facts in brief, in no order; without one entity, those that share the name.

    `page` and `current` are the facts that a page returns in full.
    """

    entity: Entity | None
    homonyms: tuple[EntityRef, ...] = ()
    first_seen: float | None = None
    moments: tuple[FactSummary, ...] = ()
    page: tuple[Fact, ...] = ()
    current: tuple[Fact, ...] = ()


class Difference(NamedTuple):
    """A fact that holds at one of two times only."""

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
    """What was known of a fact from `known_from` until `known_until` (None: still)."""

    fact: Fact
    known_from: datetime
    known_until: datetime | None
    episode: str


class HistoryStore(Protocol):
    """Stated facts of every space over both clocks. Raises what `GraphStore` says."""

    async def list_facts(
        self, space: str, scope: Scope, only: FactFilter, after: Position | None, limit: int
    ) -> list[Fact]:
        """Facts by start and uuid after a position. Of `only`, the times count."""

    async def life(
        self,
        space: str,
        entity: Selector,
        relation: str,
        known: float | None,
        page: Page = NO_PAGE,
    ) -> EntityHistory:
        """An entity's facts at any time, a page of them in full. NotFoundError("entity") when there is none."""

    async def facts_known(
        self, space: str, uuids: Sequence[str], known: float | None
    ) -> dict[str, Fact]:
        """Those of the facts that were known, as they were known."""

    async def differences(
        self, space: str, scope: Scope, times: Times, limit: int
    ) -> list[Difference]:
        """Facts that hold at one of two times only, and that no other fact says at the other time.

        At most `limit`, in no order.
        """

    async def versions(self, space: str, uuid: str, limit: int) -> list[Version]:
        """The last versions of a fact in the order in which they became known."""
