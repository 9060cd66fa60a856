"""Quarantines and restores facts with everything that is recorded of them, within one write to a space."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from services.graph_query.core.domain import EntityName, GivenFact
from services.graph_query.core.fact_batch import FactBatch, GivenEnds, claimed_episode
from services.graph_query.core.names import RESERVED_OF_FACTS, name_key
from services.graph_query.episodes.writes import apply_withdrawal
from services.graph_query.facts.entity_descriptions import NOTHING, EpisodeDescriptions
from services.graph_query.facts.entity_typing import delete_unclaimed
from services.graph_query.facts.invalidation import apply_endings
from services.graph_query.facts.writes import Withdrawn, add_facts, withdraw_deleted_claims
from services.graph_query.local_extraction.cooccurrence import Changes
from services.graph_query.neo4j.database import Rows
from services.graph_query.neo4j.row_mapping import instant
from services.graph_query.neo4j.space_writer import SpaceWriter
from services.graph_query.quarantine.domain import ItemKind, NewItem
from services.runtime.ids import derived_uuid

Record = Mapping[str, Any]

# What depends on the graph into which a fact is restored.
_DERIVED = frozenset(
    {
        "episodes",
        "braid_ends",
        "source_node_uuid",
        "target_node_uuid",
        "fact_embedding",
        "next_model",
        "next_embedding",
    }
)


class Claim(NamedTuple):
    """A claimant of a fact, with the two ends as the claimant states them."""

    claimant: str
    given: Sequence[str]


async def read_records(writer: SpaceWriter, uuids: Collection[str]) -> list[dict[str, Any]]:
    """Returns everything recorded of facts."""
    return await writer.read("facts_to_quarantine", uuids=sorted(uuids)) if uuids else []


async def quarantine_facts(writer: SpaceWriter, uuids: Collection[str]) -> list[NewItem]:
    """Removes facts with all their claims and versions; returns them as items. Unknown facts are skipped."""
    records = [one for one in await read_records(writer, uuids) if one["fact"] or one["versions"]]
    if not records:
        return []
    model = (await writer.read("embedding_state"))[0]["model"]
    found = sorted(one["uuid"] for one in records)
    ends = await writer.read("ends_of_facts", uuids=found)
    claims = await writer.write("delete_claims_of_claimants", uuids=found, claimant=None)
    claimed = {claim["uuid"] for claim in claims}
    unclaimed = [row for row in ends if row["uuid"] not in claimed]
    await apply_claim_withdrawal(writer, claims)
    if unclaimed:
        await _remove_unclaimed(writer, unclaimed)
    await writer.write("erase_records_of_facts", uuids=found)
    return [_item(one, model) for one in records]


async def apply_claim_withdrawal(writer: SpaceWriter, claims: Rows) -> None:
    """Withdraws what depended on deleted claims, with the names and entities that only they stated."""
    withdrawn = await withdraw_deleted_claims(writer, claims)
    await apply_withdrawal(writer, Changes(), withdrawn, ())


async def restore_facts(writer: SpaceWriter, records: Sequence[Record]) -> None:
    """Restores facts: a fact that was stated again meanwhile keeps its present state and regains its past versions."""
    current = [one for one in records if one["fact"]]
    there = {one["uuid"]: one for one in await read_records(writer, [o["uuid"] for o in current])}
    await state_facts(writer, [given for one in current for given in _given(one)], _models(current))
    await restore_type_histories(
        writer, [one[end] for one in current for end in ("source", "target")]
    )
    new = [one for one in current if not there[one["uuid"]]["fact"]]
    states = [{"uuid": one["uuid"], "state": _state(one["fact"])} for one in new]
    if states:
        await writer.write("restore_fact_states", rows=states)
    kept = {one["uuid"] for one in current} - {one["uuid"] for one in new}
    rows = [
        _past_rows(one, there[one["uuid"]]) if one["uuid"] in kept else _rows(one)
        for one in records
    ]
    await writer.write("restore_fact_records", rows=rows)


async def state_facts(
    writer: SpaceWriter,
    given: Sequence[GivenFact],
    models: Mapping[str, str] = {},
    described: EpisodeDescriptions = NOTHING,
) -> None:
    """States facts again, with the vectors of those whose model, by uuid, is the space's."""
    if not given and described is NOTHING:
        return
    state = (await writer.read("embedding_state"))[0]
    model = "" if state["changing"] else state["model"]
    kept = [one if _accepts(state, models.get(one.uuid)) else without_vector(one) for one in given]
    chosen = model or next(iter(models.values()), "")
    await add_facts(writer, FactBatch.of(writer.space, kept), chosen, described)


