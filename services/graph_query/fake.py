"""The graph in memory, computed anew after every write: what the real store must equal step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from services.graph_query.domain import (
    DeletionCounts,
    EntityName,
    EpisodeCounts,
    FactCounts,
    GivenFact,
    Passage,
)
from services.graph_query.entity_resolution import resolve
from services.graph_query.fake_reads import FakeReads
from services.graph_query.fake_space import FakeSpace, StoredFact
from services.graph_query.identity import fact_uuid
from services.graph_query.intervals import end_of, start_of
from services.runtime.errors import FieldError, InvalidFieldError, WrongStateError
from services.runtime.times import utc_now


class FakeGraphStore(FakeReads):
    """`GraphStore` in memory, for unit tests. `failure` is raised by every call while it is set."""

    async def add_episodes(self, space: str, passages: Sequence[Passage]) -> EpisodeCounts:
        """Adds passages; one that is there and unchanged changes nothing."""
        held = self._writable(space)
        self._refuse_foreign(space, passages)
        before = held.picture()
        for passage in passages:
            held.passages[passage.uuid] = replace(passage, reference_time=None)
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
        held = self._writable(space)
        before = held.picture()
        facts = len(held.facts)
        gone = [held.passages.pop(uuid) for uuid in uuids if uuid in held.passages]
        left = {passage.document_id for passage in held.passages.values()}
        held.drop_claims({passage.document_id for passage in gone} - left)
        held.rebuild()
        after = held.picture()
        lost = before.local_facts - after.local_facts
        removed = {passage.uuid for passage in gone}
        return DeletionCounts(
            episodes=len(gone),
            facts=facts - len(held.facts),
            local_facts=sum(episode in removed for episode, *_ in lost),
            mentions=len(before.mentions - after.mentions),
            entities=len(before.entities - after.entities),
        )

    async def add_facts(self, space: str, facts: Sequence[GivenFact], model: str) -> FactCounts:
        """Adds facts that are not there yet."""
        held = self._writable(space)
        if model and held.model not in ("", model):
            raise WrongStateError("The space holds vectors of another model.")
        ends = [end for fact in facts for end in (fact.subject, fact.object)]
        found = resolve(space, ends, held.types)
        held.types = {**held.types, **found.by_key}
        for uuid, _, name, _ in found.created:
            held.names.setdefault(uuid, name)
        added = sum(_stored(held, fact, found.uuid) for fact in facts)
        if any(fact.embedding for fact in facts):
            held.model = held.model or model
        held.rebuild()
        return FactCounts(added, len(facts) - added, held.revision)

    def _refuse_foreign(self, space: str, passages: Iterable[Passage]) -> None:
        others = (held for name, held in self.spaces.items() if name != space)
        taken = {uuid for held in others for uuid in held.passages}
        if any(passage.uuid in taken for passage in passages):
            raise InvalidFieldError(FieldError("uuid", "is not the id of a chunk of this space"))

    def _writable(self, space: str) -> FakeSpace:
        if self.failure is not None:
            raise self.failure
        return self.spaces.setdefault(space, FakeSpace(space))


def _stored(held: FakeSpace, fact: GivenFact, uuid_of: Callable[[EntityName], str]) -> bool:
    """Stores a fact; whether it is new."""
    ends = (uuid_of(fact.subject), uuid_of(fact.object))
    interval = (start_of(fact.valid_at), end_of(fact.invalid_at))
    uuid = fact_uuid(held.space, ends, fact.relation, interval)
    new = uuid not in held.facts
    stored = held.facts.setdefault(uuid, StoredFact(uuid, *ends, fact, utc_now()))
    stored.embedding = stored.embedding or tuple(fact.embedding)
    if fact.document_id:
        stored.documents.add(fact.document_id)
    return new
