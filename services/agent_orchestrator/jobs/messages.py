"""Jobs as the contract tells of them."""

from __future__ import annotations

from datetime import datetime

from braid.agent.v1 import ingest_pb2
from services.agent_orchestrator.jobs.records import JobRecord
from services.runtime.times import to_timestamp

STATES = {
    "queued": ingest_pb2.JOB_STATE_QUEUED,
    "running": ingest_pb2.JOB_STATE_RUNNING,
    "succeeded": ingest_pb2.JOB_STATE_SUCCEEDED,
    "failed": ingest_pb2.JOB_STATE_FAILED,
    "cancelled": ingest_pb2.JOB_STATE_CANCELLED,
}
NAMES = {state: name for name, state in STATES.items()}


def job_message(job: JobRecord) -> ingest_pb2.IngestJob:
    """The job as it stands."""
    return ingest_pb2.IngestJob(
        id=job.id,
        state=STATES[job.state],
        documents_total=job.documents_total,
        documents_searchable=job.documents_searchable,
        documents_graph_ready=job.documents_graph_ready,
        documents_unchanged=job.documents_unchanged,
        documents_failed=job.documents_failed,
        chunks_written=job.chunks_written,
        failures=[
            ingest_pb2.IngestFailure(
                document_id=one.document_id, reason=one.reason, stage=one.stage
            )
            for one in job.failures
        ],
        create_time=to_timestamp(job.create_time),
        update_time=to_timestamp(job.update_time),
        kind=job.kind,
        waiting_for=job.waiting_for,
        searchable_per_second=_rate(job.documents_searchable, job.start_time, job.searchable_time),
        graph_ready_per_second=_rate(
            job.documents_graph_ready, job.start_time, job.graph_ready_time
        ),
        removed=removed_rows(job),
        document_id=job.arguments.get("document_id", ""),
        title=job.arguments.get("title", ""),
        source=job.arguments.get("source", ""),
        start_time=to_timestamp(job.start_time) if job.start_time else None,
        end_time=to_timestamp(job.end_time) if job.end_time else None,
    )


def removed_rows(job: JobRecord) -> list[ingest_pb2.RemovedRows]:
    """What a deletion has removed; none of other jobs, and of one that has not succeeded."""
    rows = (job.result or {}).get("removed", [])
    return [
        ingest_pb2.RemovedRows(store=store, kind=kind, count=count) for store, kind, count in rows
    ]


def _rate(count: int, start: datetime | None, last: datetime | None) -> float:
    """Documents a second from the start of the work to the last of them."""
    if count == 0 or start is None or last is None:
        return 0.0
    return count / max((last - start).total_seconds(), 0.001)
