"""Adding given facts and taking documents' claims back, within one write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.graph_query.claims import GivenEnds, claimant_of, claimed_episode, statement_of
from services.graph_query.domain import EntityName, FactCounts, GivenFact
from services.graph_query.entity_resolution import Resolution
from services.graph_query.extraction.gazetteer import Uuids
from services.graph_query.identity import document_uuid, fact_uuid
from services.graph_query.intervals import end_of, seconds_and_nanoseconds, start_of
from services.graph_query.names import is_linkable, link_key, name_key
from services.graph_query.neo4j_database import Rows
from services.graph_query.neo4j_described import NOTHING, Described, describe
from services.graph_query.neo4j_endings import put_endings, settle_new
from services.graph_query.neo4j_types import apply_types, delete_unclaimed, known_names
from services.graph_query.neo4j_writer import SpaceWriter
from services.graph_query.reserved import RESERVED_OF_FACTS
from services.graph_query.spelling import Source, Spelling, best


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What went with the claims of documents: facts, their ends, and names that mean other entities now."""

    facts: int = 0
    ends: frozenset[str] = frozenset()
    renamed: Mapping[str, Uuids] = field(default_factory=dict)
    documents: frozenset[str] = frozenset()


async def add_facts(
    writer: SpaceWriter,
    facts: Sequence[GivenFact],
    model: str,
    described: Described = NOTHING,
) -> FactCounts:
    """Adds the facts that are not there yet; one that is may gain a document or its vector.

    `described` are entities that a text describes whether or not a fact joins them.
    """
    ends = [end for fact in facts for end in GivenEnds.of(fact)] + described.names()
    held = await known_names(writer, {name_key(end.name) for end in ends})
    found = Resolution.adding(writer.space, held.types, ends)
    spelt = _spelt(ends, found.uuid)
    by_key = _spelt(ends, lambda end: name_key(end.name))
    touched = await apply_types(writer, found, {**by_key, **spelt})
    await describe(writer, found, described, model)
    uuids = [_uuid(writer.space, fact, found) for fact in facts]
    rows: dict[str, dict[str, Any]] = {}
    for uuid, fact in zip(uuids, facts, strict=True):
        if uuid not in rows:
            rows[uuid] = _row(uuid, fact, found)
    known = {row["uuid"]: row for row in await writer.ask("facts_by_uuid", uuids=sorted(rows))}
    new = [rows[uuid] for uuid in sorted(rows) if uuid not in known]
    given = _news(list(zip(uuids, facts, strict=True)), known)
    claims = _claim_rows(writer.space, given)
    await _create(writer, new, claims, described.episode or None)
    await _set_vectors(
        writer, [rows[uuid] for uuid in sorted(rows) if not _has(known, uuid)], model
    )
    if added := [claim for claim in claims if claim["uuid"] in known]:
        await writer.run("create_claims", rows=added)
    touched |= {document for document, _ in given}
    touched |= await _link_names(writer, ends, found)
    if unasked := sorted(key for key in held.unasked if not is_linkable(key)):
        rows_of = [[key, link_key(key), False] for key in unasked]
        await writer.run("link_names", rows=rows_of)
    await writer.spell(spelt)
    await writer.renew_names(_of(found), always=True)
    await writer.cite(touched)
    if cited := [row["uuid"] for row in new if row["uuid"] in {u for d, u in given if d}]:
        await writer.run("cause_versions", uuids=cited, known=writer.now.timestamp())
    await _end_new(writer, list(zip(uuids, facts, strict=True)), new, described.episode or None)
    return FactCounts(added=len(new), unchanged=len(facts) - len(new))


async def _end_new(
    writer: SpaceWriter,
    facts: Sequence[tuple[str, GivenFact]],
    new: Sequence[Mapping[str, Any]],
    cause: str | None,
) -> None:
    """Lets facts end that come contradicted, and those that were ended before they were taken back."""
    told = [(episode, uuid, at) for uuid, fact in facts for episode, at in fact.ended_by]
    causes = sorted({episode for episode, *_ in told})
    rows = await writer.ask("own_episodes", uuids=causes) if causes else []
    for episode in sorted(row["uuid"] for row in rows):
        await put_endings(writer, episode, {(uuid, at) for one, uuid, at in told if one == episode})
    await settle_new(writer, {row["uuid"] for row in new} | {uuid for _, uuid, _ in told}, cause)


async def withdraw_claims(
    writer: SpaceWriter,
    claimants: Collection[str],
    named: Collection[tuple[str, EntityName]] = (),
) -> Withdrawn:
    """Takes back what documents and episodes claimed: facts that nothing else claims, types that nothing else gives.

    `named` are entities that episodes described, by uuid, which they do no longer.
    """
    claims = await writer.run("delete_claims", documents=sorted(claimants)) if claimants else []
    if not claims and not named:
        return Withdrawn()
    facts = await delete_unclaimed(writer, {claim["uuid"] for claim in claims})
    given = {(uuid, name_key(end.name), end.type) for uuid, end in named if end.type}
    typed = sorted({end for claim in claims for end in _typed_ends(claim)} | given)
    gone = await writer.ask("types_no_more", rows=[list(end) for end in typed]) if typed else []
    held = (await known_names(writer, {row["key"] for row in gone})).types
    lost = [(row["key"], row["type"]) for row in gone]
    found = Resolution.removing(writer.space, held, lost)
    moved = await apply_types(writer, found, {})
    await writer.renew_names(_of(found), always=True)
    await writer.cite((), {claim["uuid"] for claim in claims})
    ends = {uuid for claim in claims for uuid in (claim["source"], claim["target"])}
    ends |= {uuid for uuid, _ in named}
    return Withdrawn(
        facts,
        frozenset({*ends, *found.vanished()}),
        {key: found.named(key) for key in found.changed() if key in writer.gazetteer},
        frozenset(moved),
    )


