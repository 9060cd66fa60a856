"""In-memory versions of facts, which are created and closed by comparing the states after each write."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from services.graph_query.core.domain import EntityRef, GivenFact
from services.graph_query.core.fact_changes import FactChange
from services.graph_query.core.intervals import OPEN


class State(Protocol):
    """The current state of a fact."""

    source: str
    target: str
    given: GivenFact
    created_at: datetime
    stated_end: datetime | None
    ended_by: str
    corrects: str


@dataclass(slots=True)
class FakeVersion:
    """A fact as it was known from `known_from` until `known_until`, in epoch seconds."""

    uuid: str
    source: EntityRef
    target: EntityRef
    given: GivenFact
    created_at: datetime
    known_from: float
    episode: str
    # The end as stated, and the episode that set its end.
    stated_end: datetime | None
    ended_by: str
    corrects: str = ""
    known_until: float = OPEN
    change: FactChange | None = None

    def update_names(self, refs: Mapping[str, EntityRef]) -> None:
        """Updates the names of its entities; closed versions keep the last spelling."""
        self.source = self.source._replace(name=refs[self.source.uuid].name)
        self.target = self.target._replace(name=refs[self.target.uuid].name)

    def matches(self, state: State) -> bool:
        """Returns whether the version equals the fact's current state."""
        ends = (self.source.uuid, self.target.uuid) == (state.source, state.target)
        return ends and _content(self.given) == _content(state.given)


@dataclass(slots=True)
class FakeVersions:
    """The versions of all facts of a space."""

    every: list[FakeVersion] = field(default_factory=list)

    def note(
        self,
        facts: Mapping[str, State],
        refs: Mapping[str, EntityRef],
        episodes: Mapping[str, str],
        now: float,
    ) -> None:
        """Closes the versions that have changed and appends new ones."""
        latest = {version.uuid: version for version in self.every if version.known_until == OPEN}
        for uuid, version in latest.items():
            if uuid not in facts or not version.matches(facts[uuid]):
                version.known_until = now
            else:
                version.update_names(refs)
                version.ended_by = facts[uuid].ended_by
        for uuid, fact in sorted(facts.items()):
            if uuid in latest and latest[uuid].known_until == OPEN:
                continue
            ends = (refs[fact.source], refs[fact.target])
            version_fields = (*ends, fact.given, fact.created_at, now, episodes[uuid])
            stated = (fact.stated_end, fact.ended_by, fact.corrects)
            self.every.append(FakeVersion(uuid, *version_fields, *stated))

    def note_changes(self, changes: Mapping[str, FactChange], now: float) -> None:
        """Notes who withdrew or corrected facts, on the versions that were closed at an instant."""
        for version in self.every:
            if version.uuid in changes and version.known_until == now:
                version.change = changes[version.uuid]

    def erase(self, facts: Collection[str], now: float) -> int:
        """Removes all versions of facts; returns how many of them were closed before `now`."""
        erased = sum(one.uuid in facts and one.known_until < now for one in self.every)
        self.every = [version for version in self.every if version.uuid not in facts]
        return erased

    def erase_endings(self, episodes: Collection[str], now: float) -> int:
        """Erases the ends that these episodes set; the versions known before are extended.

        Returns how many versions were removed, without those closed only at `now`.
        """
        gone: list[FakeVersion] = []
        kept: FakeVersion | None = None
        for one in sorted(self.every, key=lambda one: (one.uuid, one.known_from)):
            if one.ended_by not in episodes:
                kept = one
            elif kept and (kept.uuid, kept.known_until) == (one.uuid, one.known_from):
                kept.known_until, kept.change = one.known_until, one.change
                gone.append(one)
            else:
                kept = one
                one.given, one.ended_by = replace(one.given, invalid_at=one.stated_end), ""
        self.every = [one for one in self.every if one not in gone]
        return sum(one.known_until < now for one in gone)

    def known(self, at: float) -> dict[str, FakeVersion]:
        """Returns the version of each fact that was known at an instant."""
        return {
            version.uuid: version
            for version in self.every
            if version.known_from <= at < version.known_until
        }


def _content(given: GivenFact) -> tuple[object, ...]:
    times = (given.valid_at, given.invalid_at)
    return (given.relation, given.fact, times, dict(given.attributes))
