"""The whole graph store in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.graph_query.core.domain import (
    DeletionCounts,
    DescribedEntity,
    EndedFact,
    EpisodeCounts,
    FactCounts,
    FactFilter,
    GivenFact,
    Passage,
)
from services.graph_query.core.fact_batch import FactBatch, GivenEnds, clean_end, episode_claimant
from services.graph_query.core.intervals import start_of
from services.graph_query.core.invalidation import CALLER
from services.graph_query.episodes.extraction_result import Reading
from services.graph_query.search.reranking import FARTHEST
from services.runtime.errors import FieldError, InvalidFieldError, NotFoundError
from tests.oracles.graph.as_known import FakePast
from tests.oracles.graph.embeddings import FakeEmbeddings
from tests.oracles.graph.findings import FakeFindings
from tests.oracles.graph.history import FakeHistory
from tests.oracles.graph.inventory import FakeInventory
from tests.oracles.graph.reads import FakeReads, as_fact, joining_facts
from tests.oracles.graph.space import FakeSpace, Told
from tests.oracles.graph.structure import FakeStructure


@dataclass(frozen=True, slots=True)
class FakeOrdering:
    """`OrderingStore` over the spaces of a fake graph."""

    graph: FakeReads

    async def entities_named(self, space: str, name_key: str, entity_type: str) -> list[str]:
        """Uuids of the entities of a name."""
        named = self.graph.readable(space).types.get(name_key, {})
        return [uuid for kind, uuid in named.items() if entity_type in ("", kind)]

    async def fact_vectors(self, space: str, uuids: Sequence[str]) -> dict[str, Sequence[float]]:
        """Vectors of facts."""
        facts = self.graph.readable(space).facts
        return {
            uuid: facts[uuid].embedding for uuid in uuids if uuid in facts and facts[uuid].embedding
        }

    async def distances(
        self, space: str, centers: Sequence[str], uuids: Sequence[str], only: FactFilter
    ) -> dict[str, int]:
        """How far entities are from the nearest centre, ring by ring."""
        joined: dict[str, set[str]] = defaultdict(set)
        for fact in joining_facts(self.graph.readable(space), FactFilter(only.since, only.until)):
            joined[fact.source.uuid].add(fact.target.uuid)
            joined[fact.target.uuid].add(fact.source.uuid)
        reached = dict.fromkeys(centers, 0)
        ring = set(centers)
        for distance in range(1, FARTHEST + 1):
            ring = {far for near in ring for far in joined[near]} - reached.keys()
            reached |= dict.fromkeys(ring, distance)
        return {uuid: reached[uuid] for uuid in uuids if reached.get(uuid)}


class Writer(Protocol):
    """The fake that the readings are part of."""

    findings: FakeFindings

    def writable(self, space: str) -> FakeSpace:
        """The space to write to."""

    def refuse_foreign(self, space: str, passages: Sequence[Passage]) -> None:
        """InvalidFieldError for episodes of another space."""


class FakeReadings:
    """`ReadingStore` in memory, for unit tests."""

    def __init__(self, store: Writer) -> None:
        self._store = store

    async def unread(self, space: str, passages: Sequence[Passage]) -> list[Passage]:
        """Those that no model has read as they are."""
        held = self._store.writable(space)
        self._store.refuse_foreign(space, passages)
        return [one for one in passages if not _is_read(held, one)]

    async def add_reading(
        self, space: str, passage: Passage, reading: Reading, model: str
    ) -> EpisodeCounts:
        """Adds a passage with what was read in it; one that is read already changes nothing."""
        held = self._store.writable(space)
        self._store.refuse_foreign(space, [passage])
        held.check_vectors(model, reading.vector_length())
        further = held.note_starts([passage])
        if _is_read(held, passage):
            if further:
                held.rebuild()
            return EpisodeCounts(revision=held.revision)
        before, facts = held.picture(), set(held.facts)
        forget_readings(held, [passage.uuid])
        self._store.findings.forget_extracted(space, [passage.uuid])
        held.passages[passage.uuid] = passage.untimed()
        ended = _take(held, passage.uuid, reading)
        if length := reading.vector_length():
            held.note_vectors(model, length)
        held.rebuild()
        if reading.findings:
            await self._store.findings.add_findings(space, reading.findings, model)
        after = held.picture()
        return EpisodeCounts(
            episodes=len(after.episodes - before.episodes),
            entities=len(after.entities - before.entities),
            mentions=len(after.mentions - before.mentions),
            local_facts=len(after.local_facts - before.local_facts),
            facts=len(held.facts.keys() - facts),
            ended=ended,
            revision=held.revision,
        )


def forget_readings(held: FakeSpace, episodes: Collection[str]) -> int:
    """Takes back what was read in episodes; how many facts that they ended end otherwise now."""
    before = ends_of(held)
    for episode in episodes:
        _forget_descriptions(held, episode)
        for told in held.told.values():
            told.endings.pop(episode, None)
        for kept in held.ended.values():
            kept.pop(episode, None)
    held.drop_claims({episode_claimant(episode) for episode in episodes})
    held.state_facts()
    after = ends_of(held)
    return sum(uuid in after and after[uuid] != end for uuid, end in before.items())


def ends_of(held: FakeSpace) -> dict[str, datetime | None]:
    """When each fact ends."""
    return {uuid: fact.given.invalid_at for uuid, fact in held.facts.items()}


def _is_read(held: FakeSpace, passage: Passage) -> bool:
    same = held.passages.get(passage.uuid) == passage.untimed()
    return same and passage.uuid in held.read


def _take(held: FakeSpace, episode: str, reading: Reading) -> int:
    """Takes in what was read; how many facts end otherwise now."""
    before, by_uuid = ends_of(held), _told_by_uuid(held)
    for uuid, given in reading.supported:
        if uuid not in by_uuid:
            held.tell(given)
        for told in by_uuid.get(uuid, ())[:1]:
            told.claims.add((episode_claimant(episode), GivenEnds.of(given)))
    for uuid, at in reading.contradicted:
        for told in by_uuid.get(uuid, ()):
            if start_of(told.first.valid_at) < at.timestamp():
                told.endings[episode] = at
    held.state_facts()
    after = ends_of(held)
    for fact in reading.facts:
        held.tell(fact)
    held.read[episode] = list(reading.entities)
    return sum(after[uuid] != end for uuid, end in before.items())


def _told_by_uuid(held: FakeSpace) -> dict[str, list[Told]]:
    found = held.resolution()
    by_uuid: dict[str, list[Told]] = {}
    for told in held.told.values():
        by_uuid.setdefault(held.uuid_of(told.first, found), []).append(told)
    return by_uuid


def _forget_descriptions(held: FakeSpace, episode: str) -> None:
    """What later episodes say of the same entities was written with the former before the model's eyes."""
    if episode not in held.read:
        return
    order = list(held.read)
    found = held.resolution()
    gone = {found.uuid(clean_end(one.name)) for one in held.read.pop(episode)}
    for later in order[order.index(episode) + 1 :]:
        held.read[later] = [
            DescribedEntity(one.name) if found.uuid(clean_end(one.name)) in gone else one
            for one in held.read[later]
        ]