def without_vector(fact: GivenFact) -> GivenFact:
    """Returns a fact without its vector."""
    values = {name: getattr(fact, name) for name in fact.__dataclass_fields__}
    return GivenFact(**{**values, "embedding": ()})


async def restore_type_histories(writer: SpaceWriter, ends: Iterable[Sequence[Any]]) -> None:
    """Restores the former types of entities, each given by name, type, former types and their ends."""
    rows = {(name_key(end[0]), end[1]): [*end[2:]] for end in ends}
    if rows:
        entries = [[*key, *history] for key, history in sorted(rows.items())]
        await writer.write("restore_type_histories", rows=entries)


async def restore_changed(writer: SpaceWriter, changes: Sequence[Mapping[str, Any]]) -> None:
    """Restores facts that lost an ending: exactly if they have not changed since, else by their endings."""
    found = {one["uuid"]: one for one in await read_records(writer, [c["uuid"] for c in changes])}
    for change in changes:
        now = found[change["uuid"]]
        before, after = change["before"], change["after"]
        if not now["fact"]:
            continue
        if _version_uuids(now) == after["versions"] and _known_from(now) == after["known_from"]:
            await _replace(writer, before)
        else:
            kept = {**_rows(before), "versions": []}
            await writer.write("restore_fact_records", rows=[kept])
            await apply_endings(writer, [change["uuid"]])


def changes_of(before: Iterable[Record], after: Iterable[Record]) -> list[dict[str, Any]]:
    """Returns what is needed to undo the changes of facts: their records before, and marks of their state after."""
    later = {one["uuid"]: one for one in after}
    return [
        {
            "uuid": one["uuid"],
            "before": dict(one),
            "after": {
                "versions": _version_uuids(later[one["uuid"]]),
                "known_from": _known_from(later[one["uuid"]]),
            },
        }
        for one in before
        if _differs(one, later[one["uuid"]])
    ]


