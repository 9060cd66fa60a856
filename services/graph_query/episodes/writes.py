"""Adds and deletes episodes within one write."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence

from services.graph_query.core.domain import DeletionCounts, EpisodeCounts, Passage
from services.graph_query.core.identity import document_uuid, entity_uuid
from services.graph_query.core.names import name_key, title_names
from services.graph_query.episodes.extraction_writes import withdraw_extraction
from services.graph_query.episodes.version_validity import (
    carried,
    carry,
    update_periods,
    update_versioned_documents,
    with_starts,
    write_documents,
)
from services.graph_query.facts.erasure import erase_endings, record_past_endings
from services.graph_query.facts.invalidation import apply_endings
from services.graph_query.facts.writes import Withdrawn, withdraw_claims
from services.graph_query.findings.neo4j_store import forget_episodes, forget_extracted
from services.graph_query.local_extraction.cooccurrence import (
    Changes,
    SentenceRow,
    TokenizedPassage,
    added,
    merged,
    passage_rows,
    removed,
)
from services.graph_query.local_extraction.gazetteer import Gazetteer
from services.graph_query.neo4j.run_in_thread import run_in_thread
from services.graph_query.neo4j.space_writer import SpaceWriter, as_passage


async def add_episodes(writer: SpaceWriter, passages: Sequence[Passage]) -> EpisodeCounts:
    """Adds passages that do not exist yet and replaces those that differ."""
    known = {row["uuid"]: row for row in await writer.passages([p.uuid for p in passages])}
    stored = {uuid: as_passage(row) for uuid, row in known.items()}
    fresh = [
        with_starts(p, stored.get(p.uuid)) for p in passages if not is_same(stored.get(p.uuid), p)
    ]
    renewed = {passage.uuid for passage in fresh}
    further = carried([p for p in passages if p.uuid not in renewed], stored)
    replaced = [stored[p.uuid] for p in fresh if p.uuid in stored]
    if not fresh and not further:
        return EpisodeCounts()
    await _unread(writer, [p.uuid for p in replaced if known[p.uuid]["read"]])
    cut = await _remove_rows(writer, replaced)
    keys = {name_key(name) for passage in fresh for name in title_names(passage.title)}
    put = {key: (entity_uuid(writer.space, key),) for key in keys if key not in writer.gazetteer}
    async with run_in_thread(_read_all, fresh) as reading:
        older = await writer.relink(put)
        reads = await reading
    async with run_in_thread(_added, writer.space, reads, writer.gazetteer) as extracting:
        unsettled = await write_documents(writer, [*fresh, *further])
        await writer.create_passages(reads)
        changes = merged([await extracting, older])
    await writer.apply(changes)
    await writer.link(put)
    await _clean_up(writer, cut, changes, {passage.document_id for passage in (*fresh, *replaced)})
    await carry(writer, further)
    unsettled |= {document_uuid(writer.space, passage.document_id) for passage in further}
    await update_periods(writer, unsettled)
    return EpisodeCounts(
        episodes=len(fresh) - len(replaced),
        entities=writer.entities_created,
        mentions=_new_mentions(changes, cut),
        local_facts=_new_local_facts(changes, cut),
    )


async def delete_episodes(writer: SpaceWriter, uuids: Sequence[str]) -> DeletionCounts:
    """Removes episodes and everything that only they state or name."""
    gone = [as_passage(row) for row in await writer.passages(uuids)]
    if not gone:
        return DeletionCounts()
    return await remove_passages(writer, gone, {passage.document_id for passage in gone})


async def remove_passages(
    writer: SpaceWriter,
    gone: Sequence[Passage],
    documents: Collection[str],
    claimed: Collection[str] = (),
    *,
    erase: bool = False,
    keep_documents: bool = False,
) -> DeletionCounts:
    """Removes passages of these documents, and all claims of `claimed` and of documents without remaining passages.

    With `erase`, their contributions to past versions of remaining facts are removed too. With `keep_documents`,
    documents stay without passages, and what they claim stays.
    """
    writer.taken |= {passage.uuid: passage.document_id for passage in gone}
    taken = await withdraw_extraction(writer, [passage.uuid for passage in gone])
    cut = await _remove_rows(writer, gone)
    uuids_of = {document_uuid(writer.space, document) for document in documents}
    emptied = [] if keep_documents else await _delete_empty_documents(writer, uuids_of)
    claimants = {*claimed, *emptied, *taken.claimants}
    withdrawn = await withdraw_claims(writer, claimants, taken.named)
    older, entities = await apply_withdrawal(writer, cut, withdrawn, documents)
    await update_versioned_documents(writer, uuids_of)
    revived = await apply_endings(writer, taken.ended())
    if not erase:
        await record_past_endings(writer, taken.endings)
    versions = await erase_endings(writer, taken.endings) if erase else 0
    return DeletionCounts(
        episodes=len(gone),
        facts=withdrawn.facts,
        local_facts=sum(len(row.targets) for row in cut.sentences_cut),
        mentions=len(cut.mentions_cut) + _lost_mentions(older),
        entities=entities,
        revived=len(revived),
        findings=await forget_episodes(writer, [passage.uuid for passage in gone]),
        versions=versions,
    )


async def _delete_empty_documents(writer: SpaceWriter, uuids: Collection[str]) -> list[str]:
    rows = await writer.write("delete_empty_documents", uuids=sorted(uuids))
    return list(rows[0]["documents"])


async def _unread(writer: SpaceWriter, uuids: Sequence[str]) -> None:
    """Withdraws the extraction by a language model from episodes whose text is about to change."""
    if not uuids:
        return
    taken = await withdraw_extraction(writer, uuids)
    withdrawn = await withdraw_claims(writer, taken.claimants, taken.named)
    await apply_withdrawal(writer, Changes(), withdrawn, ())
    await apply_endings(writer, taken.ended())
    await record_past_endings(writer, taken.endings)
    await forget_extracted(writer, uuids)


async def apply_withdrawal(
    writer: SpaceWriter, cut: Changes, withdrawn: Withdrawn, documents: Collection[str]
) -> tuple[Changes, int]:
    """Applies withdrawn claims and removed mentions; returns changes in older passages and the removed entities."""
    lost = await writer.unlink(cut.cut_entities() | withdrawn.ends)
    put = {key: uuids for key, uuids in withdrawn.renamed.items() if key not in lost}
    older = await writer.relink(put, lost)
    await writer.apply(older)
    touched = {*documents, *withdrawn.documents}
    entities = await _clean_up(writer, merged([cut, older]), older, touched, withdrawn.ends)
    return older, entities


async def _remove_rows(writer: SpaceWriter, passages: Sequence[Passage]) -> Changes:
    """Removes passages with their rows; the caller handles their names and facts."""
    if not passages:
        return Changes()
    cut = await asyncio.to_thread(_removed, writer.space, passages, writer.gazetteer)
    await writer.apply(cut)
    await writer.write("delete_passages", uuids=[passage.uuid for passage in passages])
    return cut


async def _clean_up(
    writer: SpaceWriter,
    cut: Changes,
    changes: Changes,
    documents: Collection[str],
    ends: Collection[str] = (),
) -> int:
    """Applies the effects of changed mentions: names without a source, orphans, citations."""
    entities = 0
    if cut.mentions_cut or changes.mentions_cut or ends:
        touched = cut.cut_entities() | changes.cut_entities() | set(ends)
        lost = await writer.unlink(touched)
        if lost:
            older = await writer.relink({}, lost)
            await writer.apply(older)
            touched |= older.cut_entities()
            documents = {*documents, *await writer.documents_of(older.touched_episodes())}
        entities = await writer.delete_orphans(touched)
        await writer.refresh_names(touched)
    await writer.cite(await writer.documents_of(changes.touched_episodes(), documents))
    return entities


def _read_all(passages: Sequence[Passage]) -> list[TokenizedPassage]:
    return [TokenizedPassage.of(passage) for passage in passages]


def _added(space: str, reads: Sequence[TokenizedPassage], gazetteer: Gazetteer) -> Changes:
    return merged(added(passage_rows(space, read, gazetteer)) for read in reads)


def _removed(space: str, passages: Sequence[Passage], gazetteer: Gazetteer) -> Changes:
    reads = _read_all(passages)
    return merged(removed(passage_rows(space, read, gazetteer)) for read in reads)


def is_same(stored: Passage | None, given: Passage) -> bool:
    """Returns whether the stored passage equals the given one, ignoring times."""
    if stored is None:
        return False
    return (stored.document_id, stored.title, stored.source, stored.content) == (
        given.document_id,
        given.title,
        given.source,
        given.content,
    )


def _new_mentions(changes: Changes, cut: Changes) -> int:
    before = {(row.episode, row.entity) for row in (*changes.mentions_cut, *cut.mentions_cut)}
    return sum((row.episode, row.entity) not in before for row in changes.mentions_put)


def _lost_mentions(changes: Changes) -> int:
    after = {(row.episode, row.entity) for row in changes.mentions_put}
    return sum((row.episode, row.entity) not in after for row in changes.mentions_cut)


def _new_local_facts(changes: Changes, cut: Changes) -> int:
    before = _pairs([*changes.sentences_cut, *cut.sentences_cut])
    return len(_pairs(changes.sentences_put) - before)


def _pairs(rows: Iterable[SentenceRow]) -> set[tuple[str, str, str]]:
    return {(row.uuid, row.subject, target) for row in rows for target in row.targets}
