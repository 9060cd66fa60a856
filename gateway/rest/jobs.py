"""`/api/jobs`: state of jobs, once or as a stream; failed documents; cancellation and retry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Path, Query
from pydantic import Field
from starlette.responses import Response

from braid.agent.v1 import jobs_pb2, memories_pb2
from gateway.rest.http.calls import CallerDep, ClientsDep, SettingsDep, WatcherDep
from gateway.rest.http.event_stream import stream
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_types import Instant, PageSize, at_most, stamp
from gateway.rest.mapping.json_encoding import Json, JsonResponse, time
from gateway.rest.mapping.openapi import ErrorEvent, ResponseSchema, events, problems

if TYPE_CHECKING:
    from collections.abc import Iterable


class Removed(ResponseSchema):
    """How many rows of a kind were removed from a store."""

    store: str
    kind: str
    count: int


class Failure(ResponseSchema):
    """A document that could not be taken."""

    id: str
    reason: str
    stage: str


class Warned(ResponseSchema):
    """Something of a document that was not taken, or not as it was written."""

    id: str
    reason: str
    text: str
    where: str | None


class Inferred(ResponseSchema):
    """What an inference of relations between memories did."""

    examined: int
    created: int
    created_by_method: dict[str, int]
    removed: int


class Job(ResponseSchema):
    """Work that goes on; `documents_…` count chunks or memories in jobs whose kind works on those."""

    id: str
    state: Literal["QUEUED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "UNSPECIFIED"]
    documents_total: int
    documents_searchable: int
    documents_graph_ready: int
    documents_unchanged: int
    documents_failed: int
    chunks_written: int
    failures: list[Failure]
    warnings: list[Warned]
    warnings_total: int
    kind: str
    waiting_for: str | None
    searchable_per_second: float
    graph_ready_per_second: float
    removed: list[Removed]
    inferred: Inferred | None
    document_id: str | None
    title: str | None
    source: str | None
    created_at: str | None
    updated_at: str | None
    started_at: str | None
    ended_at: str | None


class OneJob(ResponseSchema):
    """The job of what was asked for."""

    job: Job


class Jobs(ResponseSchema):
    """A page of jobs; `next_cursor` is null at the end."""

    jobs: list[Job]
    next_cursor: str | None


class DeadDocument(ResponseSchema):
    """A document that was accepted and could not be taken."""

    job_id: str
    id: str
    reason: str
    stage: str
    failed_at: str | None


class DeadDocuments(ResponseSchema):
    """A page of dead documents; `next_cursor` is null at the end."""

    documents: list[DeadDocument]
    next_cursor: str | None


class RetriedDead(ResponseSchema):
    """The dead documents that are being tried again, their jobs, and the documents that remain dead: of jobs that still
    run, deleted since, or whose upload is not stored any more.
    """

    documents: int
    jobs: int
    remaining: int


class JobEvent(ResponseSchema):
    """A job as it stands."""

    event: Literal["job"]
    data: Job


WatchEvent: TypeAlias = Annotated[JobEvent | ErrorEvent, Field(discriminator="event")]


_KIND = {v: k.removeprefix("JOB_KIND_").lower() for k, v in jobs_pb2.JobKind.items()}
_STAGE = {v: k.removeprefix("JOB_STAGE_").lower() for k, v in jobs_pb2.JobStage.items()}
_WARNING = {
    v: k.removeprefix("JOB_WARNING_REASON_").lower() for k, v in jobs_pb2.JobWarningReason.items()
}
_STORE = {v: k.removeprefix("STORE_").lower() for k, v in jobs_pb2.Store.items()}
_ROWS = {v: k.removeprefix("ROW_KIND_").lower() for k, v in jobs_pb2.RowKind.items()}
_STATE = {v: k.removeprefix("JOB_STATE_") for k, v in jobs_pb2.JobState.items()}


def job(message: jobs_pb2.Job) -> Json:
    """A job as it stands."""
    return {
        "id": message.id,
        "state": _STATE.get(message.state, "UNSPECIFIED"),
        "documents_total": message.unit_count,
        "documents_searchable": message.searchable_count,
        "documents_graph_ready": message.graph_ready_count,
        "documents_unchanged": message.unchanged_count,
        "documents_failed": message.failed_count,
        "chunks_written": message.written_chunk_count,
        "failures": [failure(one) for one in message.failures],
        "warnings": [warning(one) for one in message.warnings],
        "warnings_total": message.warning_count,
        "kind": _KIND[message.kind],
        "waiting_for": message.waiting_for or None,
        "searchable_per_second": message.searchable_per_second,
        "graph_ready_per_second": message.graph_ready_per_second,
        "removed": removed_rows(message.removed),
        "inferred": inferred(message.inferred) if message.HasField("inferred") else None,
        "document_id": message.document_id or None,
        "title": message.title or None,
        "source": message.source or None,
        "created_at": time(message, "create_time"),
        "updated_at": time(message, "update_time"),
        "started_at": time(message, "start_time"),
        "ended_at": time(message, "end_time"),
    }


def accepted(message: jobs_pb2.Job) -> Response:
    """Returns the answer for work that continues as a job, with the job's address."""
    shown = job(message)
    return JsonResponse({"job": shown}, 202, {"location": f"/api/jobs/{shown['id']}"})


