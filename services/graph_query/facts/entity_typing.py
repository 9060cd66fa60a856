"""Types of names within one write: the entities that a name resolves to, and the facts that move with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from services.graph_query.core.domain import EntityName, Origin
from services.graph_query.core.entity_resolution import Resolution, Types
from services.graph_query.core.fact_batch import GivenEnds, claimed_episode
from services.graph_query.core.identity import document_uuid, fact_uuid
from services.graph_query.core.names import Spelling, name_key
from services.graph_query.facts.erasure import record_past_claims, record_past_endings
from services.graph_query.facts.identities import copy_sources, put_aliases
from services.graph_query.facts.invalidation import (
    apply_endings,
    create_past_versions,
    drop_endings,
)
from services.graph_query.neo4j.database import Rows
from services.graph_query.neo4j.space_writer import SpaceWriter


class Known(NamedTuple):
    """Names that have an entity: types, names that no question is linked to, and display names."""

    types: dict[str, Types]
    unasked: set[str]
    # By uuid; without entities whose display name equals the name stated in this write.
    shown: dict[str, Spelling]


async def known_names(writer: SpaceWriter, stated: Mapping[str, str | None]) -> Known:
    """Returns the names that have an entity; `stated` has the spelling stated in this write, by name key."""
    known = Known({}, set(), {})
    rows = await writer.read("names_by_key", names=[list(one) for one in sorted(stated.items())])
    for key, kind, asked, shown in rows[0]["names"]:
        known.types[key] = known.types.get(key, frozenset()) | ({kind} - {""})
        if not asked:
            known.unasked.add(key)
        if shown:
            known.shown[shown[0]] = Spelling(*shown[1:])
    return known


async def apply_types(
    writer: SpaceWriter, found: Resolution, spelt: Mapping[str, Spelling]
) -> set[str]:
    """Creates, retypes and removes entities; returns the documents whose facts moved.

    `spelt` has the new entities' spellings by uuid, or else by name key.
    """
    if vanished := found.vanished():
        await writer.write("delete_names", uuids=vanished)
    if retyped := found.retyped():
        parameters = {"rows": [list(row) for row in retyped], "known": writer.now.timestamp()}
        await writer.write("retype_entities", **parameters)
    created = [(*row, spelt.get(row.uuid) or spelt[row.key]) for row in found.created()]
    await writer.create_entities(created)
    left = found.left()
    if not left:
        return set()
    await _move_descriptions(writer, found, left)
    return await _move_facts(writer, found, left)


async def delete_unclaimed(
    writer: SpaceWriter,
    claimants: Mapping[str, Collection[str]],
    copied: int = 0,
    *,
    moved: bool = False,
) -> int:
    """Deletes facts that have no claim left; returns how many.

    `claimants` has each fact's claimants before this write. `copied` is the number of deleted vectors that other facts
    took over; `moved` is True if the facts moved.
    """
    gone = await writer.read("unclaimed_facts", uuids=sorted(claimants))
    removed = [row["uuid"] for row in gone]
    await create_past_versions(writer, removed)
    if removed:
        await writer.write("remove_facts", uuids=removed, now=writer.now.timestamp())
        await record_past_claims(writer, removed, claimants)
    await record_past_endings(writer, await drop_endings(writer, removed, moved=moved))
    change = copied - sum(row["embedded"] for row in gone)
    if change:
        await writer.write("change_vectors", change=change, model=None)
    return len(gone)


async def _move_descriptions(writer: SpaceWriter, found: Resolution, left: Sequence[str]) -> None:
    """Moves episodes' descriptions to the entities that their names now resolve to."""
    rows = []
    for row in await writer.read("descriptions_at", uuids=left):
        target = found.uuid(EntityName(row["name"], row["type"]))
        if target != row["uuid"]:
            rows.append([row["episode"], row["uuid"], target])
    if rows:
        await writer.write("move_descriptions", rows=rows)


