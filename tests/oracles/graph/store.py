"""The in-memory graph store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
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
from services.graph_query.core.fact_batch import (
    FactBatch,
    GivenEnds,
    episode_claimant,
    normalized_entity_name,
)
from services.graph_query.core.intervals import start_of
from services.graph_query.core.invalidation import CALLER, NOT_AFTER_START
from services.graph_query.episodes.extraction_result import ExtractionResult
from services.graph_query.search.reranking import FARTHEST
from services.runtime.errors import FieldError, InvalidFieldError, NotFoundError
from tests.oracles.graph.as_known import FakeAsKnown
from tests.oracles.graph.corrections import FakeCorrections, note_sources
from tests.oracles.graph.embeddings import FakeEmbeddings
from tests.oracles.graph.findings import FakeFindings
from tests.oracles.graph.history import FakeHistory
from tests.oracles.graph.reads import FakeReads, as_fact, joining_facts
from tests.oracles.graph.space import FakeSpace, StatedFact


@dataclass(frozen=True, slots=True)
class FakeReranking:
    """Implements `RerankingStore` over the spaces of a fake graph."""

    graph: FakeReads

    async def entities_named(self, space: str, name_key: str, entity_type: str) -> list[str]:
        """Returns the uuids of the entities with a name."""
        named = self.graph.readable(space).types.get(name_key, {})
        return [uuid for kind, uuid in named.items() if entity_type in ("", kind)]

    async def fact_vectors(self, space: str, uuids: Sequence[str]) -> dict[str, Sequence[float]]:
        """Returns the vectors of facts."""
        facts = self.graph.readable(space).facts
        return {
            uuid: facts[uuid].embedding for uuid in uuids if uuid in facts and facts[uuid].embedding
        }

    async def distances(
        self, space: str, centers: Sequence[str], uuids: Sequence[str], only: FactFilter
    ) -> dict[str, int]:
        """Returns the distances of entities from the nearest center, by breadth-first search."""
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
    """The fake store to which the extractions belong."""

    findings: FakeFindings

    def writable(self, space: str) -> FakeSpace:
        """Returns the space to write to."""


class FakeExtractions:
    """Implements `ExtractionStore` in memory."""

    def __init__(self, store: Writer) -> None:
        self._store = store

    async def unread(self, space: str, passages: Sequence[Passage]) -> list[Passage]:
        """Returns the passages without an extraction of their present text."""
        stored = self._store.writable(space)
        return [one for one in passages if not _is_read(stored, one)]

    async def add_extraction(
        self, space: str, passage: Passage, reading: ExtractionResult, model: str
    ) -> EpisodeCounts:
        """Adds a passage with its extraction; an already extracted passage changes nothing."""
        stored = self._store.writable(space)
        stored.check_vectors(model, reading.vector_length())
        further = stored.note_starts([passage])
        if _is_read(stored, passage):
            if further:
                stored.rebuild()
            return EpisodeCounts(revision=stored.revision)
        before, facts = stored.graph_sets(), set(stored.facts)
        forget_extractions(stored, [passage.uuid])
        self._store.findings.forget_extracted(space, [passage.uuid])
        stored.passages[passage.uuid] = passage.untimed()
        ended = _apply_extraction(stored, passage.uuid, reading)
        if length := reading.vector_length():
            stored.note_vectors(model, length)
        stored.rebuild()
        if reading.findings:
            await self._store.findings.add_findings(space, reading.findings, model)
        after = stored.graph_sets()
        return EpisodeCounts(
            episodes=len(after.episodes - before.episodes),
            entities=len(after.entities - before.entities),
            mentions=len(after.mentions - before.mentions),
            local_facts=len(after.local_facts - before.local_facts),
            facts=len(stored.facts.keys() - facts),
            ended=ended,
            revision=stored.revision,
        )


def forget_extractions(stored: FakeSpace, episodes: Collection[str]) -> int:
    """Removes the extractions of episodes; returns how many facts have another end now."""
    before = ends_of(stored)
    for episode in episodes:
        _forget_descriptions(stored, episode)
        for value in stored.stated.values():
            value.endings.pop(episode, None)
        for kept in stored.ended.values():
            kept.pop(episode, None)
    stored.drop_claims({episode_claimant(episode) for episode in episodes})
    stored.state_facts()
    after = ends_of(stored)
    return sum(uuid in after and after[uuid] != end for uuid, end in before.items())


def ends_of(stored: FakeSpace) -> dict[str, datetime | None]:
    """Returns the end of each fact."""
    return {uuid: fact.given.invalid_at for uuid, fact in stored.facts.items()}


def _is_read(stored: FakeSpace, passage: Passage) -> bool:
    same = stored.passages.get(passage.uuid) == passage.untimed()
    return same and passage.uuid in stored.descriptions


def _apply_extraction(stored: FakeSpace, episode: str, reading: ExtractionResult) -> int:
    """Applies an extraction; returns how many facts have another end now."""
    before, by_uuid = ends_of(stored), _stated_by_uuid(stored)
    for uuid, given in reading.supported:
        if uuid not in by_uuid:
            stored.add_statement(given)
        for value in by_uuid.get(uuid, ())[:1]:
            value.claims.add((episode_claimant(episode), GivenEnds.of(given)))
    for uuid, at in reading.contradicted:
        for value in by_uuid.get(uuid, ()):
            if start_of(value.first.valid_at) < at.timestamp():
                value.endings[episode] = at
    stored.state_facts()
    after = ends_of(stored)
    for fact in reading.facts:
        stored.add_statement(fact)
    stored.descriptions[episode] = list(reading.entities)
    return sum(after[uuid] != end for uuid, end in before.items())


def _stated_by_uuid(stored: FakeSpace) -> dict[str, list[StatedFact]]:
    found = stored.resolution()
    by_uuid: dict[str, list[StatedFact]] = {}
    for value in stored.stated.values():
        by_uuid.setdefault(stored.uuid_of(value.first, found), []).append(value)
    return by_uuid


def _forget_descriptions(stored: FakeSpace, episode: str) -> None:
    """Removes an episode's descriptions, and later ones of the same entities, which the model wrote knowing them."""
    if episode not in stored.descriptions:
        return
    order = list(stored.descriptions)
    found = stored.resolution()
    gone = {
        found.uuid(normalized_entity_name(one.name)) for one in stored.descriptions.pop(episode)
    }
    for later in order[order.index(episode) + 1 :]:
        stored.descriptions[later] = [
            DescribedEntity(one.name)
            if found.uuid(normalized_entity_name(one.name)) in gone
            else one
            for one in stored.descriptions[later]
        ]


