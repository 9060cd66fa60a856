"""Withdraws stated facts within one write to a space.

A withdrawn fact loses all its claims and with them its edge, as if all its documents had been deleted; its past
versions remain, the last of them with who withdrew it and why.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from services.graph_query.core.fact_changes import ChangeKind, FactChange, Outcome, Provenance
from services.graph_query.episodes.writes import apply_withdrawal
from services.graph_query.facts.writes import settle_claims
from services.graph_query.local_extraction.cooccurrence import Changes
from services.graph_query.neo4j.database import Rows
from services.graph_query.neo4j.space_writer import SpaceWriter


async def withdraw_facts(
    writer: SpaceWriter, uuids: Sequence[str], by: Provenance
) -> dict[str, Outcome]:
    """Withdraws facts; returns what happened to each, in the order given."""
    rows = await writer.read("fact_standings", uuids=sorted(set(uuids)))
    outcomes = {row["uuid"]: _outcome(row["stands"], row["withdrawn"]) for row in rows}
    standing = sorted(uuid for uuid, one in outcomes.items() if one is Outcome.WITHDRAWN)
    await take_back(writer, standing, by)
    return {uuid: outcomes[uuid] for uuid in uuids}


async def take_back(writer: SpaceWriter, uuids: Collection[str], by: Provenance) -> None:
    """Withdraws facts that stand."""
    if not uuids:
        return
    change = FactChange(ChangeKind.WITHDRAWN, by)
    await remove_unclaimed(writer, await delete_claims(writer, uuids))
    await note_changes(writer, dict.fromkeys(uuids, change))


async def delete_claims(writer: SpaceWriter, uuids: Collection[str]) -> Rows:
    """Deletes all claims of facts and returns them; the facts are then removed, or get others."""
    return await writer.write("delete_claims_of_facts", uuids=sorted(uuids))


async def remove_unclaimed(writer: SpaceWriter, claims: Rows) -> None:
    """Removes the facts, names and entities that deleted claims leave without any source."""
    withdrawn = await settle_claims(writer, claims)
    await apply_withdrawal(writer, Changes(), withdrawn, ())


async def note_changes(writer: SpaceWriter, changes: Mapping[str, FactChange]) -> None:
    """Notes who withdrew or corrected facts, on the versions that this write has closed."""
    rows = [
        {
            "uuid": uuid,
            "kind": change.kind.value,
            "user": change.by.user,
            "reason": change.by.reason,
            "episode": change.by.episode,
            "replacement": change.replacement,
        }
        for uuid, change in sorted(changes.items())
    ]
    await writer.write("note_changes", rows=rows, now=writer.now.timestamp())


def _outcome(stands: bool, withdrawn: bool | None) -> Outcome:
    if stands:
        return Outcome.WITHDRAWN
    return Outcome.ALREADY_WITHDRAWN if withdrawn else Outcome.NOT_FOUND
