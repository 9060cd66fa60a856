"""Episodes with what language models read in them, in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from services.graph_query.claims import GivenEnds, clean_end, episode_claimant
from services.graph_query.domain import EpisodeCounts, Passage
from services.graph_query.extracted import DescribedEntity, Reading
from services.graph_query.fake_space import FakeSpace, Told
from services.graph_query.findings.fake import FakeFindings
from services.graph_query.intervals import start_of


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
