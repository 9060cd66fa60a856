"""What a deletion has removed so far, kept for 30 days under its id: a repeated deletion goes on from there."""

from __future__ import annotations

from dataclasses import asdict, fields
from datetime import timedelta
from typing import Any, NamedTuple

from services.graph_query.core.domain import DeletionCounts
from services.graph_query.neo4j.space_writer import SpaceWriter

_KEPT = timedelta(days=30)


class DeletionRecord(NamedTuple):
    """What a deletion has removed so far, and whether it has ended; after that it removes nothing."""

    counts: DeletionCounts
    ended: bool


async def read_deletion(writer: SpaceWriter, deletion_id: str) -> DeletionRecord:
    """Returns the record of a deletion; zeros if it has not begun."""
    rows = await writer.read("get_deletion", id=deletion_id)
    if not rows:
        return DeletionRecord(DeletionCounts(), ended=False)
    kept = rows[0]["counts"]
    counts = {one.name: kept.get(one.name, 0) for one in fields(DeletionCounts)}
    return DeletionRecord(DeletionCounts(**counts), rows[0]["ended"])


async def keep_deletion(writer: SpaceWriter, deletion_id: str, record: DeletionRecord) -> None:
    """Stores the record of a deletion in the transaction that deletes."""
    value: dict[str, Any] = {"counts": asdict(record.counts), "ended": record.ended}
    before = writer.now - _KEPT
    await writer.write("record_deletion", id=deletion_id, now=writer.now, before=before, **value)