def failure(message: jobs_pb2.JobFailure) -> Json:
    """A document that could not be taken."""
    return {"id": message.document_id, "reason": message.reason, "stage": _STAGE[message.stage]}


def warning(message: jobs_pb2.JobWarning) -> Json:
    """Something of a document that was not taken, or not as it was written."""
    return {
        "id": message.document_id,
        "reason": _WARNING.get(message.reason, "unspecified"),
        "text": message.text,
        "where": message.where or None,
    }


def dead_document(message: jobs_pb2.DeadDocument) -> Json:
    """Returns a dead document as JSON."""
    fields = failure(message.failure)
    return {"job_id": message.job_id, **fields, "failed_at": time(message, "create_time")}


def inferred(
    done: jobs_pb2.InferredRelations | memories_pb2.RunMemoryInferenceResponse,
) -> Json:
    """Returns the result of an inference as JSON."""
    return {
        "examined": done.examined_count,
        "created": sum(done.created_counts.values()),
        "created_by_method": dict(sorted(done.created_counts.items())),
        "removed": done.removed_count,
    }


def removed_rows(rows: Iterable[jobs_pb2.RemovedRows]) -> list[Json]:
    return [
        {"store": _STORE[row.store], "kind": _ROWS[row.kind], "count": row.count} for row in rows
    ]


router = APIRouter(route_class=ScopedRoute, prefix="/api/jobs", tags=["jobs"], responses=problems())

_SERVICE = "/braid.agent.v1.JobService/"
# The contract's maximum.
MAX_STATES = 10
Limit = Annotated[
    PageSize,
    Bounds(jobs_pb2.ListJobsRequest, "page_size"),
    Query(description="How many, up to 200; more counts as 200. Default, and 0: 50."),
]
Cursor = Annotated[
    str,
    Bounds(jobs_pb2.ListJobsRequest, "page_token"),
    Query(description="`next_cursor` of the page before."),
]
KindName = Literal["upload", "delete", "reembed", "reextract", "infer"]
StateName = Literal["QUEUED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED"]
JobId = Annotated[
    str,
    Bounds(jobs_pb2.GetJobRequest, "job_id"),
    Path(description="The job's id, as the upload was answered with."),
]


@router.get("", response_model=Jobs)
async def list_jobs(  # noqa: PLR0917 - the framework names them
    caller: CallerDep,
    clients: ClientsDep,
    limit: Limit = 0,
    cursor: Cursor = "",
    state: Annotated[
        list[StateName] | None,
        Bounds(jobs_pb2.ListJobsRequest, "states"),
        Query(description="Only in these states."),
        at_most(MAX_STATES),
    ] = None,
    kind: Annotated[
        KindName | None, Query(description="Only of this kind, such as `upload`.")
    ] = None,
) -> Response:
    """The jobs, the latest first, in pages."""
    states = [jobs_pb2.JobState.Value(f"JOB_STATE_{name}") for name in state or ()]
    kinds = [jobs_pb2.JobKind.Value(f"JOB_KIND_{kind.upper()}")] if kind else []
    request = jobs_pb2.ListJobsRequest(
        page_size=limit, page_token=cursor, states=states, kinds=kinds
    )
    answer = await caller.call(_SERVICE + "ListJobs", clients.jobs.ListJobs, request)
    shown = [job(one) for one in answer.jobs]
    return JsonResponse({"jobs": shown, "next_cursor": answer.next_page_token or None})