class FakeGraphStore(FakeReads):
    """`GraphStore` in memory, for unit tests. `failure` is raised by every call while it is set."""

    def __init__(self) -> None:
        super().__init__()
        self.findings = FakeFindings(self)
        self.readings = FakeReadings(self)
        self.history = FakeHistory(self)
        self.ordering = FakeOrdering(self)
        self.past = FakePast(self)
        self.structure = FakeStructure(self)
        self.inventory = FakeInventory(self)
        self.embeddings = FakeEmbeddings(self)

    async def add_episodes(self, space: str, passages: Sequence[Passage]) -> EpisodeCounts:
        """Adds passages; one that is there and unchanged changes nothing."""
        held = self.writable(space)
        self.refuse_foreign(space, passages)
        fresh = [one.untimed() for one in passages]
        further = held.note_starts(passages)
        if not further and all(held.passages.get(passage.uuid) == passage for passage in fresh):
            return EpisodeCounts(revision=held.revision)
        changed = [one.uuid for one in fresh if held.passages.get(one.uuid) != one]
        before = held.picture()
        forget_readings(held, changed)
        self.findings.forget_extracted(space, changed)
        for passage in fresh:
            held.passages[passage.uuid] = passage
        held.rebuild()
        after = held.picture()
        return EpisodeCounts(
            episodes=len(after.episodes - before.episodes),
            entities=len(after.entities - before.entities),
            mentions=len(after.mentions - before.mentions),
            local_facts=len(after.local_facts - before.local_facts),
            revision=held.revision,
        )

    async def delete_episodes(self, space: str, uuids: Sequence[str]) -> DeletionCounts:
        """Removes episodes, and facts that only their documents claimed."""
        return await self.remove(space, uuids)

    async def remove(
        self,
        space: str,
        uuids: Sequence[str],
        claimed: Collection[str] = (),
        *,
        erase: bool = False,
    ) -> DeletionCounts:
        """Removes episodes, and facts that only `claimed` documents and those without episodes claimed.

        With `erase` also what they had made known of the past.
        """
        held = self.writable(space)
        before = held.picture()
        facts = len(held.facts)
        revived = forget_readings(held, [uuid for uuid in uuids if uuid in held.passages])
        gone = [held.passages.pop(uuid) for uuid in uuids if uuid in held.passages]
        if not gone and not claimed:
            return DeletionCounts()
        left = {passage.document_id for passage in held.passages.values()}
        held.drop_claims({passage.document_id for passage in gone} - left | set(claimed))
        held.rebuild()
        versions = held.erase(claimed, {passage.uuid for passage in gone}) if erase else 0
        after = held.picture()
        lost = before.local_facts - after.local_facts
        removed = {passage.uuid for passage in gone}
        return DeletionCounts(
            episodes=len(gone),
            facts=facts - len(held.facts),
            local_facts=sum(episode in removed for episode, *_ in lost),
            mentions=len(before.mentions - after.mentions),
            entities=len(before.entities - after.entities),
            revived=revived,
            findings=self.findings.forget_episodes(space, removed),
            versions=versions,
        )

    async def add_facts(
        self, space: str, facts: Sequence[GivenFact] | FactBatch, model: str
    ) -> FactCounts:
        """Adds facts that are not there yet."""
        given = facts.given() if isinstance(facts, FactBatch) else facts
        held = self.writable(space)
        length = next((len(fact.embedding) for fact in given if fact.embedding), 0)
        held.check_vectors(model, length)
        before = deepcopy(held.told)
        for fact in given:
            held.tell(fact)
        if held.told == before:
            return FactCounts(0, len(facts), held.revision)
        found = held.resolution()
        there = {held.uuid_of(told.first, found) for told in before.values()}
        if length:
            held.note_vectors(model, length)
        held.rebuild()
        added = len({held.uuid_of(fact, found) for fact in given} - there)
        return FactCounts(added, len(facts) - added, held.revision)

    async def end_fact(self, space: str, uuid: str, at: datetime) -> EndedFact:
        """Ends a fact by a caller's word."""
        held = self.writable(space)
        if uuid not in held.facts:
            raise NotFoundError("fact")
        if start_of(held.facts[uuid].given.valid_at) >= at.timestamp():
            raise InvalidFieldError(
                FieldError("invalid_time", "must be after the time since when the fact holds")
            )
        before, found = held.facts[uuid].given.invalid_at, held.resolution()
        told = [one for one in held.told.values() if held.uuid_of(one.first, found) == uuid]
        if any(one.endings.get(CALLER) != at for one in told):
            for one in told:
                one.endings[CALLER] = at
            held.rebuild()
        return EndedFact(as_fact(held, held.facts[uuid]), before != at, held.revision)

    def refuse_foreign(self, space: str, passages: Iterable[Passage]) -> None:
        """InvalidFieldError for episodes of another space."""
        others = (held for name, held in self.spaces.items() if name != space)
        taken = {uuid for held in others for uuid in held.passages}
        if any(passage.uuid in taken for passage in passages):
            raise InvalidFieldError(FieldError("uuid", "is not the id of a chunk of this space"))

    def writable(self, space: str) -> FakeSpace:
        """The space to write to. Raises `failure` when it is set."""
        if self.failure is not None:
            raise self.failure
        return self.spaces.setdefault(space, FakeSpace(space))
