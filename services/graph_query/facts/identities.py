"""What identifies a corrected fact besides its uuid, and which sources state facts, within one write to a space."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from services.graph_query.core.fact_batch import PreparedFact
from services.graph_query.neo4j.space_writer import SpaceWriter
from services.runtime.ids import derived_uuid

Identified = list[tuple[str, PreparedFact]]


async def put_aliases(writer: SpaceWriter, aliases: Mapping[str, str]) -> None:
    """Lets further uuids, computed from what a fact states, identify facts."""
    if aliases:
        rows = [list(row) for row in sorted(aliases.items())]
        await writer.write("put_fact_aliases", rows=rows)


async def resolve_aliases(writer: SpaceWriter, facts: Identified) -> Identified:
    """Replaces the uuids of facts that corrections have made the same as another one."""
    if not writer.has_aliases or not facts:
        return facts
    rows = await writer.read("fact_aliases", uuids=sorted({uuid for uuid, _ in facts}))
    found = {row["identity"]: row["uuid"] for row in rows}
    return [(found.get(uuid, uuid), one) for uuid, one in facts]


def source_key(source: str) -> str:
    """Returns the key of a source: an index does not take names of any length."""
    return derived_uuid("fact source", source)


async def record_sources(
    writer: SpaceWriter, source: str | None, facts: Collection[str], new: Collection[str]
) -> None:
    """Records that a source states facts, of which `new` did not exist before; see `FactBatch`."""
    if source is None:
        return
    if source:
        rows = [[uuid, uuid not in new] for uuid in sorted(facts)]
        parameters = {"source": source_key(source), "revision": writer.source_revision}
        recorded = await writer.note("record_sources", rows=rows, **parameters)
        writer.changed |= recorded[0]["created"] > 0
    elif writer.has_sources and (known := sorted(set(facts) - set(new))):
        await writer.note("share_facts", uuids=known)


async def copy_sources(writer: SpaceWriter, rows: Sequence[Mapping[str, Any]]) -> None:
    """Records the sources of facts for the facts that replace them."""
    if writer.has_sources and rows:
        moved = [{"from": row["from"], "uuid": row["uuid"]} for row in rows]
        await writer.write("copy_sources", rows=moved)