class FakeGraphStore(FakeReads):
    """Implements `GraphStore` in memory. Every call raises `failure` while it is set."""

    def __init__(self) -> None:
        super().__init__()
        self.findings = FakeFindings(self)
        self.extractions = FakeExtractions(self)
        self.history = FakeHistory(self)
        self.reranking = FakeReranking(self)
        self.as_known = FakeAsKnown(self)
        self.embeddings = FakeEmbeddings(self)
        self.corrections = FakeCorrections(self)

    async def add_episodes(self, space: str, passages: Sequence[Passage]) -> EpisodeCounts:
        """Adds passages; an existing, unchanged passage changes nothing."""
        stored = self.writable(space)
        fresh = [one.untimed() for one in passages]
        further = stored.note_starts(passages)
        if not further and all(stored.passages.get(passage.uuid) == passage for passage in fresh):
            return EpisodeCounts(revision=stored.revision)
        changed = [one.uuid for one in fresh if stored.passages.get(one.uuid) != one]
        before = stored.graph_sets()
        forget_extractions(stored, changed)
        self.findings.forget_extracted(space, changed)
        for passage in fresh:
            stored.passages[passage.uuid] = passage
        stored.rebuild()
        after = stored.graph_sets()
        return EpisodeCounts(
            episodes=len(after.episodes - before.episodes),
            entities=len(after.entities - before.entities),
            mentions=len(after.mentions - before.mentions),
            local_facts=len(after.local_facts - before.local_facts),
            revision=stored.revision,
        )

    async def delete_episodes(self, space: str, uuids: Sequence[str]) -> DeletionCounts:
        """Removes episodes, and facts that only their documents stated."""
        return await self.remove(space, uuids)

    async def remove(
        self,
        space: str,
        uuids: Sequence[str],
        claimed: Collection[str] = (),
        *,
        erase: bool = False,
    ) -> DeletionCounts:
        """Removes episodes, and facts stated only by `claimed` documents and by documents without episodes left.

        With `erase`, also removes the past versions that only they had stated.
        """
        stored = self.writable(space)
        before = stored.graph_sets()
        facts = len(stored.facts)
        revived = forget_extractions(stored, [uuid for uuid in uuids if uuid in stored.passages])
        gone = [stored.passages.pop(uuid) for uuid in uuids if uuid in stored.passages]
        if not gone and not claimed:
            return DeletionCounts()
        left = {passage.document_id for passage in stored.passages.values()}
        stored.drop_claims({passage.document_id for passage in gone} - left | set(claimed))
        stored.rebuild()
        versions = stored.erase(claimed, {passage.uuid for passage in gone}) if erase else 0
        after = stored.graph_sets()
        lost = before.local_facts - after.local_facts
        removed = {passage.uuid for passage in gone}
        return DeletionCounts(
            episodes=len(gone),
            facts=facts - len(stored.facts),
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
        """Adds facts that do not exist yet."""
        given = facts.given() if isinstance(facts, FactBatch) else facts
        source = (facts.source or "") if isinstance(facts, FactBatch) else ""
        stored = self.writable(space)
        length = next((len(fact.embedding) for fact in given if fact.embedding), 0)
        stored.check_vectors(model, length)
        before = deepcopy(stored.stated)
        for fact in given:
            stored.add_statement(fact)
        found = stored.resolution()
        uuids = {stored.uuid_of(fact, found) for fact in given}
        uuids = {stored.aliases.get(uuid, uuid) for uuid in uuids}
        existing_uuids = {stored.uuid_of(value.first, found) for value in before.values()}
        if stored.stated == before:
            note_sources(stored, source, uuids, existing_uuids)
            return FactCounts(0, len(facts), stored.revision, stored.source_revision)
        if length:
            stored.note_vectors(model, length)
        revision = stored.revision + 1
        note_sources(stored, source, uuids, existing_uuids)
        stored.rebuild()
        stored.revision = revision
        added = len(uuids - existing_uuids)
        return FactCounts(added, len(facts) - added, stored.revision, stored.source_revision)

    async def end_fact(self, space: str, uuid: str, at: datetime) -> EndedFact:
        """Ends a fact at a caller's request."""
        stored = self.writable(space)
        if uuid not in stored.facts:
            raise NotFoundError("fact")
        if start_of(stored.facts[uuid].given.valid_at) >= at.timestamp():
            raise InvalidFieldError(FieldError("invalid_time", NOT_AFTER_START))
        before, found = stored.facts[uuid].given.invalid_at, stored.resolution()
        rows = [one for one in stored.stated.values() if stored.uuid_of(one.first, found) == uuid]
        if any(one.endings.get(CALLER) != at for one in rows):
            for one in rows:
                one.endings[CALLER] = at
            stored.rebuild()
        return EndedFact(as_fact(stored, stored.facts[uuid]), before != at, stored.revision)

    def writable(self, space: str) -> FakeSpace:
        """Returns the space to write to. Raises `failure` if it is set."""
        if self.failure is not None:
            raise self.failure
        return self.spaces.setdefault(space, FakeSpace(space))
