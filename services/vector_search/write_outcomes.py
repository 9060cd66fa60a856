"""What a write did: to the space's counters, and to each document."""

from __future__ import annotations

from dataclasses import dataclass

from services.postgres.pool import Row
from services.vector_search.domain import Outcome
from services.vector_search.versions import StoredVersion
from services.vector_search.write_plan import Planned, Stored


@dataclass(slots=True)
class Counts:
    """What a write adds to the space's counters."""

    documents: int = 0
    chunks: int = 0
    current: int = 0
    length: int = 0


def counts_of(
    planned: list[Planned],
    stored: Stored,
    made: dict[str, Row],
    retitled: dict[str, Row],
    flips: list[Row],
) -> Counts:
    """What a write that made, retitled and flagged these chunks adds."""
    counts = Counts(chunks=len(made))
    counts.length = sum(row["length_change"] for row in retitled.values() if row["current"])
    counts.documents = sum(not stored[p.document.document_id] for p in planned)
    for row in made.values():
        if row["current"]:
            counts.current += 1
            counts.length += row["length"]
    for row in flips:
        sign = 1 if row["wanted"] else -1
        counts.current += sign
        counts.length += sign * row["length"]
    return counts


def outcomes_of(
    planned: list[Planned],
    made: dict[str, Row],
    retitled: dict[str, Row],
    retired: dict[str, int],
) -> dict[str, Outcome]:
    """What became of the planned documents, by id."""
    return {
        p.document.document_id: Outcome(
            document_id=p.document.document_id,
            version=p.version.version,
            valid_from=p.version.valid_from,
            added=tuple(chunk.id for chunk in p.document.chunks if chunk.id in made),
            reindexed=tuple(chunk.id for chunk in p.document.chunks if chunk.id in retitled),
            retired=retired.get(p.document.document_id, 0),
        )
        for p in planned
    }


def unchanged(document_id: str, same: StoredVersion) -> Outcome:
    """What became of a document that is stored like that already."""
    return Outcome(
        document_id=document_id,
        version=same.version,
        valid_from=same.valid_from,
        unchanged=True,
    )
