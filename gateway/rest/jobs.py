"""`/api/jobs`: state of jobs, once or as a stream; failed documents; cancellation and retry."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Path, Query
from pydantic import Field
from starlette.responses import Response

from braid.agent.v1 import jobs_pb2
from gateway.rest.http.calls import CallerDep, ClientsDep, SettingsDep, WatcherDep
from gateway.rest.http.event_stream import stream
from gateway.rest.http.route_scopes import ScopedRoute
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_types import Instant, PageSize, at_most, stamp
from gateway.rest.mapping.json_encoding import Json, JsonResponse
from gateway.rest.mapping.message_json import respond, to_json
from gateway.rest.mapping.message_schema import Shape, shown
from gateway.rest.mapping.openapi import ErrorEvent, ResponseSchema, events, problems

JobShape = Annotated[Json, Shape(jobs_pb2.Job)]


class OneJob(ResponseSchema):
    """The job of what was asked for."""

    job: JobShape


class JobEvent(ResponseSchema):
    """A job as it stands."""

    event: Literal["job"]
    data: JobShape


WatchEvent: TypeAlias = Annotated[JobEvent | ErrorEvent, Field(discriminator="event")]


def accepted(message: jobs_pb2.Job) -> Response:
    """Returns the answer for work that continues as a job, with the job's address."""
    return JsonResponse({"job": to_json(message)}, 202, location(message))


def location(job: jobs_pb2.Job) -> dict[str, str]:
    """Returns the header with a job's address."""
    return {"location": f"/api/jobs/{job.id}"}


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


@router.get("", responses=shown(jobs_pb2.ListJobsResponse))
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
    return respond(answer)


@router.get("/dead", responses=shown(jobs_pb2.ListDeadDocumentsResponse))
async def list_dead_documents(
    caller: CallerDep, clients: ClientsDep, limit: Limit = 0, cursor: Cursor = ""
) -> Response:
    """The documents that were accepted and could not be taken, the latest first, in pages."""
    request = jobs_pb2.ListDeadDocumentsRequest(page_size=limit, page_token=cursor)
    method = _SERVICE + "ListDeadDocuments"
    answer = await caller.call(method, clients.jobs.ListDeadDocuments, request)
    return respond(answer)


@router.post("/dead/retry", responses=shown(jobs_pb2.RetryDeadDocumentsResponse))
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
    return respond(answer)


@router.get("/{job_id}", responses=shown(jobs_pb2.Job))
async def get_job(job_id: JobId, caller: CallerDep, clients: ClientsDep) -> Response:
    """A job as it stands."""
    request = jobs_pb2.GetJobRequest(job_id=job_id)
    answer = await caller.call(_SERVICE + "GetJob", clients.jobs.GetJob, request)
    return respond(answer.job)


@router.post("/{job_id}/cancel", responses=shown(jobs_pb2.Job))
async def cancel_job(job_id: JobId, caller: CallerDep, clients: ClientsDep) -> Response:
    """Ends a job; what is searchable of it still goes into the graph."""
    request = jobs_pb2.CancelJobRequest(job_id=job_id)
    method = _SERVICE + "CancelJob"
    answer = await caller.call(method, clients.jobs.CancelJob, request)
    return respond(answer.job)


@router.post("/{job_id}/retry", responses=shown(jobs_pb2.Job))
async def retry_job(job_id: JobId, caller: CallerDep, clients: ClientsDep) -> Response:
    """Tries again what an ended job did not do."""
    request = jobs_pb2.RetryJobRequest(job_id=job_id)
    method = _SERVICE + "RetryJob"
    answer = await caller.call(method, clients.jobs.RetryJob, request)
    return respond(answer.job)


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
    return "job", to_json(answer.job)
