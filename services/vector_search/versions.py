"""Versions in time: what writing a document's content makes of the versions that are there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from services.runtime.errors import FieldError, InvalidFieldError
from services.vector_search.domain import FOREVER, NewChunk, NewDocument

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
    whose chunks have times of their own replaces all that is there: each chunk tells since when it holds.
    """
    valid_from = document.valid_time or _free_instant(stored, now)
    if has_own_times(document) and stored:
        latest = max(version.valid_from for version in stored)
        valid_from = max(valid_from, latest + _TICK)
    if any(version.valid_from == valid_from for version in stored):
        raise InvalidFieldError(
            FieldError(f"{document.path}.valid_time", "another version of the document has it")
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
