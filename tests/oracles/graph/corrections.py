"""In-memory withdrawals, corrections and sources of facts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from services.graph_query.core.domain import EntityName, GivenFact
from services.graph_query.core.fact_batch import GivenEnds, claimed_episode
from services.graph_query.core.fact_changes import (
    ChangeKind,
    CorrectedFact,
    CorrectedField,
    FactChange,
    FactCorrection,
    FactState,
    Outcome,
    Provenance,
    Settlement,
    Vector,
)
from services.runtime.errors import NotFoundError
from tests.oracles.graph.reads import as_fact
from tests.oracles.graph.space import FakeSpace, Sourced, StatedFact

_LISTED = 100


class Writer(Protocol):
    """The fake store to which the corrections belong."""

    def writable(self, space: str) -> FakeSpace:
        """Returns the space to write to."""


def note_sources(
    stored: FakeSpace, source: str, uuids: Collection[str], existing: Collection[str]
) -> None:
    """Records that a source states facts of which some existed before; "" is no source.

    What a source states for the first time changes the space; what it states again does not.
    """
    if not source:
        for stated in stored.sources.values():
            for uuid in stated.keys() & set(uuids) & set(existing):
                stated[uuid].shared = True
        return
    stated = stored.sources.setdefault(source, {})
    stored.source_revision += 1
    if not set(uuids) <= stated.keys():
        stored.revision += 1
    for uuid in uuids:
        others = any(uuid in facts for name, facts in stored.sources.items() if name != source)
        result = stated.setdefault(uuid, Sourced(0, uuid in existing and not others))
        result.revision = stored.source_revision


@dataclass(frozen=True, slots=True)
class FakeCorrections:
    """Implements `CorrectionStore` over the spaces of a fake graph."""

    graph: Writer

    async def withdraw_facts(
        self, space: str, uuids: Sequence[str], by: Provenance
    ) -> tuple[Mapping[str, Outcome], int]:
        """Withdraws facts."""
        stored = self.graph.writable(space)
        outcomes = {uuid: _outcome(stored, uuid) for uuid in uuids}
        _withdraw(stored, [uuid for uuid, one in outcomes.items() if one is Outcome.WITHDRAWN], by)
        return outcomes, stored.revision

    async def stated(self, space: str, uuid: str) -> FactState:
        """Returns a standing fact."""
        stored = self.graph.writable(space)
        return _state(stored, _standing(stored, uuid))

    async def correct_fact(
        self,
        space: str,
        uuid: str,
        correction: FactCorrection,
        by: Provenance,
        vector: Vector | None = None,
    ) -> CorrectedFact:
        """Corrects a fact."""
        stored = self.graph.writable(space)
        asked, uuid = uuid, _standing(stored, uuid)
        state = _state(stored, uuid)
        corrected = correction.applied(state)
        if corrected.equals(state):
            fact = as_fact(stored, stored.facts[uuid])
            return CorrectedFact(fact, False, asked if asked != uuid else "", stored.revision)
        new = _correct(stored, uuid, corrected, correction, vector)
        stored.rebuild()
        change = FactChange(ChangeKind.CORRECTED, by, new)
        stored.versions.note_changes({uuid: change}, _now(stored))
        fact = as_fact(stored, stored.facts[new])
        return CorrectedFact(fact, True, asked if new != asked else "", stored.revision)

    async def settle_source(
        self, space: str, source: str, first_revision: int, by: Provenance | None
    ) -> Settlement:
        """Finds what a source no longer states, and withdraws it if `by` is given."""
        stored = self.graph.writable(space)
        stated = stored.sources.get(source, {})
        missing = sorted(
            uuid
            for uuid, one in stated.items()
            if not first_revision or one.revision < first_revision
        )
        facts = tuple(as_fact(stored, stored.facts[uuid]) for uuid in missing[:_LISTED])
        gone: list[str] = []
        if by is not None:
            gone = [uuid for uuid in missing if not _is_supported(stored, source, uuid)]
            for uuid in missing:
                del stated[uuid]
            _withdraw(stored, gone, by)
        return Settlement(facts, len(missing), len(gone), stored.revision)


def _standing(stored: FakeSpace, uuid: str) -> str:
    """Returns the fact that replaced another one by corrections, or else that one."""
    while uuid not in stored.facts:
        changes = [one.change for one in stored.versions.every if one.uuid == uuid]
        if not changes or changes[-1] is None or not changes[-1].replacement:
            break
        uuid = changes[-1].replacement
    return uuid


def _outcome(stored: FakeSpace, uuid: str) -> Outcome:
    if uuid in stored.facts:
        return Outcome.WITHDRAWN
    versions = sorted(
        (one for one in stored.versions.every if one.uuid == uuid), key=lambda one: one.known_until
    )
    withdrawn = versions and versions[-1].change is not None
    return Outcome.ALREADY_WITHDRAWN if withdrawn else Outcome.NOT_FOUND


def _withdraw(stored: FakeSpace, uuids: Sequence[str], by: Provenance) -> None:
    if not uuids:
        return
    for uuid in uuids:
        stored.take_back(uuid)
    stored.rebuild()
    change = FactChange(ChangeKind.WITHDRAWN, by)
    stored.versions.note_changes(dict.fromkeys(uuids, change), _now(stored))


def _is_supported(stored: FakeSpace, source: str, uuid: str) -> bool:
    others = any(uuid in facts for name, facts in stored.sources.items() if name != source)
    episodes = any(claimed_episode(one) for one in stored.facts[uuid].documents)
    return others or episodes or stored.sources[source][uuid].shared


def _state(stored: FakeSpace, uuid: str) -> FactState:
    if uuid not in stored.facts:
        raise NotFoundError("fact")
    fact = stored.facts[uuid]
    ends = (stored.ref(fact.source), stored.ref(fact.target))
    subject, target = (EntityName(end.name, end.type) for end in ends)
    given = fact.given
    return FactState(
        subject,
        given.relation,
        target,
        given.fact,
        given.valid_at,
        given.invalid_at,
        dict(given.attributes),
    )


def _correct(
    stored: FakeSpace,
    uuid: str,
    corrected: FactState,
    correction: FactCorrection,
    vector: Vector | None,
) -> str:
    """Corrects the statements of a fact; returns the fact that states it now."""
    state, rows = _state(stored, uuid), stored.statements(uuid)
    embedding = vector.values if vector and vector.statement == corrected.statement else ()
    made = [_corrected(one, corrected, correction, tuple(embedding)) for one in rows]
    found = stored.resolution()
    if corrected.identity == state.identity:
        identity = stored.uuid_of(made[0], found)
        other = stored.aliases.get(identity, identity)
        if other == uuid or other not in stored.facts:
            _in_place(stored, uuid, rows, made, correction)
            if identity != uuid:
                stored.aliases[identity] = uuid
            return uuid
        _move(stored, uuid, rows, made, correction)
        stored.aliases |= {one: other for one, to in stored.aliases.items() if to == uuid}
        stored.aliases[uuid] = other
        _take_text(stored.statements(other), made[0], correction)
        return other
    _move(stored, uuid, rows, made, correction)
    return stored.uuid_of(made[0], stored.resolution())


def _in_place(
    stored: FakeSpace,
    uuid: str,
    rows: Sequence[StatedFact],
    made: Sequence[GivenFact],
    correction: FactCorrection,
) -> None:
    for row, given in zip(rows, made, strict=True):
        if given.fact != row.current.fact:
            row.embedding = tuple(given.embedding)
        row.corrected = given
        if CorrectedField.END in correction.fields:
            row.endings = {}
            stored.ended.pop(uuid, None)


def _move(
    stored: FakeSpace,
    uuid: str,
    rows: Sequence[StatedFact],
    made: Sequence[GivenFact],
    correction: FactCorrection,
) -> None:
    kept = {} if CorrectedField.END in correction.fields else dict(stored.ended.get(uuid, {}))
    sources = {name: facts[uuid] for name, facts in stored.sources.items() if uuid in facts}
    stored.take_back(uuid)
    for row, given in zip(rows, made, strict=True):
        for claimant, ends in sorted(row.claims):
            stored.add_statement(_of_claim(given, claimant, ends, correction))
        endings = {} if CorrectedField.END in correction.fields else {**kept, **row.endings}
        found = stored.resolution()
        target = stored.uuid_of(given, found)
        for one in stored.statements(target):
            one.endings.update(endings)
            if target not in stored.facts:
                one.corrects = uuid
        for name, sourced in sources.items():
            stored.sources[name].setdefault(target, sourced)


def _take_text(rows: Sequence[StatedFact], made: GivenFact, correction: FactCorrection) -> None:
    """Gives the corrected text and attributes to an existing fact."""
    for row in rows:
        if CorrectedField.STATEMENT in correction.fields:
            row.corrected = replace(row.current, fact=made.fact, embedding=made.embedding)
        if CorrectedField.ATTRIBUTES in correction.fields:
            row.corrected = replace(row.current, attributes=made.attributes)


def _of_claim(
    given: GivenFact,
    claimant: str,
    ends: GivenEnds,
    correction: FactCorrection,
) -> GivenFact:
    episode = claimed_episode(claimant)
    return replace(
        given,
        subject=given.subject if CorrectedField.SUBJECT in correction.fields else ends.subject,
        object=given.object if CorrectedField.OBJECT in correction.fields else ends.object,
        document_id="" if episode else claimant,
        episode_id=episode or "",
        ended_by=(),
    )


def _corrected(
    row: StatedFact,
    corrected: FactState,
    correction: FactCorrection,
    embedding: tuple[float, ...],
) -> GivenFact:
    ends = CorrectedField.END in correction.fields
    return replace(
        row.current,
        subject=corrected.subject
        if CorrectedField.SUBJECT in correction.fields
        else row.first.subject,
        relation=corrected.relation,
        object=corrected.object if CorrectedField.OBJECT in correction.fields else row.first.object,
        fact=corrected.statement,
        valid_at=corrected.valid_at,
        invalid_at=corrected.invalid_at if ends else row.current.invalid_at,
        attributes=corrected.attributes,
        embedding=embedding,
    )


def _now(stored: FakeSpace) -> float:
    return stored.last_write.timestamp() if stored.last_write else 0.0
