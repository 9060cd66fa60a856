"""Maps jobs from database rows to records and contract messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from braid.agent.v1 import jobs_pb2
from services.postgres.pool import Row
from services.runtime.times import to_timestamp

Counted = TypeVar("Counted")

UPLOAD = "upload"
DELETE_SPACE = "delete_space"

QUEUED, RUNNING = "queued", "running"
SUCCEEDED, FAILED, CANCELLED = "succeeded", "failed", "cancelled"
STATES = (QUEUED, RUNNING, SUCCEEDED, FAILED, CANCELLED)
ENDED = frozenset({SUCCEEDED, FAILED, CANCELLED})

WHOLE_JOB = -1
"""The place of a reason that is the whole job's."""


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to accept on behalf of a call. `arguments` are JSON values."""

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
    """A document that could not be ingested: its position in the upload, the stage, and the reason."""

    position: int
    document_id: str
    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class JobWarning:
    """What was not taken of a document: its position in the upload, the reason's name, a sentence and the place."""

    position: int
    document_id: str
    reason: str
    text: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class JobRecord:
    """The current state of a job."""

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
    warning_count: int
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
    warnings: Sequence[JobWarning] = ()

    @property
    def ended(self) -> bool:
        """Whether the job has ended; it no longer changes unless it is retried."""
        return self.state in ENDED


_RENAMED = {"user": "user_name"}
_JSON = ("arguments", "progress", "result")
_COLUMNS = [
    name for name in JobRecord.__slots__ if name not in {"failures", "warnings", "id", *_JSON}
]


def job_record(
    row: Row, failures: Sequence[Failure] = (), warnings: Sequence[JobWarning] = ()
) -> JobRecord:
    """Maps a row of the job table."""
    values = {name: row[_RENAMED.get(name, name)] for name in _COLUMNS}
    decoded = {name: _json(row[name]) for name in _JSON}
    return JobRecord(id=str(row["id"]), failures=failures, warnings=warnings, **values, **decoded)


def _json(value: str | None) -> Any:
    return None if value is None else json.loads(value)


JOB_STATES = {
    "queued": jobs_pb2.JOB_STATE_QUEUED,
    "running": jobs_pb2.JOB_STATE_RUNNING,
    "succeeded": jobs_pb2.JOB_STATE_SUCCEEDED,
    "failed": jobs_pb2.JOB_STATE_FAILED,
    "cancelled": jobs_pb2.JOB_STATE_CANCELLED,
}
STATE_NAMES = {state: name for name, state in JOB_STATES.items()}


JOB_KINDS = {
    "upload": jobs_pb2.JOB_KIND_UPLOAD,
    "delete": jobs_pb2.JOB_KIND_DELETE,
    "reembed": jobs_pb2.JOB_KIND_REEMBED,
    "reextract": jobs_pb2.JOB_KIND_REEXTRACT,
    "infer": jobs_pb2.JOB_KIND_INFER,
    "delete_space": jobs_pb2.JOB_KIND_DELETE_SPACE,
    "retention": jobs_pb2.JOB_KIND_RETENTION,
}
KIND_NAMES = {kind: name for name, kind in JOB_KINDS.items()}
_UNITS = {
    "reembed": jobs_pb2.JOB_UNIT_CHUNK,
    "reextract": jobs_pb2.JOB_UNIT_CHUNK,
    "infer": jobs_pb2.JOB_UNIT_MEMORY,
}
_STAGES = {
    "search": jobs_pb2.JOB_STAGE_SEARCH,
    "graph": jobs_pb2.JOB_STAGE_GRAPH,
    "task": jobs_pb2.JOB_STAGE_TASK,
}


def job_message(job: JobRecord) -> jobs_pb2.Job:
    """Maps a job."""
    return jobs_pb2.Job(
        id=job.id,
        state=JOB_STATES[job.state],
        unit_count=job.documents_total,
        searchable_count=job.documents_searchable,
        graph_ready_count=job.documents_graph_ready,
        unchanged_count=job.documents_unchanged,
        failed_count=job.documents_failed,
        written_chunk_count=job.chunks_written,
        failures=map(failure_message, job.failures),
        warnings=map(warning_message, job.warnings),
        warning_count=job.warning_count,
        create_time=to_timestamp(job.create_time),
        update_time=to_timestamp(job.update_time),
        kind=JOB_KINDS[job.kind],
        unit=_UNITS.get(job.kind, jobs_pb2.JOB_UNIT_DOCUMENT),
        waiting_for=job.waiting_for,
        searchable_per_second=_rate(job.documents_searchable, job.start_time, job.searchable_time),
        graph_ready_per_second=_rate(
            job.documents_graph_ready, job.start_time, job.graph_ready_time
        ),
        removed=removed_rows(job),
        inferred=inferred_relations(job),
        document_id=job.arguments.get("document_id", ""),
        title=job.arguments.get("title", ""),
        source=job.arguments.get("source", ""),
        start_time=to_timestamp(job.start_time) if job.start_time else None,
        end_time=to_timestamp(job.end_time) if job.end_time else None,
    )


def failure_message(failure: Failure) -> jobs_pb2.JobFailure:
    """Maps a failure."""
    return jobs_pb2.JobFailure(
        document_id=failure.document_id, reason=failure.reason, stage=_STAGES[failure.stage]
    )


def warning_message(warning: JobWarning) -> jobs_pb2.JobWarning:
    """Maps a warning."""
    return jobs_pb2.JobWarning(
        document_id=warning.document_id,
        reason=jobs_pb2.JobWarningReason.Value(f"JOB_WARNING_REASON_{warning.reason.upper()}"),
        text=warning.text,
        where=warning.where,
    )


def removed_rows(job: JobRecord) -> list[jobs_pb2.RemovedRows]:
    """Returns the rows that a job has removed; empty for other jobs and unless it succeeded."""
    return row_counts(jobs_pb2.RemovedRows, (job.result or {}).get("removed", []))


def row_counts(
    shape: Callable[..., Counted], rows: Iterable[tuple[str, str, int]]
) -> list[Counted]:
    """Maps rows of a receipt or of a count: store, kind, count."""
    return [
        shape(
            store=jobs_pb2.Store.Value(f"STORE_{store.upper()}"),
            kind=jobs_pb2.RowKind.Value(f"ROW_KIND_{kind.upper()}"),
            count=count,
        )
        for store, kind, count in rows
    ]


def inferred_relations(job: JobRecord) -> jobs_pb2.InferredRelations | None:
    """Returns the result of an inference; None for other jobs and unless it succeeded."""
    done = (job.result or {}).get("inferred")
    if done is None:
        return None
    return jobs_pb2.InferredRelations(
        examined_count=done["examined"],
        created_counts=done["created"],
        created_count=sum(done["created"].values()),
        removed_count=done["removed"],
    )


def _rate(count: int, start: datetime | None, last: datetime | None) -> float:
    """Returns documents per second from the start of the work to the last document."""
    if count == 0 or start is None or last is None:
        return 0.0
    return count / max((last - start).total_seconds(), 0.001)
