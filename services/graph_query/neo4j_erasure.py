"""What is known of the past goes with the documents that said it, within one write to a space.

A fact that nothing claims any more leaves its versions, and a note of the documents that had claimed it. When the last
of these is erased the versions go too, unless another document states the fact again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from services.graph_query.claims import claimed_episode
from services.graph_query.neo4j_writer import SpaceWriter


async def note_past_claims(
    writer: SpaceWriter, facts: Iterable[str], claimants: Mapping[str, Collection[str]]
) -> None:
    """Notes which documents had claimed facts that are removed, by fact: their claimants, documents or episodes."""
    told = [(fact, one) for fact in sorted(facts) for one in sorted(claimants.get(fact, ()))]
    owners = await _owners(writer, {one for _, one in told})
    rows = sorted({(owners[one], fact) for fact, one in told if one in owners})
    if rows:
        await writer.run("note_past_claims", rows=[list(row) for row in rows])


async def erase_versions(writer: SpaceWriter, document_id: str) -> int:
    """Removes all versions of facts that only this document, gone already, had claimed.

    How many; what became a version in this very write, because the fact is removed, is no version of the past.
    """
    rows = await writer.run("take_past_claims", document_id=document_id)
    facts = sorted({row["uuid"] for row in rows})
    if not facts:
        return 0
    return int(
        (await writer.run("erase_versions", uuids=facts, now=writer.now.timestamp()))[0]["deleted"]
    )


async def erase_endings(
    writer: SpaceWriter, facts: Collection[str], episodes: Collection[str]
) -> int:
    """Removes what these episodes, gone already, had made known of facts that stay; how many versions of the past.

    What was known before goes on as if they had never been.
    """
    if not facts or not episodes:
        return 0
    now = writer.now.timestamp()
    told = await writer.ask("versions_of_facts", uuids=sorted(facts))
    longer, gone = _without(told, set(episodes))
    if gone:
        await writer.run("merge_versions", longer=longer, gone=gone)
    until = {version["uuid"]: version["until"] for version in told}
    return sum(until[uuid] < now for uuid in gone)


def _without(
    versions: Sequence[Mapping[str, Any]], episodes: Collection[str]
) -> tuple[list[list[Any]], list[str]]:
    """Versions that are known longer, with until when, and those that go; given by fact in the order of knowing."""
    longer: dict[str, float] = {}
    gone: list[str] = []
    kept: Mapping[str, Any] | None = None
    for version in versions:
        if kept is not None and kept["fact"] == version["fact"] and version["episode"] in episodes:
            longer[kept["uuid"]] = version["until"]
            gone.append(version["uuid"])
        else:
            kept = version
    return [[uuid, until] for uuid, until in sorted(longer.items())], gone


async def _owners(writer: SpaceWriter, claimants: Collection[str]) -> dict[str, str]:
    """The documents of claimants; that of an episode taken out in this write is known to the writer."""
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
