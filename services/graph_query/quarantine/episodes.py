"""Quarantines and restores episodes and documents, within one write to a space."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from services.graph_query.core.domain import DescribedEntity, EntityName, Passage
from services.graph_query.core.fact_batch import episode_claimant
from services.graph_query.core.intervals import moment_of
from services.graph_query.episodes.writes import add_episodes, remove_passages
from services.graph_query.facts.entity_descriptions import (
    NOTHING,
    EpisodeDescriptions,
    refresh_descriptions,
)
from services.graph_query.facts.erasure import erase_past_endings
from services.graph_query.neo4j.row_mapping import instant
from services.graph_query.neo4j.space_writer import SpaceWriter, as_passage
from services.graph_query.quarantine.domain import ItemKind, NewItem
from services.graph_query.quarantine.facts import (
    apply_claim_withdrawal,
    changes_of,
    claim_content,
    claimed_facts,
    quarantine_facts,
    read_records,
    restore_changed,
    restore_type_histories,
    state_facts,
)
from services.graph_query.quarantine.findings import read_findings

CLAIMS_AT_ONCE = 500
FACTS_AT_ONCE = 200


async def quarantine_episodes(
    writer: SpaceWriter, uuids: Sequence[str], *, keep_documents: bool
) -> list[NewItem]:
    """Removes episodes with what only they state; returns it as items. Unknown episodes are skipped."""
    gone = [as_passage(row) for row in await writer.passages(uuids)]
    if not gone:
        return []
    found = [passage.uuid for passage in gone]
    items = await quarantine_facts(writer, await _facts_stated_by(writer, found))
    alone = await writer.read("findings_from_episodes", uuids=found)
    items += await read_findings(writer, [row["uuid"] for row in alone])
    rows = await writer.read("episodes_to_quarantine", uuids=found)
    claims = await _claims_by(writer, [episode_claimant(uuid) for uuid in found])
    ended = {fact for row in rows for fact, _ in row["endings"]}
    before = await read_records(writer, ended)
    documents = {passage.document_id for passage in gone}
    await remove_passages(writer, gone, documents, erase=True, keep_documents=keep_documents)
    changes = changes_of(before, await read_records(writer, ended))
    return [*items, *_items(rows, claims, changes)]


async def quarantine_claims(writer: SpaceWriter, document_id: str) -> list[NewItem]:
    """Removes some of a document's claims to facts that others state too; returns them as an item."""
    claims = await _claims_by(writer, [document_id])
    if not claims:
        return []
    uuids = sorted({claim["uuid"] for claim in claims})
    parameters = {"uuids": uuids, "claimant": document_id}
    await apply_claim_withdrawal(
        writer, await writer.write("delete_claims_of_claimants", **parameters)
    )
    content = {"claims": claims}
    return [NewItem(ItemKind.DOCUMENT, document_id, document_id, "", content, uuids[0])]


async def quarantine_past(writer: SpaceWriter, document_id: str) -> list[NewItem]:
    """Removes what is known of the past only through a document; returns it as items."""
    parameters = {"document_id": document_id, "limit": FACTS_AT_ONCE}
    rows = await writer.read("past_facts_of_document", **parameters)
    items = await quarantine_facts(writer, [row["uuid"] for row in rows if row["alone"]])
    shared = [row["uuid"] for row in rows if not row["alone"]]
    if shared:
        parameters = {"document_id": document_id, "uuids": shared}
        await writer.write("take_past_claims_of_facts", **parameters)
        content = {"past_claims": shared}
        items.append(
            NewItem(ItemKind.DOCUMENT, document_id, document_id, "", content, f"past {shared[0]}")
        )
    return items


async def quarantine_past_endings(writer: SpaceWriter, document_id: str) -> list[NewItem]:
    """Removes the endings that a document's episodes had set in the past; returns them as an item."""
    rows = await writer.read("past_endings_of_document", document_id=document_id)
    facts = {row["uuid"] for row in rows}
    if not facts:
        return []
    before = await read_records(writer, facts)
    await erase_past_endings(writer, document_id)
    content = {"changed": changes_of(before, await read_records(writer, facts))}
    return [NewItem(ItemKind.DOCUMENT, document_id, document_id, "", content, "past endings")]


async def restore_document(writer: SpaceWriter, content: Mapping[str, Any]) -> None:
    """Restores a document's claims, past claims and past endings."""
    await _restore_claims(writer, content.get("claims", ()))
    past = [
        {"uuid": uuid, "versions": [], "endings": [], "past_claims": [content["document_id"]]}
        for uuid in content.get("past_claims", ())
    ]
    if past:
        rows = [{**row, "past_endings": []} for row in past]
        await writer.write("restore_fact_records", rows=rows)
    await restore_changed(writer, content.get("changed", ()))


