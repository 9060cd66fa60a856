"""Updates the versions that contain passages, and the validity of their co-occurrences, within one write to a space."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from services.graph_query.core.domain import Passage
from services.graph_query.core.identity import document_uuid
from services.graph_query.core.intervals import OPEN
from services.graph_query.core.version_validity import Period, period_of
from services.graph_query.local_extraction.cooccurrence import TokenizedPassage, passage_rows
from services.graph_query.local_extraction.gazetteer import Gazetteer
from services.graph_query.neo4j.database import Rows
from services.graph_query.neo4j.space_writer import (
    SpaceWriter,
    as_passage,
    stored_period,
    stored_start,
)


def with_starts(passage: Passage, stored: Passage | None) -> Passage:
    """Returns a given passage with all versions that contain it: the given one and the stored ones.

    A passage that is restored brings the versions that it had. Of several own starts the earliest counts.
    """
    starts = {*passage.given_starts, *passage.starts, *(stored.starts if stored else ())}
    own_start = min(passage.given_own_start, stored.own_start if stored else OPEN)
    period = period_of(starts, starts, own_start)
    return replace(passage, starts=tuple(sorted(starts)), own_start=own_start, period=period)


def carried(passages: Iterable[Passage], stored: Mapping[str, Passage]) -> list[Passage]:
    """Returns the unchanged stored passages that gain a version or an earlier own start."""
    return [
        with_starts(passage, stored[passage.uuid])
        for passage in passages
        if not {*passage.given_starts, *passage.starts} <= set(stored[passage.uuid].starts)
        or passage.given_own_start < stored[passage.uuid].own_start
    ]


async def write_documents(writer: SpaceWriter, passages: Sequence[Passage]) -> set[str]:
    """Creates or updates the documents of passages; returns those whose validity must be updated."""
    documents: dict[str, dict[str, Any]] = {}
    for passage in passages:
        uuid = document_uuid(writer.space, passage.document_id)
        row = documents.setdefault(uuid, {"uuid": uuid, "versions": set(), "bare": False})
        row |= {
            "document_id": passage.document_id,
            "title": passage.title,
            "source": passage.source,
            "versions": row["versions"] | {*passage.given_starts, *passage.starts},
            "bare": row["bare"] or not passage.given_starts,
        }
    rows = [{**row, "versions": sorted(row["versions"])} for _, row in sorted(documents.items())]
    return {row["uuid"] for row in await writer.write("create_documents", rows=rows)}


async def carry(writer: SpaceWriter, passages: Sequence[Passage]) -> None:
    """Stores the versions and own starts of existing passages."""
    if passages:
        rows = [[one.uuid, list(one.starts), stored_start(one.own_start)] for one in passages]
        await writer.write("add_passage_versions", rows=rows)


async def update_periods(writer: SpaceWriter, documents: Collection[str]) -> None:
    """Recomputes the validity of documents' passages and their co-occurrences; reads all passages of each document."""
    if not documents:
        return
    entries = await writer.read("passages_of_documents", documents=sorted(documents))
    changed: dict[str, Period] = {}
    for row in entries:
        versions = {start for _, starts, *_ in row["passages"] for start in starts}
        if versions != set(row["versions"]):
            one = {"uuid": row["document"], "versions": sorted(versions)}
            await writer.write("set_versions", rows=[one])
        changed |= _changed(row["passages"], {*versions, *row["ends"]})
    if changed:
        rows = await writer.passages(sorted(changed))
        passages = [as_passage(row) for row in rows]
        gazetteer = writer.gazetteer
        put = await asyncio.to_thread(_rows, writer.space, passages, gazetteer, changed)
        await writer.write("set_validity_periods", rows=put)


async def update_versioned_documents(writer: SpaceWriter, documents: Collection[str]) -> None:
    """Runs `update_periods` for the documents that have versions, as some versions may have been removed."""
    if documents:
        rows = await writer.read("documents_of_versions", documents=sorted(documents))
        await update_periods(writer, [row["uuid"] for row in rows])


def _changed(passages: Sequence[Sequence[Any]], versions: Collection[float]) -> dict[str, Period]:
    periods = {}
    for uuid, starts, own_start, since, until, gaps in passages:
        period = period_of(starts, versions, -OPEN if own_start is None else own_start)
        if period != stored_period(since, until, gaps):
            periods[uuid] = period
    return periods


def _rows(
    space: str, passages: Sequence[Passage], gazetteer: Gazetteer, periods: Mapping[str, Period]
) -> Rows:
    return [
        {
            "uuid": passage.uuid,
            "since": periods[passage.uuid].since,
            "until": periods[passage.uuid].until,
            "gaps": list(periods[passage.uuid].gaps) or None,
            "sentences": [
                [row.uuid, row.subject, row.targets]
                for row in passage_rows(
                    space, TokenizedPassage.of(passage), gazetteer
                ).sentences.values()
            ],
        }
        for passage in passages
    ]
