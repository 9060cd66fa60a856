"""Facts in time: lists, histories, snapshots, differences, versions and paths."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from gateway.rest.answers.graph import Entity, EntityEnd, Fact
from gateway.rest.answers.shape import Shape


class StatedFact(Fact):
    """A dated fact with its attributes, and when it became known to Braid."""

    attributes: dict[str, Any]
    created_at: str | None


class Facts(Shape):
    """A page of facts by start (unknown first); `next_cursor` is null at the end."""

    facts: list[StatedFact]
    next_cursor: str | None


class HistoryPeriod(Shape):
    """How many facts of a relation began and ended in a year, decade or century; without dates in the row of nulls."""

    relation: str
    start: str | None
    end: str | None
    began: int
    ended: int


class HistorySummary(Shape):
    """A whole history in numbers, whatever the page."""

    total: int = Field(description="Facts in the history.")
    current_total: int = Field(description="Of these, how many hold at `as_of`.")
    current: list[StatedFact] = Field(description="The latest of those that hold, at most 20.")
    first_seen_at: str | None = Field(description="When Braid first learned of the entity.")
    earliest_valid_at: str | None
    never_changed: bool = Field(
        description="Nothing was ever ended or replaced: every fact that began still holds."
    )
    unchanged_since: str | None = Field(
        description="The last start or end of a fact up to `as_of`; null when no date is known."
    )
    periods: list[HistoryPeriod]
    periods_truncated: bool


class History(Facts):
    """An entity's facts, current and past, in time order. Where several entities share the name, `entity` is null and
    `homonyms` lists them all: choose by type or uuid. `summary` is on the first page only.
    """

    entity: Entity | None
    homonyms: list[EntityEnd]
    summary: HistorySummary | None


class ChangedFacts(Shape):
    """One subject and relation whose objects or attributes are others: at most 20 facts each."""

    before: list[StatedFact]
    after: list[StatedFact]


class Diff(Shape):
    """What is different at the second time. `incomplete`: more than 20,000 facts differ, and these are the first."""

    added: list[StatedFact]
    ended: list[StatedFact]
    changed: list[ChangedFacts]
    added_total: int
    ended_total: int
    changed_total: int
    incomplete: bool


class Snapshot(Facts):
    """The facts that held, and what has changed since; `changes` is on the first page only."""

    changes: Diff | None


class FactVersion(Shape):
    """What was known of a fact from `known_at` until `superseded_at` (null: the latest); `chunk_id` is the chunk that
    caused it.
    """

    fact: StatedFact
    known_at: str | None
    superseded_at: str | None
    chunk_id: str | None


class FactAndVersions(Shape):
    """A fact (null when it was taken back) and all that was known of it, in the order in which it became known."""

    fact: StatedFact | None
    versions: list[FactVersion]


class EndedFact(Shape):
    """The fact as it is now, and whether the call changed it."""

    fact: StatedFact
    changed: bool
    revision: int


class Path(Shape):
    """A way from one entity to another: each fact joins a node to the next and may point either way."""

    nodes: list[EntityEnd]
    facts: list[StatedFact]


class Paths(Shape):
    """The shortest ways, all of one length. None while an end is ambiguous: its homonyms are listed. `incomplete`: the
    search was given up at its limits.
    """

    paths: list[Path]
    truncated: bool
    incomplete: bool
    source_homonyms: list[EntityEnd]
    target_homonyms: list[EntityEnd]
