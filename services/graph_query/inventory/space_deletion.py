"""Deletes what the graph has of a space, step by step: what others refer to goes last."""

from __future__ import annotations

from dataclasses import fields

from services.graph_query.core.domain import DeletionCounts
from services.graph_query.core.intervals import OPEN
from services.graph_query.inventory.deletion_records import DeletionRecord
from services.graph_query.local_extraction.gazetteer import Gazetteer
from services.graph_query.neo4j.space_writer import SpaceWriter

# Rows of each kind that one transaction removes.
ROWS_AT_ONCE = 5_000
_STEPS = (
    "delete_space_facts",
    "delete_space_sentences",
    "delete_space_episodes",
    "delete_space_fact_versions",
    "delete_space_findings",
    "delete_space_records",
    "delete_space_entities",
)


async def remove_rows(writer: SpaceWriter, deletion_id: str) -> DeletionRecord:
    """Removes up to `ROWS_AT_ONCE` rows of the first kind that the space has; without any left, its state."""
    writer.gazetteer = Gazetteer.of(
        {}
    )  # names go in several transactions, and no text may be linked to them meanwhile
    writer.names_changed = True
    for step in _STEPS:
        [row] = await writer.write(step, limit=ROWS_AT_ONCE, least=-OPEN, deletion=deletion_id)
        if any(row.values()):
            return DeletionRecord(_counts(row), ended=False)
    await writer.write("reset_space")
    return DeletionRecord(DeletionCounts(), ended=True)


def _counts(row: dict[str, int]) -> DeletionCounts:
    names = {one.name for one in fields(DeletionCounts)}
    return DeletionCounts(**{name: count for name, count in row.items() if name in names})