@router.get("/dead", response_model=DeadDocuments)
async def list_dead_documents(
    caller: CallerDep, clients: ClientsDep, limit: Limit = 0, cursor: Cursor = ""
) -> Response:
    """The documents that were accepted and could not be taken, the latest first, in pages."""
    request = jobs_pb2.ListDeadDocumentsRequest(page_size=limit, page_token=cursor)
    method = _SERVICE + "ListDeadDocuments"
    answer = await caller.call(method, clients.jobs.ListDeadDocuments, request)
    shown = [dead_document(one) for one in answer.documents]
    return JsonResponse({"documents": shown, "next_cursor": answer.next_page_token or None})


@router.post("/dead/retry", response_model=RetriedDead)
async def retry_dead_documents(
    caller: CallerDep,
    clients: ClientsDep,
    since: Annotated[
        Instant | None,
        Query(description="Only documents that failed at this time or later. Default: all."),
    ] = None,
) -> Response:
    """Tries again all documents that could not be taken, and counts them."""
    request = jobs_pb2.RetryDeadDocumentsRequest(since_time=stamp(since))
    method = _SERVICE + "RetryDeadDocuments"
    answer = await caller.call(method, clients.jobs.RetryDeadDocuments, request)
    return JsonResponse(
        {
            "documents": answer.document_count,
            "jobs": answer.job_count,
            "remaining": answer.remaining_count,
        }
    )


@router.get("/{job_id}", response_model=Job)
async def get_job(job_id: JobId, caller: CallerDep, clients: ClientsDep) -> Response:
    """A job as it stands."""
    request = jobs_pb2.GetJobRequest(job_id=job_id)
    answer = await caller.call(_SERVICE + "GetJob", clients.jobs.GetJob, request)
    return JsonResponse(job(answer.job))


@router.post("/{job_id}/cancel", response_model=Job)
async def cancel_job(job_id: JobId, caller: CallerDep, clients: ClientsDep) -> Response:
    """Ends a job; what is searchable of it still goes into the graph."""
    request = jobs_pb2.CancelJobRequest(job_id=job_id)
    method = _SERVICE + "CancelJob"
    answer = await caller.call(method, clients.jobs.CancelJob, request)
    return JsonResponse(job(answer.job))


@router.post("/{job_id}/retry", response_model=Job)
async def retry_job(job_id: JobId, caller: CallerDep, clients: ClientsDep) -> Response:
    """Tries again what an ended job did not do."""
    request = jobs_pb2.RetryJobRequest(job_id=job_id)
    method = _SERVICE + "RetryJob"
    answer = await caller.call(method, clients.jobs.RetryJob, request)
    return JsonResponse(job(answer.job))


@router.get(
    "/{job_id}/events",
    response_class=Response,
    responses=events(
        "Events `job`: at once, then at each change, until the job has ended; `error` if watching it fails after all.",
        WatchEvent,
    ),
)
async def watch_job(
    job_id: JobId, caller: WatcherDep, clients: ClientsDep, settings: SettingsDep
) -> Response:
    """A job as it goes on."""
    request = jobs_pb2.WatchJobRequest(job_id=job_id)
    call = caller.open(_SERVICE + "WatchJob", clients.jobs.WatchJob, request)
    return await stream(caller, call, _shown, heartbeat=settings.heartbeat_seconds)


def _shown(answer: jobs_pb2.WatchJobResponse) -> tuple[str, dict[str, Any]]:
    return "job", job(answer.job)
