"""What is asked about facts and times, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from services.graph_query.domain import Entity, EntityRef, Fact, FactFilter


@dataclass(frozen=True, slots=True)
class Selector:
    """Which entity is meant: by uuid, or by name key and, unless "", type."""

    uuid: str = ""
    name_key: str = ""
    type: str = ""


class End(Enum):
    """At which end of a fact an entity stands."""

    SUBJECT = "subject"
    OBJECT = "object"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class Scope:
    """Which stated facts are looked at, whatever their time.

    `known` is the instant, in epoch seconds, at which they are to have been known; None is now.
    """

    subject: Selector | None = None
    object: Selector | None = None
    either: Selector | None = None
    relation: str = ""
    known: float | None = None

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


class Moment(NamedTuple):
    """A fact of a history in brief, times in epoch seconds, open ends as ∓2^60."""

    uuid: str
    relation: str
    valid_from: float
    valid_until: float
    created: float


@dataclass(frozen=True, slots=True)
class Life:
    """An entity and all of its facts, in no order; without one entity, those that share the name."""

    entity: Entity | None
    homonyms: tuple[EntityRef, ...] = ()
    first_seen: float | None = None
    moments: tuple[Moment, ...] = ()


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
