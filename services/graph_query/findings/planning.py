"""Plans a write of findings: which are refused, and what the others change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from services.graph_query.core.names import name_key
from services.graph_query.findings.domain import (
    FindingCounts,
    GivenFinding,
    candidates,
    digest,
    finding_uuid,
)

FOREIGN_EPISODE = "an episode of it is not one of this space"


UNKNOWN_FINDING = "a finding that it is about is not there"


ITSELF = "it is about itself"


BLANK_NAME = "about_entities: a name must not be blank"


TWICE = "its id stands for another finding of this call"


class StoredFinding(NamedTuple):
    """A finding that exists."""

    digest: str
    statement: str
    episodes: frozenset[str]
    embedded: bool


@dataclass(frozen=True, slots=True)
class FindingChange:
    """A finding as it will be stored. `stored` is None if it is new; `vector` None keeps the stored vector."""

    uuid: str
    finding: GivenFinding
    about_findings: frozenset[str]
    digest: str
    episodes: frozenset[str]
    vector: tuple[float, ...] | None
    stored: StoredFinding | None = None

    @property
    def differs(self) -> bool:
        """Returns whether its fields or its subjects differ from the stored ones."""
        return self.stored is None or self.stored.digest != self.digest

    @property
    def changes(self) -> bool:
        """Returns whether anything differs from what is stored."""
        moved = self.stored is None or self.stored.episodes != self.episodes
        return self.differs or moved or self.vector is not None

    @property
    def embedded(self) -> bool:
        """Returns whether it has a vector afterwards."""
        if self.vector is not None:
            return bool(self.vector)
        return self.stored is not None and self.stored.embedded


@dataclass(frozen=True, slots=True)
class Plan:
    """A planned write of findings."""

    puts: tuple[FindingChange, ...]
    uuids: tuple[str, ...]
    refused: tuple[tuple[int, str], ...]

    def changed(self) -> list[FindingChange]:
        """Returns what is to be written, in the order of uuids."""
        return sorted((put for put in self.puts if put.changes), key=lambda put: put.uuid)

    def counts(self, revision: int = 0) -> FindingCounts:
        """Returns the plan's counts."""
        added = sum(put.stored is None for put in self.puts)
        updated = sum(put.stored is not None and put.changes for put in self.puts)
        return FindingCounts(
            uuids=self.uuids,
            added=added,
            updated=updated,
            unchanged=len(self.uuids) - len(self.refused) - added - updated,
            without_vector=sum(not put.embedded for put in self.puts),
            refused=self.refused,
            revision=revision,
        )


@dataclass(frozen=True, slots=True)
class References:
    """The findings that others may be about.

    `known` are uuids of the space. `names` are uuids of this call's own findings: those with an id, and those about no
    other, whose uuids derive from their content.
    """

    space: str
    known: Collection[str]
    names: Collection[str]

    @classmethod
    def of(cls, space: str, known: Collection[str], findings: Iterable[GivenFinding]) -> References:
        """Builds the references of a call."""
        base = (one for one in findings if one.id or not one.about_findings)
        return cls(space, known, frozenset(finding_uuid(space, one, ()) for one in base))

    def about(self, finding: GivenFinding) -> list[str]:
        """Returns the uuids that a finding is about; "" for each that does not exist."""
        return [self._resolve(reference) for reference in finding.about_findings]

    def uuid(self, finding: GivenFinding) -> str:
        """Returns the finding's own uuid."""
        return finding_uuid(self.space, finding, self.about(finding))

    def _resolve(self, reference: str) -> str:
        found = candidates(self.space, reference)
        return next((uuid for uuid in found if uuid in self.names or uuid in self.known), "")


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans one write to a space, given the `stored` findings, those `known` to exist, and the existing episodes."""

    space: str
    known: Collection[str]
    stored: Mapping[str, StoredFinding]
    episodes: Collection[str]

    def plan(self, findings: Sequence[GivenFinding]) -> Plan:
        """Accepts every valid finding; one about a refused finding is refused as well."""
        refused: dict[int, str] = {}
        while True:
            puts: dict[str, FindingChange] = {}
            taken = {n: one for n, one in enumerate(findings) if n not in refused}
            references = References.of(self.space, self.known, taken.values())
            uuids, news = {}, {}
            for place, finding in taken.items():
                try:
                    uuids[place] = self._take(finding, references, puts)
                except _RefusedError as refusal:
                    news[place] = str(refusal)
            if not news:
                result = tuple(uuids.get(place, "") for place in range(len(findings)))
                return Plan(tuple(puts.values()), result, tuple(sorted(refused.items())))
            refused |= news

    def _take(
        self, finding: GivenFinding, references: References, puts: dict[str, FindingChange]
    ) -> str:
        if not all(name_key(end.name) for end in finding.about):
            raise _RefusedError(BLANK_NAME)
        about = frozenset(references.about(finding))
        if "" in about:
            raise _RefusedError(UNKNOWN_FINDING)
        if any(uuid not in self.episodes for uuid in finding.episodes):
            raise _RefusedError(FOREIGN_EPISODE)
        uuid = references.uuid(finding)
        if uuid in about:
            raise _RefusedError(ITSELF)
        put = self._put(uuid, finding, about)
        puts[uuid] = _joined(puts[uuid], put) if uuid in puts else put
        return uuid

    def _put(self, uuid: str, finding: GivenFinding, about: frozenset[str]) -> FindingChange:
        stored = self.stored.get(uuid)
        episodes = frozenset(finding.episodes)
        if stored is not None and not finding.id:
            episodes |= stored.episodes
        vector = _vector(stored, finding)
        return FindingChange(uuid, finding, about, digest(finding, about), episodes, vector, stored)


class _RefusedError(Exception):
    """The reason why a finding is refused."""


def _joined(earlier: FindingChange, put: FindingChange) -> FindingChange:
    """Merges a finding that is given twice in one call."""
    if earlier.digest != put.digest:
        raise _RefusedError(TWICE)
    return replace(
        earlier, episodes=earlier.episodes | put.episodes, vector=earlier.vector or put.vector
    )


def _vector(stored: StoredFinding | None, finding: GivenFinding) -> tuple[float, ...] | None:
    """Returns the vector to set; None keeps the stored one, which belongs to the same statement."""
    if stored is None:
        return finding.embedding
    if stored.embedded and stored.statement == finding.fields.statement:
        return None
    return finding.embedding if stored.embedded or finding.embedding else None


def references_of(space: str, findings: Iterable[GivenFinding]) -> set[str]:
    """Returns all uuids that findings' references may stand for."""
    found = (candidates(space, one) for finding in findings for one in finding.about_findings)
    return {uuid for pair in found for uuid in pair}
