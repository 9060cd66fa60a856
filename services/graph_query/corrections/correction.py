"""Corrects a stated fact within one write to a space.

The fact stays the same edge, with a new version, unless its subject, relation or object change or another fact already
states what it states now: then its claims go to that other fact, and the version that this closes names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from services.graph_query.core.domain import EntityName, GivenFact, Origin
from services.graph_query.core.fact_batch import FactBatch, GivenEnds, claimed_episode
from services.graph_query.core.fact_changes import (
    ChangeKind,
    CorrectedField,
    FactChange,
    FactCorrection,
    FactState,
    Provenance,
    Vector,
)
from services.graph_query.core.full_text import added_words
from services.graph_query.core.identity import fact_uuid
from services.graph_query.core.intervals import end_of, start_of
from services.graph_query.core.names import RESERVED_OF_FACTS
from services.graph_query.corrections.withdrawal import (
    delete_claims,
    note_changes,
    remove_unclaimed,
)
from services.graph_query.facts.erasure import record_past_endings
from services.graph_query.facts.identities import copy_sources, put_aliases
from services.graph_query.facts.invalidation import (
    apply_endings,
    create_past_versions,
    drop_endings,
)
from services.graph_query.facts.writes import add_facts
from services.graph_query.neo4j.database import Rows
from services.graph_query.neo4j.row_mapping import entity_type, instant
from services.graph_query.neo4j.space_writer import SpaceWriter
from services.runtime.errors import NotFoundError

# Corrections after one another that are followed to the fact of now.
_MOST_REPLACEMENTS = 100
_TEXT = frozenset({CorrectedField.STATEMENT, CorrectedField.ATTRIBUTES})


class Target(NamedTuple):
    """The fact that states what was corrected, and whether the write changed anything."""

    uuid: str
    changed: bool


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A standing fact: its entities, its values, its end as stated, and how it came to be."""

    uuid: str
    ends: tuple[str, str]
    state: FactState
    stated_end: datetime | None
    extracted: bool
    embedded: bool

    @classmethod
    def of(cls, uuid: str, row: Mapping[str, Any]) -> StoredFact:
        """Maps a row."""
        state = FactState(
            EntityName(row["source_name"], entity_type(row["source_labels"])),
            row["relation"],
            EntityName(row["target_name"], entity_type(row["target_labels"])),
            row["fact"],
            instant(row["valid_at"]),
            instant(row["invalid_at"]),
            dict(row["attributes"]),
        )
        return cls(
            uuid,
            (row["source"], row["target"]),
            state,
            instant(row["stated_at"]),
            row["origin"] == Origin.EXTRACTED.value,
            row["embedded"],
        )

    def stated_end_of(self, corrected: FactState, correction: FactCorrection) -> datetime | None:
        """Returns the end that the corrected fact states: one that something else has set is none."""
        return corrected.invalid_at if CorrectedField.END in correction.fields else self.stated_end


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction of one fact: the former and the corrected values, who made it, and the vector of the statement."""

    fact: StoredFact
    corrected: FactState
    correction: FactCorrection
    by: Provenance
    vector: Vector | None

    @property
    def stated_end(self) -> datetime | None:
        """Returns the end that the corrected fact states."""
        return self.fact.stated_end_of(self.corrected, self.correction)

    @property
    def sets_end(self) -> bool:
        """Returns whether the end is corrected."""
        return CorrectedField.END in self.correction.fields

    @property
    def embedding(self) -> tuple[float, ...]:
        """Returns the vector of the corrected statement, empty without one."""
        fits = self.vector is not None and self.vector.statement == self.corrected.statement
        return self.vector.values if self.vector is not None and fits else ()

    @property
    def model(self) -> str:
        """Returns the model of the vector, "" without one."""
        return self.vector.model if self.vector is not None and self.embedding else ""

    def identity(self, space: str) -> str:
        """Returns the uuid of a fact of these entities that is given with the corrected values."""
        interval = (start_of(self.corrected.valid_at), end_of(self.stated_end))
        statement = self.corrected.statement if self.fact.extracted else ""
        return fact_uuid(space, self.fact.ends, self.corrected.relation, interval, statement)


class Read(Protocol):
    """Runs a read-only named query of a space."""

    async def __call__(self, name: str, **parameters: Any) -> Rows: ...


async def stored_fact(read: Read, uuid: str) -> StoredFact:
    """Returns a standing fact, or the one that replaced it by corrections. Raises NotFoundError("fact")."""
    for _ in range(_MOST_REPLACEMENTS):
        if rows := await read("fact_to_correct", uuid=uuid):
            return StoredFact.of(uuid, rows[0])
        replacement = await read("replacement_of_fact", uuid=uuid)
        if not replacement:
            break
        uuid = replacement[0]["uuid"]
    raise NotFoundError("fact")


async def correct_fact(
    writer: SpaceWriter,
    uuid: str,
    correction: FactCorrection,
    by: Provenance,
    vector: Vector | None,
) -> Target:
    """Corrects a fact. Raises NotFoundError("fact") and InvalidFieldError."""
    fact = await stored_fact(writer.read, uuid)
    uuid = fact.uuid
    corrected = correction.applied(fact.state)
    if corrected.equals(fact.state):
        return Target(uuid, changed=False)
    work = Correction(fact, corrected, correction, by, vector)
    if corrected.identity != fact.state.identity:
        return Target(await _replace(writer, work), changed=True)
    identity = work.identity(writer.space)
    other = await _standing(writer, identity)
    if other not in ("", uuid):
        return Target(await _merge(writer, work, other), changed=True)
    await _correct_in_place(writer, work)
    if identity != uuid:
        await put_aliases(writer, {identity: uuid})
    return Target(uuid, changed=True)


async def _standing(writer: SpaceWriter, identity: str) -> str:
    """Returns the standing fact that a uuid identifies, "" if there is none."""
    rows = await writer.read("fact_aliases", uuids=[identity])
    uuid = rows[0]["uuid"] if rows else identity
    return uuid if await writer.read("fact_to_correct", uuid=uuid) else ""


async def _correct_in_place(writer: SpaceWriter, work: Correction) -> None:
    fact, corrected = work.fact, work.corrected
    await create_past_versions(writer, [fact.uuid])
    if work.sets_end:
        await record_past_endings(writer, await drop_endings(writer, [fact.uuid], moved=True))
    reworded = corrected.statement != fact.state.statement
    attributes = {
        key: value for key, value in corrected.attributes.items() if key not in RESERVED_OF_FACTS
    }
    await writer.write(
        "correct_fact",
        uuid=fact.uuid,
        fact=corrected.statement,
        words=added_words(f"{corrected.statement} {corrected.relation}"),
        attributes=attributes,
        attribute_names=sorted(attributes),
        valid_at=corrected.valid_at,
        valid_from=start_of(corrected.valid_at),
        ends=work.sets_end,
        invalid_at=corrected.invalid_at,
        valid_until=end_of(corrected.invalid_at),
        known=writer.now.timestamp(),
        episode=work.by.episode or None,
        embeds=reworded,
    )
    if reworded:
        await _embed_again(writer, work)
    change = FactChange(ChangeKind.CORRECTED, work.by, fact.uuid)
    await note_changes(writer, {fact.uuid: change})


async def _embed_again(writer: SpaceWriter, work: Correction) -> None:
    """Stores the vector of a fact that has lost its former one, and counts the space's vectors."""
    uuid, vector = work.fact.uuid, list(work.embedding)
    if vector:
        await writer.write("set_fact_vectors", rows=[{"uuid": uuid, "vector": vector}])
    change = int(bool(vector)) - int(work.fact.embedded)
    if change:
        named = {"model": work.model, "dimension": len(vector)} if vector else {"model": None}
        await writer.write("change_vectors", change=change, **named)


