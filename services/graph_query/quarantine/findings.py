"""Quarantines and restores findings with their links, within one write to a space."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from services.graph_query.findings.neo4j_store import delete_unused_links
from services.graph_query.neo4j.space_writer import SpaceWriter
from services.graph_query.quarantine.domain import ItemKind, NewItem

_VECTOR = "embedding"


async def read_findings(writer: SpaceWriter, uuids: Collection[str]) -> list[NewItem]:
    """Returns findings as items. Unknown findings are skipped."""
    if not uuids:
        return []
    model = (await writer.read("embedding_state"))[0]["model"]
    rows = await writer.read("findings_to_quarantine", uuids=sorted(uuids))
    return [
        NewItem(
            ItemKind.FINDING, row["uuid"], "", row["finding"]["statement"], {**row, "model": model}
        )
        for row in rows
    ]


async def quarantine_findings(writer: SpaceWriter, uuids: Collection[str]) -> list[NewItem]:
    """Removes findings and returns them as items."""
    items = await read_findings(writer, uuids)
    if not items:
        return []
    found = [item.subject for item in items]
    linked = await writer.read("findings_linked", uuids=found, episodes=[])
    embedded = (await writer.write("remove_findings", uuids=found))[0]["embedded"]
    if embedded:
        await writer.write("change_finding_vectors", change=-embedded, model=None, dimension=None)
    await delete_unused_links(writer, linked)
    return items


async def restore_finding(
    writer: SpaceWriter, content: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Restores a finding; returns the rest if findings that it is linked to are missing."""
    uuid = content["uuid"]
    fields = {name: value for name, value in content["finding"].items() if name != _VECTOR}
    new = await writer.write("restore_findings", rows=[{"uuid": uuid, "fields": fields}])
    others = [*content["about"], *content["about_by"]]
    rows = await writer.read("stored_findings", uuids=sorted(others)) if others else []
    there = {row["uuid"] for row in rows}
    links = [_link(uuid, content, [one for one in content["about"] if one in there])]
    links += [_link(one, {}, [uuid]) for one in content["about_by"] if one in there]
    await writer.write("link_findings", rows=links)
    if new:
        await _set_vector(writer, uuid, content["finding"].get(_VECTOR), content["model"])
    left = {name: [o for o in content[name] if o not in there] for name in ("about", "about_by")}
    return {**content, **left} if any(left.values()) else None


def _link(uuid: str, content: Mapping[str, Any], findings: Sequence[str]) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "subjects": content.get("subjects", []),
        "findings": findings,
        "episodes": content.get("episodes", []),
    }


async def _set_vector(
    writer: SpaceWriter, uuid: str, vector: Sequence[float] | None, model: str
) -> None:
    state = (await writer.read("embedding_state"))[0]
    if not vector or state["changing"] or state["model"] not in ("", model):
        return
    await writer.write("set_finding_vectors", rows=[{"uuid": uuid, "vector": list(vector)}])
    await writer.write("change_finding_vectors", change=1, model=model, dimension=len(vector))
