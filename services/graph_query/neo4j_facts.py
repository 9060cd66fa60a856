"""Adding given facts within one write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from services.graph_query.domain import EntityName, FactCounts, GivenFact
from services.graph_query.entity_resolution import Resolution, resolve
from services.graph_query.identity import document_uuid, fact_uuid
from services.graph_query.intervals import OPEN, end_of, start_of
from services.graph_query.local_graph import Changes
from services.graph_query.names import is_linkable, name_key, word_set
from services.graph_query.neo4j_writer import SpaceWriter
from services.runtime.ids import derived_uuid

_RESERVED = word_set(
    """uuid group_id name fact fact_embedding episodes created_at expired_at valid_at invalid_at
    reference_time valid_from valid_until origin source_node_uuid target_node_uuid source_uuid
    target_uuid attribute_names attributes"""
)


async def add_facts(writer: SpaceWriter, facts: Sequence[GivenFact], model: str) -> FactCounts:
    """Adds the facts that are not there yet; one that is may gain a document or its vector."""
    ends = [end for fact in facts for end in (fact.subject, fact.object)]
    found = await _entities(writer, ends)
    rows = {row["uuid"]: row for row in (_row(writer.space, fact, found) for fact in facts)}
    known = {
        row["uuid"]: row["embedded"]
        for row in await writer.run("facts_by_uuid", uuids=sorted(rows))
    }
    new = [rows[uuid] for uuid in sorted(rows) if uuid not in known]
    await writer.run("create_facts", rows=[_stored(row) for row in new], now=writer.now)
    await _set_vectors(writer, [rows[uuid] for uuid in sorted(rows) if not known.get(uuid)], model)
    claims = _claims(writer.space, facts, found)
    await writer.run("create_claims", rows=claims)
    touched = await _link_names(writer, ends, found)
    await writer.cite({row["document_id"] for row in claims} | touched)
    await _append_versions(writer, new)
    return FactCounts(added=len(new), unchanged=len(facts) - len(new))


async def _entities(writer: SpaceWriter, ends: Sequence[EntityName]) -> Resolution:
    keys = sorted({name_key(end.name) for end in ends})
    known: dict[str, dict[str, str]] = {}
    for row in await writer.run("names_by_key", keys=keys):
        known.setdefault(row["key"], {})[row["type"]] = row["uuid"]
    found = resolve(writer.space, ends, known)
    await writer.create_entities(found.created)
    if found.typed:
        rows = [
            {"uuid": uuid, "key": key, "type": type_} for uuid, key, type_ in sorted(found.typed)
        ]
        await writer.run("type_entities", rows=rows)
    return found


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
    changes: Changes = await writer.relink(put)
    await writer.apply(changes)
    await writer.link(put)
    await writer.delete_orphans(changes.cut_entities())
    episodes = sorted(changes.touched_episodes())
    rows = await writer.run("documents_of_episodes", uuids=episodes) if episodes else []
    return {row["document_id"] for row in rows}


async def _set_vectors(writer: SpaceWriter, rows: Sequence[dict[str, Any]], model: str) -> None:
    told = [{"uuid": row["uuid"], "vector": row["vector"]} for row in rows if row["vector"]]
    if told:
        await writer.run("set_fact_vectors", rows=told)
        await writer.run("change_vectors", change=len(told), model=model)


async def _append_versions(writer: SpaceWriter, rows: Sequence[dict[str, Any]]) -> None:
    known_from = writer.now.timestamp()
    told = [
        {"fact_uuid": row["uuid"], "uuid": derived_uuid("version", row["uuid"], repr(known_from))}
        for row in rows
    ]
    if told:
        await writer.run("create_versions", rows=told, now=known_from, open=OPEN)


def _claims(space: str, facts: Sequence[GivenFact], found: Resolution) -> list[dict[str, str]]:
    pairs = {(fact.document_id, _uuid(space, fact, found)) for fact in facts if fact.document_id}
    return [
        {"document_id": document, "uuid": uuid, "document_uuid": document_uuid(space, document)}
        for document, uuid in sorted(pairs)
    ]


def _uuid(space: str, fact: GivenFact, found: Resolution) -> str:
    ends = (found.uuid(fact.subject), found.uuid(fact.object))
    return fact_uuid(space, ends, fact.relation, (start_of(fact.valid_at), end_of(fact.invalid_at)))


def _row(space: str, fact: GivenFact, found: Resolution) -> dict[str, Any]:
    return {
        "uuid": _uuid(space, fact, found),
        "source": found.uuid(fact.subject),
        "target": found.uuid(fact.object),
        "relation": fact.relation,
        "fact": fact.fact,
        "valid_at": fact.valid_at,
        "invalid_at": fact.invalid_at,
        "valid_from": start_of(fact.valid_at),
        "valid_until": end_of(fact.invalid_at),
        "attributes": {
            key: value for key, value in fact.attributes.items() if key not in _RESERVED
        },
        "vector": list(fact.embedding),
    }


def _stored(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "vector"}