async def _move_facts(writer: SpaceWriter, found: Resolution, left: Sequence[str]) -> set[str]:
    """Moves the claims at these entities to the facts that they now resolve to."""
    changed = set(found.changed())
    copies: dict[str, dict[str, Any]] = {}
    claims: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    rows = await writer.read("claims_at", uuids=left)
    for row in sorted(rows, key=lambda row: (row["uuid"], row["document_id"])):
        for value in row["given"]:
            source, target = _ends(found, changed, row, GivenEnds.decode(value))
            interval = (row["valid_from"], row["valid_until"])
            statement = row["fact"] if row["origin"] == Origin.EXTRACTED.value else ""
            uuid = fact_uuid(writer.space, (source, target), row["relation"], interval, statement)
            if uuid == row["uuid"]:
                continue
            ends = {"source": source, "target": target}
            copies.setdefault(uuid, {"from": row["uuid"], "uuid": uuid, **ends, "row": row})
            claims[row["document_id"], row["uuid"], uuid].append(value)
    if claims:
        await _write_moves(writer, copies, claims)
    return {document for document, *_ in claims}


async def _write_moves(
    writer: SpaceWriter,
    copies: Mapping[str, dict[str, Any]],
    claims: Mapping[tuple[str, str, str], list[str]],
) -> None:
    there = {row["uuid"] for row in await writer.read("facts_by_uuid", uuids=sorted(copies))}
    new = [copies[uuid] for uuid in sorted(copies) if uuid not in there]
    copied = sum(copy["row"]["embedded"] for copy in new)
    if new:
        rows = [{key: copy[key] for key in ("from", "uuid", "source", "target")} for copy in new]
        await writer.write("copy_facts", rows=rows, known=writer.now.timestamp())
        await writer.write("copy_endings", rows=rows)
        await copy_sources(writer, rows)
        # An ending of the original may have been removed in this same write.
        await apply_endings(writer, [row["uuid"] for row in rows])
    await writer.write("create_claims", rows=_claim_rows(writer.space, claims, 2))
    await writer.write("cut_claims", rows=_claim_rows(writer.space, claims, 1))
    claimants: defaultdict[str, set[str]] = defaultdict(set)
    for claimant, old, _ in claims:
        claimants[old].add(claimant)
    await delete_unclaimed(writer, claimants, copied, moved=True)
    await put_aliases(writer, _identities(writer.space, new))


def _identities(space: str, copies: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Returns the uuids of what corrected facts state now, at their new ends, with the facts' uuids."""
    found = {}
    for copy in copies:
        row = copy["row"]
        if row["corrected"]:
            since, until, text = row["state"]
            statement = text if row["origin"] == Origin.EXTRACTED.value else ""
            ends = (copy["source"], copy["target"])
            found[fact_uuid(space, ends, row["relation"], (since, until), statement)] = copy["uuid"]
    return {identity: uuid for identity, uuid in found.items() if identity != uuid}


def claimant_nodes(space: str, claimant: str) -> tuple[str | None, str | None]:
    """Returns the uuids of the document or of the episode of a claimant; both None without a claimant."""
    if episode := claimed_episode(claimant):
        return None, episode
    return document_uuid(space, claimant) if claimant else None, None


def _claim_rows(space: str, claims: Mapping[tuple[str, str, str], list[str]], place: int) -> Rows:
    rows: Rows = []
    for key, given in sorted(claims.items()):
        document, episode = claimant_nodes(space, key[0])
        ends = {"document_uuid": document, "episode_uuid": episode}
        rows.append({"document_id": key[0], **ends, "uuid": key[place], "given": given})
    return rows


def _ends(
    found: Resolution, changed: set[str], row: Mapping[str, Any], given: GivenEnds
) -> tuple[str, str]:
    def end(name: EntityName, now: str) -> str:
        return found.uuid(name) if name_key(name.name) in changed else now

    return end(given.subject, row["source"]), end(given.object, row["target"])
