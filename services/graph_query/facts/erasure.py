"""Erases knowledge of the past together with the documents that stated it, within one write to a space.

A fact without claims leaves its versions, and a record of the documents that had claimed it. When the last of these
documents is erased, the versions are deleted too, unless another document states the fact again. Endings that episodes
had set are recorded likewise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from services.graph_query.core.fact_batch import claimed_episode, episode_claimant
from services.graph_query.core.invalidation import CALLER
from services.graph_query.facts.invalidation import FactEnding
from services.graph_query.neo4j.space_writer import SpaceWriter


async def record_past_claims(
    writer: SpaceWriter, facts: Iterable[str], claimants: Mapping[str, Collection[str]]
) -> None:
    """Records which documents had claimed deleted facts; `claimants` has documents or episodes by fact."""
    entries = [(fact, one) for fact in sorted(facts) for one in sorted(claimants.get(fact, ()))]
    owners = await _owners(writer, {one for _, one in entries})
    rows = sorted({(owners[one], fact) for fact, one in entries if one in owners})
    if rows:
        await writer.write("record_past_claims", rows=[list(row) for row in rows])


async def erase_versions(writer: SpaceWriter, document_id: str) -> int:
    """Deletes all versions of facts that only this document, already deleted, had claimed; returns how many.

    Versions created by this same write, because it deletes the fact, do not count.
    """
    rows = await writer.write("take_past_claims", document_id=document_id)
    facts = sorted({row["uuid"] for row in rows})
    if not facts:
        return 0
    return int(
        (await writer.write("erase_versions", uuids=facts, now=writer.now.timestamp()))[0][
            "deleted"
        ]
    )


async def record_past_endings(writer: SpaceWriter, endings: Iterable[FactEnding]) -> None:
    """Records which documents' episodes had set endings that are removed but remain in past versions."""
    entries = sorted({one for one in endings if one.cause != CALLER})
    owners = await _owners(writer, {episode_claimant(one.cause) for one in entries})
    documents = {one.cause: owners.get(episode_claimant(one.cause), "") for one in entries}
    rows = [[documents[one.cause], *one] for one in entries if documents[one.cause]]
    if rows:
        await writer.write("record_past_endings", rows=rows)


async def erase_past_endings(writer: SpaceWriter, document_id: str) -> int:
    """Erases all endings that episodes of this document had ever set. See `erase_endings`."""
    rows = await writer.write("take_past_endings", document_id=document_id)
    return await erase_endings(writer, [FactEnding(row["uuid"], row["cause"]) for row in rows])


async def erase_endings(writer: SpaceWriter, endings: Collection[FactEnding]) -> int:
    """Erases endings by deleted episodes from the versions of facts; returns how many past versions it deleted.

    Earlier versions then read as if these endings had never existed.
    """
    if not endings:
        return 0
    now = writer.now.timestamp()
    rows = await writer.read("versions_of_facts", uuids=sorted({one.fact for one in endings}))
    erased = _without(rows, set(endings))
    if erased.gone:
        longer = list(erased.longer.values())
        await writer.write("merge_versions", longer=longer, gone=sorted(erased.gone))
    if erased.revoked:
        await writer.write("revoke_ends", uuids=erased.revoked)
    return sum(version["until"] < now for version in rows if version["uuid"] in erased.gone)


@dataclass(frozen=True, slots=True)
class _Erased:
    """Versions to delete, preceding versions to extend, and versions without a predecessor whose end is reset."""

    gone: set[str] = field(default_factory=set)
    longer: dict[str, dict[str, Any]] = field(default_factory=dict)
    revoked: list[str] = field(default_factory=list)


def _without(versions: Iterable[Mapping[str, Any]], endings: Collection[FactEnding]) -> _Erased:
    """Plans the erasure of versions whose end was set by these endings; versions are sorted by fact, then by start."""
    erased = _Erased()
    kept: Mapping[str, Any] = {"fact": "", "until": 0.0}
    for version in versions:
        if FactEnding(version["fact"], version["told_by"]) not in endings:
            kept = version
        elif (kept["fact"], kept["until"]) == (version["fact"], version["since"]):
            kept = {**kept, **{key: version[key] for key in ("until", "removed", "change")}}
            erased.gone.add(version["uuid"])
            erased.longer[kept["uuid"]] = {
                key: kept[key] for key in ("uuid", "until", "removed", "change")
            }
        else:
            kept = version
            if version["revocable"]:
                erased.revoked.append(version["uuid"])
    return erased


async def _owners(writer: SpaceWriter, claimants: Collection[str]) -> dict[str, str]:
    """Returns the documents of claimants; the writer knows those of episodes deleted in this write."""
    episodes = {one: claimed_episode(one) for one in claimants}
    owners = {one: one for one, episode in episodes.items() if one and not episode}
    owners |= {
        one: writer.taken[episode]
        for one, episode in episodes.items()
        if episode and episode in writer.taken
    }
    left = sorted(episode for one, episode in episodes.items() if episode and one not in owners)
    if left:
        found = {row["uuid"]: row["document_id"] for row in await writer.passages(left)}
        owners |= {one: found[e] for one, e in episodes.items() if e and found.get(e)}
    return owners