def _of(found: Resolution) -> set[str]:
    return {uuid for key in found.changed() for uuid in found.named(key)}


def _typed_ends(claim: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
    """The ends of a claim that have a type: entity, name key, type."""
    for told in claim["given"]:
        ends = GivenEnds.decode(told)
        for uuid, end in ((claim["source"], ends.subject), (claim["target"], ends.object)):
            if end.type:
                yield uuid, name_key(end.name), end.type


def _spelt(ends: Iterable[EntityName], place: Callable[[EntityName], str]) -> dict[str, Spelling]:
    spelt: dict[str, Spelling] = {}
    for end in ends:
        told = Spelling(Source.STATED, end.name)
        spelt[place(end)] = best((told, spelt.get(place(end), told)))
    return spelt


def _news(
    facts: Sequence[tuple[str, GivenFact]], known: Mapping[str, Mapping[str, Any]]
) -> dict[tuple[str, str], set[str]]:
    """How facts were given by whom, where that is news."""
    given: dict[tuple[str, str], set[str]] = defaultdict(set)
    for uuid, fact in facts:
        given[claimant_of(fact), uuid].add(GivenEnds.of(fact).encode())
    for uuid, row in known.items():
        for document, told in row["claims"]:
            given[document, uuid] -= set(told)
    return {claim: told for claim, told in given.items() if told}


def _claim_rows(space: str, given: Mapping[tuple[str, str], set[str]]) -> Rows:
    documents = {document for document, _ in given}
    nodes = {document: document_uuid(space, document) for document in documents}
    return [
        {
            "document_id": document,
            "uuid": uuid,
            "document_uuid": nodes[document],
            "episode_uuid": claimed_episode(document),
            "given": sorted(told),
        }
        for (document, uuid), told in sorted(given.items())
    ]


async def _create(
    writer: SpaceWriter, new: Sequence[dict[str, Any]], claims: Rows, cause: str | None
) -> None:
    """Creates facts with their claims: one query, as each takes long."""
    if not new:
        return
    by_fact: defaultdict[str, Rows] = defaultdict(list)
    for claim in claims:
        by_fact[claim["uuid"]].append(claim)
    rows = [
        {
            **{key: value for key, value in row.items() if key != "vector"},
            "claims": by_fact[row["uuid"]],
        }
        for row in new
    ]
    told = {"now": writer.now, "known": writer.now.timestamp(), "cause": cause}
    await writer.run("create_facts", rows=rows, **told)


async def _link_names(
    writer: SpaceWriter, ends: Sequence[EntityName], found: Resolution
) -> set[str]:
    """Lets text be linked to the given names; the documents whose mentions that changed."""
    named = {key: found.named(key) for key in {name_key(end.name) for end in ends}}
    put = {
        key: uuids
        for key, uuids in named.items()
        if is_linkable(key) and writer.gazetteer.uuids(key) != uuids
    }
    if not put:
        return set()
    changes = await writer.relink(put)
    await writer.apply(changes)
    await writer.link(put)
    await writer.delete_orphans(changes.cut_entities())
    await writer.renew_names(changes.cut_entities())
    return await writer.documents_of(changes.touched_episodes())


def _has(known: Mapping[str, Mapping[str, Any]], uuid: str) -> bool:
    return uuid in known and bool(known[uuid]["embedded"])


async def _set_vectors(writer: SpaceWriter, rows: Sequence[dict[str, Any]], model: str) -> None:
    told = [{"uuid": row["uuid"], "vector": row["vector"]} for row in rows if row["vector"]]
    if told:
        await writer.run("set_fact_vectors", rows=told)
        await writer.run("change_vectors", change=len(told), model=model)


def _uuid(space: str, fact: GivenFact, found: Resolution) -> str:
    ends = (found.uuid(fact.subject), found.uuid(fact.object))
    interval = (start_of(fact.valid_at), end_of(fact.invalid_at))
    return fact_uuid(space, ends, fact.relation, interval, statement_of(fact))


def _row(uuid: str, fact: GivenFact, found: Resolution) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "source": found.uuid(fact.subject),
        "target": found.uuid(fact.object),
        "relation": fact.relation,
        "relation_key": fact.relation.lower(),
        "fact": fact.fact,
        "origin": fact.origin.value,
        "valid_at": seconds_and_nanoseconds(fact.valid_at),
        "invalid_at": seconds_and_nanoseconds(fact.invalid_at),
        "valid_from": start_of(fact.valid_at),
        "valid_until": end_of(fact.invalid_at),
        "attributes": {
            key: value for key, value in fact.attributes.items() if key not in RESERVED_OF_FACTS
        },
        "vector": list(fact.embedding),
    }