async def _merge(writer: SpaceWriter, work: Correction, other: str) -> str:
    """Replaces a fact by an existing one that states the same; this takes the corrected text and attributes."""
    uuid = await _replace(writer, work)
    await put_aliases(writer, {work.fact.uuid: uuid})
    fields = _TEXT & set(work.correction.fields)
    target = await stored_fact(writer.read, other)
    correction = FactCorrection(fields, work.corrected)
    corrected = correction.applied(target.state)
    if not corrected.equals(target.state):
        further = Correction(target, corrected, correction, work.by, work.vector)
        await _correct_in_place(writer, further)
    return uuid


async def _replace(writer: SpaceWriter, work: Correction) -> str:
    """Gives the claims of a fact to the fact that the corrected values make; returns that fact."""
    old = work.fact.uuid
    claims = await delete_claims(writer, [old])
    given = [
        fact
        for claim in claims
        for ends in claim["given"]
        for fact in [_given(work, claim["document_id"], GivenEnds.decode(ends))]
    ]
    counts = await add_facts(writer, FactBatch.of(writer.space, given, None), work.model)
    new = counts.uuids[0]
    rows = [{"from": old, "uuid": new}]
    if new != old:
        if not work.sets_end:
            await writer.write("copy_endings", rows=rows)
            await apply_endings(writer, [new])
        await copy_sources(writer, rows)
        corrects = [{"uuid": new, "corrects": old}]
        known = writer.now.timestamp()
        await writer.write("mark_corrections", rows=corrects, known=known)
        if work.corrected.identity == work.fact.state.identity:
            await writer.write("move_fact_aliases", uuid=old, to=new)
    await remove_unclaimed(writer, claims)
    await note_changes(writer, {old: FactChange(ChangeKind.CORRECTED, work.by, new)})
    return new


def _given(work: Correction, claimant: str, ends: GivenEnds) -> GivenFact:
    """Returns what a claimant of the fact states after the correction."""
    fields, corrected = work.correction.fields, work.corrected
    episode = claimed_episode(claimant)
    return GivenFact(
        corrected.subject if CorrectedField.SUBJECT in fields else ends.subject,
        corrected.relation,
        corrected.object if CorrectedField.OBJECT in fields else ends.object,
        corrected.statement,
        corrected.valid_at,
        work.stated_end,
        document_id="" if episode else claimant,
        attributes=corrected.attributes,
        embedding=work.embedding,
        episode_id=episode or "",
    )
