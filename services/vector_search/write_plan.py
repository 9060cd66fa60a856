"""What a write makes of documents: the versions that they become, as columns of rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from services.runtime.errors import FieldError, InvalidFieldError
from services.vector_search.domain import FOREVER, NewChunk, NewDocument
from services.vector_search.versions import (
    NewVersion,
    StoredVersion,
    own_time,
    plan_version,
    same_content,
)

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
