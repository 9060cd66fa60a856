"""Ends and revives facts and creates the past version of each change, within one write to a space."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from services.graph_query.core.intervals import end_of
from services.graph_query.core.invalidation import (
    CALLER,
    NOT_AFTER_START,
    Ending,
    effective_end,
)
from services.graph_query.neo4j.row_mapping import instant
from services.graph_query.neo4j.space_writer import SpaceWriter
from services.runtime.errors import FieldError, InvalidFieldError, NotFoundError
from services.runtime.ids import derived_uuid


async def create_past_versions(writer: SpaceWriter, uuids: Iterable[str]) -> None:
    """Saves the current state of facts as known until this write. Unknown facts are skipped."""
    known_until = writer.now.timestamp()
    rows = [{"fact_uuid": uuid, "uuid": _version_uuid(uuid, known_until)} for uuid in sorted(uuids)]
    if rows:
        await writer.write("create_past_versions", rows=rows, now=known_until)


def _version_uuid(fact: str, known_until: float) -> str:
    return derived_uuid("past version", fact, repr(known_until))


class FactEnding(NamedTuple):
    """A record that a cause ended a fact."""

    fact: str
    cause: str


async def end_fact(writer: SpaceWriter, uuid: str, at: datetime) -> bool:
    """Ends a fact at a caller's request; returns whether its end changed.

    Raises NotFoundError for an unknown fact, InvalidFieldError for an end that is not after its start.
    """
    rows = await writer.read("endings_of", uuids=[uuid])
    if not rows:
        raise NotFoundError("fact")
    if rows[0]["since"] >= at.timestamp():
        raise InvalidFieldError(FieldError("invalid_time", NOT_AFTER_START))
    if Ending(CALLER, at) in _endings(rows[0]):
        return False
    await record_endings(writer, CALLER, [(uuid, at)])
    return bool(await apply_endings(writer, [uuid]))


async def record_endings(
    writer: SpaceWriter, cause: str, ends: Iterable[tuple[str, datetime]]
) -> None:
    """Records that a cause ends facts; `apply_endings` applies it."""
    rows = [{"cause": cause, "uuid": uuid, "at": at} for uuid, at in sorted(ends)]
    if rows:
        await writer.write("record_endings", rows=rows)


async def apply_endings(
    writer: SpaceWriter, facts: Collection[str], cause: str | None = None
) -> list[str]:
    """Sets the end of facts from all recorded endings; returns the facts whose end changed."""
    changed, attributed = [], []
    for row in await writer.read("endings_of", uuids=sorted(facts)) if facts else []:
        at, told_by = effective_end(instant(row["stated"]), _endings(row))
        if end_of(at) != row["until"]:
            parameters = {"uuid": row["uuid"], "at": at, "until": end_of(at), "told_by": told_by}
            changed.append(parameters)
        elif told_by != row["told_by"]:
            attributed.append({"uuid": row["uuid"], "told_by": told_by})
    if attributed:
        await writer.write("set_end_causes", rows=attributed)
    if changed:
        await create_past_versions(writer, [row["uuid"] for row in changed])
        known = writer.now.timestamp()
        await writer.write("end_facts", rows=changed, now=writer.now, known=known, cause=cause)
    return [row["uuid"] for row in changed]


async def remove_endings(writer: SpaceWriter, episodes: Sequence[str]) -> list[FactEnding]:
    """Removes the endings set by episodes and returns them; the caller then applies the remaining ones."""
    rows = await writer.read("take_endings", causes=sorted(episodes))
    return [FactEnding(row["uuid"], row["cause"]) for row in rows]


async def drop_endings(
    writer: SpaceWriter, facts: Collection[str], *, moved: bool
) -> list[FactEnding]:
    """Removes the endings of deleted facts and returns them.

    Endings by existing episodes are kept, in case the fact is stated again, unless the facts `moved`.
    """
    if not facts:
        return []
    rows = await writer.write("drop_endings", uuids=sorted(facts), moved=moved)
    return [FactEnding(row["uuid"], row["cause"]) for row in rows]


async def apply_earlier_endings(
    writer: SpaceWriter, facts: Collection[str], cause: str | None
) -> None:
    """Applies endings that were recorded before these facts were deleted and stated again."""
    rows = await writer.read("facts_with_endings", uuids=sorted(facts)) if facts else []
    await apply_endings(writer, [row["uuid"] for row in rows], cause)


def _endings(row: dict[str, Any]) -> list[Ending]:
    found = []
    for cause, at in row["endings"]:
        when = instant(at)
        if when is not None:
            found.append(Ending(cause, when))
    return found
