"""Jobs as the database knows them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from services.postgres.pool import Row

UPLOAD = "upload"

QUEUED, RUNNING = "queued", "running"
SUCCEEDED, FAILED, CANCELLED = "succeeded", "failed", "cancelled"
STATES = (QUEUED, RUNNING, SUCCEEDED, FAILED, CANCELLED)
ENDED = frozenset({SUCCEEDED, FAILED, CANCELLED})

WHOLE_JOB = -1
"""The place of a reason that is the whole job's."""


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to accept, on behalf of a call. `arguments` are JSON values."""

    space: str
    user: str
    request_id: str
    kind: str
    arguments: Mapping[str, Any]
    input_hash: str = ""
    documents_total: int = 0
    data: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that could not be taken: its place in the upload, at which stage, and why."""

    position: int
    document_id: str
    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as it stands."""

    id: str
    number: int
    space: str
    user: str
    request_id: str
    kind: str
    arguments: dict[str, Any]
    size: int
    state: str
    documents_total: int
    documents_searchable: int
    documents_graph_ready: int
    documents_unchanged: int
    documents_failed: int
    chunks_written: int
    waiting_for: str
    progress: dict[str, Any] | None
    result: dict[str, Any] | None
    create_time: datetime
    update_time: datetime
    start_time: datetime | None
    searchable_time: datetime | None
    graph_ready_time: datetime | None
    end_time: datetime | None
    failures: Sequence[Failure] = ()

    @property
    def ended(self) -> bool:
        """Nothing of it changes any more unless it is tried again."""
        return self.state in ENDED


_RENAMED = {"user": "user_name"}
_JSON = ("arguments", "progress", "result")
_COLUMNS = [name for name in JobRecord.__slots__ if name not in {"failures", "id", *_JSON}]


def job_record(row: Row, failures: Sequence[Failure] = ()) -> JobRecord:
    """A row of the table of jobs."""
    values = {name: row[_RENAMED.get(name, name)] for name in _COLUMNS}
    told = {name: _json(row[name]) for name in _JSON}
    return JobRecord(id=str(row["id"]), failures=failures, **values, **told)


def _json(value: str | None) -> Any:
    return None if value is None else json.loads(value)
