"""Adding stated facts and withdrawing documents' claims, within one write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.graph_query.core.domain import EntityName, FactCounts, GivenFact
from services.graph_query.core.entity_resolution import Resolution
from services.graph_query.core.fact_batch import FactBatch, GivenEnds, PreparedFact, claims_of
from services.graph_query.core.full_text import added_words
from services.graph_query.core.names import Source, Spelling, best, is_linkable, link_key, name_key
from services.graph_query.facts.entity_descriptions import NOTHING, EpisodeDescriptions, describe
from services.graph_query.facts.entity_typing import (
    apply_types,
    claimant_nodes,
    delete_unclaimed,
    known_names,
)
from services.graph_query.facts.identities import record_sources, resolve_aliases
from services.graph_query.facts.invalidation import apply_earlier_endings, record_endings
from services.graph_query.local_extraction.gazetteer import Uuids
from services.graph_query.neo4j.database import Rows
from services.graph_query.neo4j.space_writer import SpaceWriter

# The columns of a new fact's claim, in the order that the query expects.
_CLAIM = ("document_id", "document_uuid", "episode_uuid", "given")


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The effect of withdrawn claims: deleted facts, their ends, and names that now resolve to other entities."""

    facts: int = 0
    ends: frozenset[str] = frozenset()
    renamed: Mapping[str, Uuids] = field(default_factory=dict)
    documents: frozenset[str] = frozenset()


async def add_facts(
    writer: SpaceWriter,
    batch: FactBatch,
    model: str,
    described: EpisodeDescriptions = NOTHING,
) -> FactCounts:
    """Adds facts that do not exist yet; an existing one may gain a document or its vector.

    `described` are entities that a text describes, whether or not a fact joins them.
    """
    ends = list(dict.fromkeys(batch.ends() + described.names()))
    by_key = _spelt(ends, lambda end: batch.names.key(end.name))
    stored = await known_names(writer, {key: spelling.text for key, spelling in by_key.items()})
    found = Resolution.adding(writer.space, stored.types, ends, batch.names)
    spelt = _spelt(ends, found.uuid)
    touched = await apply_types(writer, found, {**by_key, **spelt})
    await writer.respell(spelt, stored.shown)
    await describe(writer, found, described, model)
    result = await resolve_aliases(writer, batch.by_uuid(found))
    facts = dict(reversed(result))
    known = {row["uuid"]: row for row in await writer.read("facts_by_uuid", uuids=sorted(facts))}
    new = [uuid for uuid in sorted(facts) if uuid not in known]
    given = claims_of(result, {uuid: dict(row["claims"]) for uuid, row in known.items()})
    claims = _by_fact(writer.space, given)
    rows = [
        [uuid, *one.ends_under(found), *one.columns, claims[uuid], _added_words(one.fact)]
        for uuid, one in ((uuid, facts[uuid]) for uuid in new)
    ]
    await _create(writer, rows, described)
    await _set_vectors(writer, facts, known, model)
    await _claim(writer, {uuid: claims[uuid] for uuid in sorted(claims.keys() & known)})
    touched |= {document for document, _ in given}
    touched |= await _link_names(writer, found)
    await _link_questions(writer, stored.unasked)
    await writer.refresh_names(_of(found), always=True)
    await writer.cite(touched)
    documented = {uuid for document, uuid in given if document}
    if cited := [uuid for uuid in new if uuid in documented]:
        await writer.write("cause_versions", uuids=cited, known=writer.now.timestamp())
    await _end_new(writer, result, new, described.episode or None)
    await record_sources(writer, batch.source, facts, new)
    uuids = tuple(uuid for uuid, _ in result)
    return FactCounts(
        added=len(new),
        unchanged=len(batch) - len(new),
        source_revision=writer.source_revision if batch.source else 0,
        uuids=uuids,
    )


async def claim_facts(writer: SpaceWriter, claimant: str, given: Mapping[str, set[str]]) -> None:
    """Adds claims of a document or an episode to existing facts; `given` has the stated ends by fact uuid."""
    parameters = {(claimant, uuid): ends for uuid, ends in given.items()}
    await _claim(writer, _by_fact(writer.space, parameters))


async def _link_questions(writer: SpaceWriter, unasked: Collection[str]) -> None:
    """Links questions to names that so far only texts gave, except names that text is linked to."""
    rows = [[key, link_key(key), False] for key in sorted(unasked) if not is_linkable(key)]
    if rows:
        await writer.write("link_names", rows=rows)


async def _end_new(
    writer: SpaceWriter,
    facts: Sequence[tuple[str, PreparedFact]],
    new: Collection[str],
    cause: str | None,
) -> None:
    """Ends new facts that arrive with contradictions, and those that were ended before their earlier deletion."""
    entries = [(episode, uuid, at) for uuid, one in facts for episode, at in one.fact.ended_by]
    causes = sorted({episode for episode, *_ in entries})
    rows = await writer.read("episodes_of_space", uuids=causes) if causes else []
    for episode in sorted(row["uuid"] for row in rows):
        await record_endings(
            writer, episode, {(uuid, at) for one, uuid, at in entries if one == episode}
        )
    await apply_earlier_endings(writer, {*new, *(uuid for _, uuid, _ in entries)}, cause)


async def withdraw_claims(
    writer: SpaceWriter,
    claimants: Collection[str],
    named: Collection[tuple[str, EntityName]] = (),
) -> Withdrawn:
    """Withdraws claims of documents and episodes, with facts without other claims and types without other sources.

    `named` are the entities, by uuid, that episodes described and no longer do.
    """
    claims = await writer.write("delete_claims", documents=sorted(claimants)) if claimants else []
    return await withdraw_deleted_claims(writer, claims, named)