async def restore_episode(
    writer: SpaceWriter, content: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Restores an episode; returns the rest if episodes or findings that it is linked to are missing."""
    episode, passage = content["episode"], content["passage"]
    if not content.get("linked"):
        await _add(writer, episode, passage)
        await _restore_extraction(writer, content)
    linked = await writer.write("restore_relations", rows=content["relations"])
    relations = [content["relations"][row["place"]] for row in linked]
    findings = content["findings"]
    if findings:
        parameters = {"findings": findings, "episode": content["uuid"]}
        rows = await writer.write("restore_finding_sources", **parameters)
        findings = [one for one in findings if one not in {row["uuid"] for row in rows}]
    if not relations and not findings:
        return None
    return {**content, "relations": relations, "findings": findings, "linked": True}


async def _add(writer: SpaceWriter, episode: Mapping[str, Any], passage: Mapping[str, Any]) -> None:
    restored = Passage(
        episode["uuid"],
        passage["document_id"],
        passage["title"],
        episode["source_description"],
        episode["content"],
        reference_time=instant(episode["valid_at"]),
        valid_time=moment_of(passage["own_start"]),
        starts=tuple(passage["starts"] or ()),
    )
    await add_episodes(writer, [restored])
    row = {name: episode[name] for name in ("uuid", "created_at", "valid_at")}
    await writer.write("restore_episodes", rows=[{**row, "read": passage["read"]}])


async def _restore_extraction(writer: SpaceWriter, content: Mapping[str, Any]) -> None:
    """Restores what a language model has read in the episode: facts, descriptions of entities, and ends of facts."""
    uuid, descriptions = content["uuid"], content["descriptions"]
    described = NOTHING
    if descriptions:
        described = EpisodeDescriptions(uuid, [_described(*one[:2]) for one in descriptions])
    await _restore_claims(writer, content["claims"], described)
    if descriptions:
        rows = [
            {
                "episode": uuid,
                **{name: mention[name] for name in ("name", "type", "created_at", "uuid")},
            }
            for mention, *_ in descriptions
        ]
        touched = await writer.write("restore_descriptions", rows=rows)
        await restore_type_histories(writer, [one[2:] for one in descriptions])
        await refresh_descriptions(writer, {row["uuid"] for row in touched})
    await restore_changed(writer, content["changed"])


async def _restore_claims(
    writer: SpaceWriter,
    claims: Sequence[Mapping[str, Any]],
    described: EpisodeDescriptions = NOTHING,
) -> None:
    await state_facts(writer, claimed_facts(claims), {}, described)
    await restore_type_histories(writer, [end for claim in claims for end in claim["ends"]])


def _described(mention: Mapping[str, Any], vector: Sequence[float] | None) -> DescribedEntity:
    attributes = {name: mention[f"a_{name}"] for name in mention.get("attribute_names") or ()}
    name = EntityName(mention["name"], mention["type"])
    return DescribedEntity(name, mention.get("summary") or "", attributes, tuple(vector or ()))


async def _facts_stated_by(writer: SpaceWriter, episodes: Collection[str]) -> list[str]:
    claimants = [episode_claimant(uuid) for uuid in episodes]
    rows = await writer.read("facts_stated_by_episodes", claimants=claimants)
    return [row["uuid"] for row in rows]


async def _claims_by(writer: SpaceWriter, claimants: Sequence[str]) -> list[dict[str, Any]]:
    rows = await writer.read("facts_claimed_by", claimants=list(claimants), limit=CLAIMS_AT_ONCE)
    return [claim_content(row) for row in rows]


def _items(
    rows: Sequence[Mapping[str, Any]],
    claims: Sequence[Mapping[str, Any]],
    changes: Sequence[Mapping[str, Any]],
) -> list[NewItem]:
    """Returns episodes as items. A change of a fact that several episodes had ended belongs to the first of them."""
    items = []
    left = {change["uuid"]: change for change in changes}
    for row in rows:
        claimant = episode_claimant(row["uuid"])
        content = {
            **{name: row[name] for name in ("uuid", "episode", "passage", "descriptions")},
            **{name: row[name] for name in ("relations", "findings")},
            "claims": [claim for claim in claims if claim["claimant"] == claimant],
            "changed": [left.pop(fact) for fact, _ in row["endings"] if fact in left],
        }
        text, document = row["episode"]["content"], row["passage"]["document_id"]
        items.append(NewItem(ItemKind.EPISODE, row["uuid"], document, text, content))
    return items
