"""What was known of facts in memory, and when: versions, appended and closed by comparing states after each write."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from services.graph_query.core.domain import EntityRef, GivenFact
from services.graph_query.core.intervals import OPEN


class State(Protocol):
    """A fact as it is: its ends, and what is said."""

    source: str
    target: str
    given: GivenFact
    created_at: datetime
    stated_end: datetime | None
    ended_by: str


@dataclass(slots=True)
class FakeVersion:
    """What was known of a fact from `known_from` until `known_until`, in epoch seconds."""

    uuid: str
    source: EntityRef
    target: EntityRef
    given: GivenFact
    created_at: datetime
    known_from: float
    episode: str
    # How it was stated to end, and the episode whose word its end is.
    stated_end: datetime | None
    ended_by: str
    known_until: float = OPEN

    def spell(self, refs: Mapping[str, EntityRef]) -> None:
        """Names its ends as they are spelt: what is known no longer keeps the last spelling."""
        self.source = self.source._replace(name=refs[self.source.uuid].name)
        self.target = self.target._replace(name=refs[self.target.uuid].name)

    def says(self, state: State) -> bool:
        """Whether this is the fact as it is."""
        ends = (self.source.uuid, self.target.uuid) == (state.source, state.target)
        return ends and _said(self.given) == _said(state.given)


@dataclass(slots=True)
class FakeVersions:
    """All versions of a space's facts."""

    every: list[FakeVersion] = field(default_factory=list)

    def note(
        self,
        facts: Mapping[str, State],
        refs: Mapping[str, EntityRef],
        episodes: Mapping[str, str],
        now: float,
    ) -> None:
        """Closes what is no longer so and appends what is so now."""
        latest = {version.uuid: version for version in self.every if version.known_until == OPEN}
        for uuid, version in latest.items():
            if uuid not in facts or not version.says(facts[uuid]):
                version.known_until = now
            else:
                version.spell(refs)
                version.ended_by = facts[uuid].ended_by
        for uuid, fact in sorted(facts.items()):
            if uuid in latest and latest[uuid].known_until == OPEN:
                continue
            ends = (refs[fact.source], refs[fact.target])
            said = (*ends, fact.given, fact.created_at, now, episodes[uuid])
            self.every.append(FakeVersion(uuid, *said, fact.stated_end, fact.ended_by))

    def erase(self, facts: Collection[str], now: float) -> int:
        """Removes all that was known of facts; how much of it had ended being known before `now`."""
        erased = sum(one.uuid in facts and one.known_until < now for one in self.every)
        self.every = [version for version in self.every if version.uuid not in facts]
        return erased

    def erase_endings(self, episodes: Collection[str], now: float) -> int:
        """Takes out what these episodes said of ends, so that what was known before goes on.

        How many versions; what ended being known at `now` alone does not count.
        """
        gone: list[FakeVersion] = []
        kept: FakeVersion | None = None
        for one in sorted(self.every, key=lambda one: (one.uuid, one.known_from)):
            if one.ended_by not in episodes:
                kept = one
            elif kept and (kept.uuid, kept.known_until) == (one.uuid, one.known_from):
                kept.known_until = one.known_until
                gone.append(one)
            else:
                kept = one
                one.given, one.ended_by = replace(one.given, invalid_at=one.stated_end), ""
        self.every = [one for one in self.every if one not in gone]
        return sum(one.known_until < now for one in gone)

    def known(self, at: float) -> dict[str, FakeVersion]:
        """The version of each fact that was known at an instant."""
        return {
            version.uuid: version
            for version in self.every
            if version.known_from <= at < version.known_until
        }


def _said(given: GivenFact) -> tuple[object, ...]:
    times = (given.valid_at, given.invalid_at)
    return (given.relation, given.fact, times, dict(given.attributes))