async def withdraw_deleted_claims(
    writer: SpaceWriter,
    claims: Rows,
    named: Collection[tuple[str, EntityName]] = (),
) -> Withdrawn:
    """Withdraws what depended on deleted claims: facts without other claims, and types without other sources."""
    if not claims and not named:
        return Withdrawn()
    return await settle_claims(writer, claims, named)


async def settle_claims(
    writer: SpaceWriter, claims: Rows, named: Collection[tuple[str, EntityName]] = ()
) -> Withdrawn:
    """Removes the facts and types that deleted claims leave without any source; `named` as for `withdraw_claims`."""
    by_fact: defaultdict[str, set[str]] = defaultdict(set)
    for claim in claims:
        by_fact[claim["uuid"]].add(claim["document_id"])
    facts = await delete_unclaimed(writer, by_fact)
    given = {(uuid, name_key(end.name), end.type) for uuid, end in named if end.type}
    typed = sorted({end for claim in claims for end in _typed_ends(claim)} | given)
    gone = (
        await writer.read("types_without_claims", rows=[list(end) for end in typed])
        if typed
        else []
    )
    stored = (await known_names(writer, dict.fromkeys(row["key"] for row in gone))).types
    lost = [(row["key"], row["type"]) for row in gone]
    found = Resolution.removing(writer.space, stored, lost)
    moved = await apply_types(writer, found, {})
    await writer.refresh_names(_of(found), always=True)
    await writer.cite((), {claim["uuid"] for claim in claims})
    ends = {uuid for claim in claims for uuid in (claim["source"], claim["target"])}
    ends |= {uuid for uuid, _ in named}
    return Withdrawn(
        facts,
        frozenset({*ends, *found.vanished()}),
        {key: found.named(key) for key in found.changed() if key in writer.gazetteer},
        frozenset(moved),
    )


def _added_words(fact: GivenFact) -> str | None:
    return added_words(f"{fact.fact} {fact.relation}")


def _of(found: Resolution) -> set[str]:
    return {uuid for key in found.changed() for uuid in found.named(key)}


def _typed_ends(claim: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
    """Yields the typed ends of a claim: entity, name key, type."""
    for value in claim["given"]:
        ends = GivenEnds.decode(value)
        for uuid, end in ((claim["source"], ends.subject), (claim["target"], ends.object)):
            if end.type:
                yield uuid, name_key(end.name), end.type


def _spelt(ends: Iterable[EntityName], place: Callable[[EntityName], str]) -> dict[str, Spelling]:
    spelt: dict[str, Spelling] = {}
    for end in ends:
        value, where = Spelling(Source.STATED, end.name), place(end)
        other = spelt.get(where)
        spelt[where] = value if other is None else best((value, other))
    return spelt


def _by_fact(
    space: str, given: Mapping[tuple[str, str], set[str]]
) -> defaultdict[str, list[list[Any]]]:
    """Groups claims by fact, as columns."""
    nodes = {one: claimant_nodes(space, one) for one in {claimant for claimant, _ in given}}
    claims: defaultdict[str, list[list[Any]]] = defaultdict(list)
    for (claimant, uuid), value in sorted(given.items()):
        claims[uuid].append([claimant, *nodes[claimant], sorted(value)])
    return claims


async def _claim(writer: SpaceWriter, claims: Mapping[str, Iterable[list[Any]]]) -> None:
    """Stores claims of existing facts; `claims` has columns by fact."""
    rows = [
        {"uuid": uuid, **dict(zip(_CLAIM, columns, strict=True))}
        for uuid, several in claims.items()
        for columns in several
    ]
    if rows:
        await writer.write("create_claims", rows=rows)


async def _create(
    writer: SpaceWriter, rows: Sequence[list[Any]], described: EpisodeDescriptions
) -> None:
    """Creates facts with their claims in one query, as each query is slow."""
    if not rows:
        return
    parameters = {
        "now": writer.now,
        "known": writer.now.timestamp(),
        "cause": described.episode or None,
    }
    await writer.write("create_facts", rows=rows, **parameters)


async def _link_names(writer: SpaceWriter, found: Resolution) -> set[str]:
    """Links text to the given names; returns the documents whose mentions changed."""
    named = {key: found.named(key) for key in found.types}
    put = {
        key: uuids
        for key, uuids in named.items()
        if writer.gazetteer.uuids(key) != uuids and is_linkable(key)
    }
    if not put:
        return set()
    changes = await writer.relink(put)
    await writer.apply(changes)
    await writer.link({key: uuids for key, uuids in put.items() if key in found.stored})
    await writer.delete_orphans(changes.cut_entities())
    await writer.refresh_names(changes.cut_entities())
    return await writer.documents_of(changes.touched_episodes())


async def _set_vectors(
    writer: SpaceWriter,
    facts: Mapping[str, PreparedFact],
    known: Mapping[str, Mapping[str, Any]],
    model: str,
) -> None:
    """Sets vectors of facts that have none."""
    rows = [
        {"uuid": uuid, "vector": list(facts[uuid].fact.embedding)}
        for uuid in sorted(facts)
        if facts[uuid].fact.embedding and not (uuid in known and known[uuid]["embedded"])
    ]
    if rows:
        await writer.write("set_fact_vectors", rows=rows)
        length = len(rows[0]["vector"])
        await writer.write("change_vectors", change=len(rows), model=model, dimension=length)
