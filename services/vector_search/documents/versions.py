"""Versions in time: what writing a document's content makes of the versions that are there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.postgres.pool import Row
from services.runtime.errors import VALID_TIME_TAKEN, FieldError, InvalidFieldError
from services.vector_search.domain import FOREVER, NewChunk, NewDocument, Outcome

_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version as stored: it holds at t when valid_from <= t < valid_until."""

    version: int
    valid_from: datetime
    valid_until: datetime
    content_hash: str

    def holds_at(self, instant: datetime) -> bool:
        """Whether this version is in force at `instant`."""
        return self.valid_from <= instant < self.valid_until


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version to write; `closes` is the version that it ends, the one in force just before it."""

    version: int
    valid_from: datetime
    valid_until: datetime
    closes: int | None


def same_content(
    stored: list[StoredVersion], document: NewDocument, now: datetime
) -> StoredVersion | None:
    """The version that already has this content: the one in force, the latest, or the one of the same valid time."""
    for version in stored:
        if version.content_hash != document.content_hash:
            continue
        if version.holds_at(now) or version.valid_until == FOREVER:
            return version
        if version.valid_from == document.valid_time and not has_own_times(document):
            return version
    return None


def plan_version(stored: list[StoredVersion], document: NewDocument, now: datetime) -> NewVersion:
    """Where a new content goes among the versions. InvalidFieldError when its valid time is taken.

    Without a valid time the content holds from `now`, or right after a version written in the same instant. Content
    whose chunks have times of their own replaces all that is there: each chunk has its own time since when it holds.
    """
    valid_from = document.valid_time or _free_instant(stored, now)
    if has_own_times(document) and stored:
        latest = max(version.valid_from for version in stored)
        valid_from = max(valid_from, latest + _TICK)
    if any(version.valid_from == valid_from for version in stored):
        raise InvalidFieldError(
            FieldError(f"{document.path}.valid_time", "another version of the document has it"),
            violation=VALID_TIME_TAKEN,
        )
    earlier = [version for version in stored if version.valid_from < valid_from]
    later = [version.valid_from for version in stored if version.valid_from > valid_from]
    return NewVersion(
        version=max((version.version for version in stored), default=0) + 1,
        valid_from=valid_from,
        valid_until=min(later, default=FOREVER),
        closes=max(earlier, key=lambda version: version.valid_from).version if earlier else None,
    )


def has_own_times(document: NewDocument) -> bool:
    """Whether some of the document's chunks hold since a time of their own."""
    return any(chunk.valid_time is not None for chunk in document.chunks)


def own_time(chunk: NewChunk, now: datetime) -> datetime | None:
    """Since when a chunk that is written at `now` holds by itself. What is dated later is there all the same."""
    return None if chunk.valid_time is None else min(chunk.valid_time, now)


def _free_instant(stored: list[StoredVersion], now: datetime) -> datetime:
    taken = {version.valid_from for version in stored}
    while now in taken:
        now += _TICK
    return now


Stored = dict[str, list[StoredVersion]]


@dataclass(frozen=True, slots=True)
class Planned:
    """A document to write and the version that it becomes."""

    document: NewDocument
    version: NewVersion
    holds: bool


def same_versions(
    documents: Sequence[NewDocument], stored: Stored, now: datetime
) -> dict[str, StoredVersion]:
    """The versions of those documents that are stored like that already, by document."""
    found = {d.document_id: same_content(stored[d.document_id], d, now) for d in documents}
    return {key: version for key, version in found.items() if version is not None}


def planned_versions(
    changed: Sequence[NewDocument], stored: Stored, now: datetime
) -> list[Planned]:
    """The documents, each with the version that it becomes."""
    planned = []
    for document in changed:
        version = plan_version(stored[document.document_id], document, now)
        holds = version.valid_from <= now < version.valid_until
        planned.append(Planned(document, version, holds))
    return planned


def refuse_other_chunks(planned: list[Planned], others: set[str]) -> None:
    """InvalidFieldError for chunks whose ids are `others`' already."""
    wrong = [
        FieldError(f"{p.document.path}.chunks[{i}].id", "is the id of another text or document")
        for p in planned
        for i, chunk in enumerate(p.document.chunks)
        if chunk.id in others
    ]
    if wrong:
        raise InvalidFieldError(*wrong)


def version_columns(planned: list[Planned]) -> tuple[list[object], ...]:
    """Columns of the versions' rows."""
    return (
        [p.document.document_id for p in planned],
        [p.version.version for p in planned],
        [p.version.valid_from for p in planned],
        [p.version.valid_until if p.version.valid_until < FOREVER else None for p in planned],
        [p.document.content_hash for p in planned],
        [p.document.title for p in planned],
        [p.document.source for p in planned],
        [json.dumps(p.document.metadata) for p in planned],
        [len(p.document.chunks) for p in planned],
    )


def version_chunk_columns(planned: list[Planned], now: datetime) -> tuple[list[object], ...]:
    """Columns of the rows that give versions their chunks, as written at `now`."""
    rows: list[tuple[Planned, int, NewChunk]] = [
        (p, ordinal, chunk) for p in planned for ordinal, chunk in enumerate(p.document.chunks)
    ]
    return (
        [p.document.document_id for p, _, _ in rows],
        [p.version.version for p, _, _ in rows],
        [ordinal for _, ordinal, _ in rows],
        [chunk.id for _, _, chunk in rows],
        [chunk.start_char for _, _, chunk in rows],
        [chunk.end_char for _, _, chunk in rows],
        [chunk.page for _, _, chunk in rows],
        [own_time(chunk, now) for _, _, chunk in rows],
    )


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
