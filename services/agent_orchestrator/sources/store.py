"""The sources of every space."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from braid.agent.v1 import sources_pb2
from services.agent_orchestrator.database import Database
from services.postgres.pool import Row
from services.runtime.errors import FieldError, InvalidFieldError, NotFoundError

MAX_SOURCES = 1000
"""Sources that a space may have."""


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """What a source is."""

    name: str
    kind: sources_pb2.SourceKind.ValueType
    root: str
    include: Sequence[str]
    exclude: Sequence[str]
    every_minutes: int | None
    credential_variable: str
    with_history: bool
    paused: bool


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A source as it is kept; `last_run` has JSON values by the contract's names, and is empty before the first one."""

    spec: SourceSpec
    create_time: datetime
    last_run: Mapping[str, Any]


class SourceStore:
    """Keeps sources in the orchestrator's database."""

    def __init__(self, database: Database) -> None:
        self._pool = database.pool
        self._queries = database.queries

    async def put(self, space: str, spec: SourceSpec) -> SourceRecord:
        """Sets what a source is. Raises InvalidFieldError if it would be one too many."""
        row = await self._row(
            "put_source",
            space,
            spec.name,
            spec.kind,
            spec.root,
            spec.include,
            spec.exclude,
            spec.every_minutes,
            spec.credential_variable,
            spec.with_history,
            spec.paused,
            MAX_SOURCES,
        )
        if row is None:
            text = f"a space has at most {MAX_SOURCES} sources"
            raise InvalidFieldError(FieldError("name", text))
        return _record(row)

    async def all(self, space: str) -> list[SourceRecord]:
        """Returns all sources of a space by name."""
        async with self._pool.session() as session:
            return [
                _record(row) for row in await session.fetch(self._queries["list_sources"], space)
            ]

    async def get(self, space: str, name: str) -> SourceRecord:
        """Returns a source. Raises NotFoundError if there is none."""
        return _found(await self._row("get_source", space, name))

    async def delete(self, space: str, name: str) -> SourceRecord:
        """Forgets a source; returns it as it was. Raises NotFoundError if there is none."""
        return _found(await self._row("delete_source", space, name))

    async def record_run(self, space: str, name: str, run: Mapping[str, Any]) -> SourceRecord:
        """Notes how a run has just ended. Raises NotFoundError if there is no such source."""
        return _found(await self._row("record_source_run", space, name, json.dumps(run)))

    async def _row(self, query: str, *values: object) -> Row | None:
        async with self._pool.session() as session:
            return await session.row(self._queries[query], *values)


def _found(row: Row | None) -> SourceRecord:
    if row is None:
        raise NotFoundError("source")
    return _record(row)


def _record(row: Row) -> SourceRecord:
    spec = SourceSpec(**{name: row[name] for name in SourceSpec.__slots__})
    return SourceRecord(spec, row["create_time"], json.loads(row["last_run"] or "{}"))