def claim_content(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a claim to a fact that others state too, with what is needed to state the fact again."""
    names = ("claimant", "uuid", "given", "relation", "fact", "valid_at", "invalid_at", "ends")
    return {name: row[name] for name in names}


def claimed_facts(contents: Iterable[Mapping[str, Any]]) -> list[GivenFact]:
    """Returns the facts that stored claims state."""
    return [
        _given_fact(
            Claim(one["claimant"], one["given"]),
            ends,
            uuid=one["uuid"],
            relation=one["relation"],
            fact=one["fact"],
            valid_at=instant(one["valid_at"]),
            invalid_at=instant(one["invalid_at"]),
        )
        for one in contents
        for ends in one["given"]
    ]


async def _remove_unclaimed(writer: SpaceWriter, ends: Rows) -> None:
    """Removes facts that nobody states, with the entities that only they joined."""
    await delete_unclaimed(writer, {row["uuid"]: () for row in ends})
    touched = frozenset({row["source"] for row in ends} | {row["target"] for row in ends})
    await apply_withdrawal(writer, Changes(), Withdrawn(ends=touched), ())


async def _replace(writer: SpaceWriter, record: Record) -> None:
    await writer.write("erase_records_of_facts", uuids=[record["uuid"]])
    row = {"uuid": record["uuid"], "state": _state(record["fact"])}
    await writer.write("restore_fact_states", rows=[row])
    await writer.write("restore_fact_records", rows=[_rows(record)])


def _item(record: Record, model: str) -> NewItem:
    documents = [one for one, _ in record["claims"] if one and claimed_episode(one) is None]
    documents += record["past_claims"]
    text = record["fact"]["fact"] if record["fact"] else record["versions"][-1][0]["fact"]
    content = {**record, "model": model}
    return NewItem(ItemKind.FACT, record["uuid"], documents[0] if documents else "", text, content)


def _given(record: Record) -> list[GivenFact]:
    """Returns a fact as each of its claimants states it; one that nobody states is given without a document."""
    fact = record["fact"]
    subject, target = EntityName(*record["source"][:2]), EntityName(*record["target"][:2])
    stated = [Claim(*one) for one in record["claims"]]
    claims = stated or [Claim("", [GivenEnds(subject, target).encode()])]
    ended = fact.get("stated_until") is not None
    return [
        _given_fact(
            claim,
            ends,
            uuid=record["uuid"],
            relation=fact["name"],
            fact=fact["fact"],
            valid_at=instant(fact.get("valid_at")),
            invalid_at=instant(fact.get("stated_at" if ended else "invalid_at")),
            attributes={
                name: fact[name]
                for name in fact.get("attribute_names") or ()
                if name not in RESERVED_OF_FACTS
            },
            embedding=tuple(fact.get("fact_embedding") or ()),
        )
        for claim in claims
        for ends in claim.given
    ]


def _given_fact(claim: Claim, encoded: str, **fields: Any) -> GivenFact:
    ends = GivenEnds.decode(encoded)
    episode = claimed_episode(claim.claimant) or ""
    document = "" if episode else claim.claimant
    return GivenFact(
        subject=ends.subject,
        object=ends.object,
        document_id=document,
        episode_id=episode,
        **fields,
    )


def _models(records: Iterable[Record]) -> dict[str, str]:
    return {one["uuid"]: one["model"] for one in records if one["fact"].get("fact_embedding")}


def _accepts(state: Mapping[str, Any], model: str | None) -> bool:
    """Returns whether a space accepts vectors of a model: of its own, or of any while it has none."""
    return bool(model) and not state["changing"] and state["model"] in ("", model)


def _state(fact: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fact.items() if name not in _DERIVED}


def _rows(record: Record) -> dict[str, Any]:
    names = ("uuid", "versions", "endings", "past_claims", "past_endings")
    return {name: record[name] for name in names}


def _past_rows(record: Record, there: Record) -> dict[str, Any]:
    """Returns the past of a fact that was stated again: its versions, the last of them known until it was."""
    fact = record["fact"]
    until = there["fact"]["braid_known_from"]
    earlier = [one for one in record["versions"] if one[0]["known_until"] <= until]
    if fact["braid_known_from"] < until:
        earlier.append([_past_version(record, until), False])
    return {**_rows(record), "versions": earlier}


def _past_version(record: Record, until: float) -> dict[str, Any]:
    fact = record["fact"]
    names = fact.get("attribute_names") or []
    kept = (
        *("group_id", "name", "relation_key", "fact", "braid_words", "origin", "valid_at"),
        *("invalid_at", "valid_from", "valid_until", "created_at", "stated_at", "stated_until"),
    )
    return {
        **{name: fact[name] for name in kept if name in fact},
        **{f"a_{name}": fact[name] for name in names},
        "uuid": derived_uuid("past version", record["uuid"], repr(until)),
        "fact_uuid": record["uuid"],
        "source_uuid": fact["source_node_uuid"],
        "target_uuid": fact["target_node_uuid"],
        "source_name": record["source"][0],
        "target_name": record["target"][0],
        "source_type": record["source"][1],
        "target_type": record["target"][1],
        "known_from": fact["braid_known_from"],
        "known_until": until,
        "episode_uuid": fact.get("braid_cause"),
        "ended_by": fact.get("braid_ended_by"),
        "attribute_names": list(names),
    }


def _version_uuids(record: Record) -> list[str]:
    return [version["uuid"] for version, _ in record["versions"]]


def _known_from(record: Record) -> float | None:
    return record["fact"]["braid_known_from"] if record["fact"] else None


def _differs(before: Record, after: Record) -> bool:
    names = ("versions", "endings", "past_endings")
    state = before["fact"] and after["fact"] and _state(before["fact"]) != _state(after["fact"])
    return bool(state) or any(before[name] != after[name] for name in names)
