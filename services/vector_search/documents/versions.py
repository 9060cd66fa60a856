"""Versions in time: how a document's new content changes its existing versions."""

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
    """A version as stored, valid at t if valid_from <= t < valid_until.

    The version with which a document ends has no content.
    """

    version: int
    valid_from: datetime
    valid_until: datetime
    content_hash: str
    is_end: bool = False

    def holds_at(self, instant: datetime) -> bool:
        """Returns whether this version is in force at `instant`."""
        return self.valid_from <= instant < self.valid_until


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version to write; `closes` is the version that it ends: the one in force just before it."""

    version: int
    valid_from: datetime
    valid_until: datetime
    closes: int | None


def latest_of(stored: list[StoredVersion]) -> StoredVersion:
    """Returns the version of a stored document that begins last."""
    return max(stored, key=lambda version: version.valid_from)


def same_content(
    stored: list[StoredVersion], document: NewDocument, now: datetime
) -> StoredVersion | None:
    """Returns the version that already has this content: in force, the latest, or of the same valid time.

    None for a document that has ended: the same content continues it.
    """
    if stored and latest_of(stored).is_end:
        return None
    for version in stored:
        if version.content_hash != document.content_hash:
            continue
        if version.holds_at(now) or version.valid_until == FOREVER:
            return version
        if version.valid_from == document.valid_time and not has_own_times(document):
            return version
    return None


def plan_version(stored: list[StoredVersion], document: NewDocument, now: datetime) -> NewVersion:
    """Plans the version of new content. Raises InvalidFieldError if its valid time is taken.

    Without a valid time the content is valid from `now`, or right after a version written in the same instant. If
    chunks have valid times of their own, the content replaces all existing versions, as each chunk has its own start.
    """
    valid_from = document.valid_time or _free_instant(stored, now)
    if has_own_times(document) and stored:
        valid_from = max(valid_from, latest_of(stored).valid_from + _TICK)
    if any(version.valid_from == valid_from for version in stored):
        raise _taken(document, "another version of the document has it")
    if stored and latest_of(stored).is_end and valid_from < latest_of(stored).valid_from:
        raise _taken(document, "the document has ended since: give none to continue it")
    earlier = [version for version in stored if version.valid_from < valid_from]
    later = [version.valid_from for version in stored if version.valid_from > valid_from]
    return NewVersion(
        version=max((version.version for version in stored), default=0) + 1,
        valid_from=valid_from,
        valid_until=min(later, default=FOREVER),
        closes=max(earlier, key=lambda version: version.valid_from).version if earlier else None,
    )


def ending_of(document_id: str, stored: list[StoredVersion], now: datetime) -> NewDocument:
    """Returns the version without content that ends a stored document: from now, or after its last beginning."""
    return NewDocument(
        path="",
        document_id=document_id,
        title="",
        source="",
        content_hash="",
        metadata={},
        valid_time=max(now, latest_of(stored).valid_from + _TICK),
        chunks=(),
    )


def _taken(document: NewDocument, description: str) -> InvalidFieldError:
    wrong = FieldError(f"{document.path}.valid_time", description)
    return InvalidFieldError(wrong, violation=VALID_TIME_TAKEN)


def has_own_times(document: NewDocument) -> bool:
    """Returns whether some of the document's chunks have a valid time of their own."""
    return any(chunk.valid_time is not None for chunk in document.chunks)


def own_time(chunk: NewChunk, now: datetime) -> datetime | None:
    """Returns the own valid time of a chunk that is written at `now`; a later one is reduced to `now`."""
    return None if chunk.valid_time is None else min(chunk.valid_time, now)


def _free_instant(stored: list[StoredVersion], now: datetime) -> datetime:
    taken = {version.valid_from for version in stored}
    while now in taken:
        now += _TICK
    return now


Stored = dict[str, list[StoredVersion]]


@dataclass(frozen=True, slots=True)
class Planned:
    """A document to write, and the version to create for it."""

    document: NewDocument
    version: NewVersion
    holds: bool


def same_versions(
    documents: Sequence[NewDocument], stored: Stored, now: datetime
) -> dict[str, StoredVersion]:
    """Returns, by document, the versions of those documents that are stored unchanged."""
    found = {d.document_id: same_content(stored[d.document_id], d, now) for d in documents}
    return {key: version for key, version in found.items() if version is not None}


def planned_versions(
    changed: Sequence[NewDocument], stored: Stored, now: datetime
) -> list[Planned]:
    """Returns the documents, each with the version to create for it."""
    planned = []
    for document in changed:
        version = plan_version(stored[document.document_id], document, now)
        holds = version.valid_from <= now < version.valid_until
        planned.append(Planned(document, version, holds))
    return planned


def refuse_other_chunks(planned: list[Planned], others: set[str]) -> None:
    """Raises InvalidFieldError for chunks whose ids belong to `others`."""
    wrong = [
        FieldError(f"{p.document.path}.chunks[{i}].id", "is the id of another text or document")
        for p in planned
        for i, chunk in enumerate(p.document.chunks)
        if chunk.id in others
    ]
    if wrong:
        raise InvalidFieldError(*wrong)


def version_columns(planned: list[Planned]) -> tuple[list[object], ...]:
    """Returns the columns of the versions' rows."""
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
    """Returns the columns of the rows that assign chunks to versions, as written at `now`."""
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
    """The changes of the space's counters by a write."""

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
    """Returns the changes by a write that inserted, retitled and flagged these chunks."""
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
    """Returns the outcomes of the planned documents, by id."""
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
    """Returns the outcome of an unchanged document."""
    return Outcome(
        document_id=document_id,
        version=same.version,
        valid_from=same.valid_from,
        unchanged=True,
    )
