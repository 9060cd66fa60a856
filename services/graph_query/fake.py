"""The graph in memory, computed anew after every write: what the real store must equal step by step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from copy import deepcopy
from datetime import datetime

from services.graph_query.domain import (
    DeletionCounts,
    EndedFact,
    EpisodeCounts,
    FactCounts,
    GivenFact,
    Passage,
)
from services.graph_query.embeddings.fake import FakeEmbeddings
from services.graph_query.endings import CALLER
from services.graph_query.fact_batch import FactBatch
from services.graph_query.fake_readings import FakeReadings, forget_readings
from services.graph_query.fake_reads import FakeReads, as_fact
from services.graph_query.fake_space import FakeSpace
from services.graph_query.findings.fake import FakeFindings
from services.graph_query.history.fake import FakeHistory
from services.graph_query.intervals import start_of
from services.graph_query.inventory.fake import FakeInventory
from services.graph_query.ordering.fake import FakeOrdering
from services.graph_query.past.fake import FakePast
from services.graph_query.structure.fake import FakeStructure
from services.runtime.errors import (
    FieldError,
    InvalidFieldError,
    NotFoundError,
)


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
